"""Settings, addresses and start of a stock django-oscar shop: `python shop.py migrate`, `shell`, `gunicorn shop:application`.

The shop is what oscar's documentation of a new project says, with checkout for guests. VARIANT=1 adds the form for bank cards that
oscar brings (oscar.apps.payment.forms), in the payment step, as its documentation of payment says.
"""

import os
import sys
from pathlib import Path

from oscar.defaults import *  # noqa: F401,F403

FOLDER = Path(os.environ["FOLDER"])
CARDS = os.environ.get("VARIANT") == "1"

DEBUG = False
SECRET_KEY = "only on this machine, for a run of the tasks"
ALLOWED_HOSTS = ["*"]
CSRF_TRUSTED_ORIGINS = [os.environ["ADDRESS"]]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
USE_X_FORWARDED_HOST = True
ROOT_URLCONF = "shop_urls"
SITE_ID = 1
USE_TZ = True
LANGUAGE_CODE = "en-gb"
STATIC_URL, STATIC_ROOT = "/static/", str(FOLDER / "static")
MEDIA_URL, MEDIA_ROOT = "/media/", str(FOLDER / "media")
DATABASES = {"default": {
    "ENGINE": "django.db.backends.sqlite3", "NAME": str(FOLDER / "shop.sqlite"), "ATOMIC_REQUESTS": True,
    "OPTIONS": {"timeout": 20},
}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = str(FOLDER / "mail")
AUTHENTICATION_BACKENDS = ("oscar.apps.customer.auth_backends.EmailBackend",
                           "django.contrib.auth.backends.ModelBackend")
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "DIRS": [str(Path(__file__).parent / "templates")] if CARDS else [],
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.debug",
        "django.template.context_processors.request",
        "django.template.context_processors.i18n",
        "django.template.context_processors.static",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.core.context_processors.metadata",
    ]},
}]
INSTALLED_APPS = [
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
    "django.contrib.messages", "django.contrib.staticfiles", "django.contrib.sites", "django.contrib.flatpages",
    "django.contrib.humanize",
    "oscar.config.Shop", "oscar.apps.analytics.apps.AnalyticsConfig",
    "card_checkout.apps.CheckoutConfig" if CARDS else "oscar.apps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig", "oscar.apps.shipping.apps.ShippingConfig",
    "oscar.apps.catalogue.apps.CatalogueConfig", "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig", "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig", "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig", "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig", "oscar.apps.search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig", "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig", "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "sorl.thumbnail", "widget_tweaks", "haystack", "treebeard", "django_tables2",
]
OSCAR_SHOP_NAME = "Kettle house"
OSCAR_ALLOW_ANON_CHECKOUT = True
OSCAR_DEFAULT_CURRENCY = "GBP"
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {"Pending": ("Cancelled",), "Cancelled": ()}

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop")


def application(environ, start_response):
    global application
    from django.core.wsgi import get_wsgi_application
    application = get_wsgi_application()
    return application(environ, start_response)


if __name__ == "__main__":
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
