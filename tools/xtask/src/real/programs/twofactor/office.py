"""Settings and start of an office whose administration asks for one-time codes, as the documentation of django-two-factor-auth describes it."""

import os
import sys
from pathlib import Path

from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.urls import include, path
from django.utils.html import format_html

FOLDER = Path(os.environ["FOLDER"])

DEBUG = False
SECRET_KEY = "only on this machine, for a run of the tasks"
ALLOWED_HOSTS = ["*"]
CSRF_TRUSTED_ORIGINS = [os.environ["ADDRESS"]]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
# Cookies are kept for a host, and not for a port.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "office-session", "office-csrf"
USE_X_FORWARDED_HOST = True
ROOT_URLCONF = "office"
STATIC_URL = "/static/"
LOGIN_URL, LOGIN_REDIRECT_URL = "two_factor:login", "/"
USE_TZ = True
SITE_ID = 1
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(FOLDER / "office.sqlite")}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "DIRS": [Path(__file__).parent / "templates"],
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
    ]},
}]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
INSTALLED_APPS = [
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
    "django.contrib.sites", "django.contrib.staticfiles", "django_otp", "django_otp.plugins.otp_static", "django_otp.plugins.otp_totp", "two_factor",
]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "office")


def page(request):
    if not request.user.is_authenticated:
        return HttpResponse("<title>Signed out - Kettle office</title><h1>Hello</h1><a href=/account/login/>Log in</a>")
    return HttpResponse(format_html(
        "<title>Kettle office</title><h1>Hello {}</h1><form method=post action=/account/logout/>"
        "<input type=hidden name=csrfmiddlewaretoken value={}><button autofocus>Log out</button></form>",
        request.user.get_username(), get_token(request)))


def urls():
    from django.contrib import admin
    from django.contrib.auth.views import LogoutView
    from two_factor.admin import AdminSiteOTPRequired
    from two_factor.urls import urlpatterns as two_factor
    admin.site.__class__ = AdminSiteOTPRequired
    return [path("", page), path("admin/", admin.site.urls), path("account/logout/", LogoutView.as_view(next_page="/")), path("", include(two_factor))]


def __getattr__(name):
    # Django asks for the addresses once its applications are there.
    if name == "urlpatterns":
        return urls()
    raise AttributeError(name)


def application(environ, start_response):
    global application
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.wsgi import get_wsgi_application
    application = StaticFilesHandler(get_wsgi_application())
    return application(environ, start_response)


def person():
    """The person's account, with its device for one-time codes."""
    import base64
    import django
    django.setup()
    from django.contrib.auth import get_user_model
    from django_otp.plugins.otp_totp.models import TOTPDevice
    user = get_user_model().objects.create_superuser(os.environ["LOGIN_USER"], os.environ["LOGIN_EMAIL"], os.environ["LOGIN_PASSWORD"])
    seed = base64.b32decode(os.environ["LOGIN_SEED"]).hex()
    TOTPDevice.objects.create(user=user, name="default", key=seed, confirmed=True)


if __name__ == "__main__":
    if sys.argv[1] == "person":
        person()
    else:
        from django.core.management import execute_from_command_line
        execute_from_command_line(sys.argv)
