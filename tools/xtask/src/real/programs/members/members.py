"""Settings, the one page, and the start of the members' site, as the documentation of mozilla-django-oidc describes it."""

import os
import sys
from pathlib import Path

from django.http import HttpResponse
from django.urls import include, path
from django.utils.html import format_html

FOLDER, IDENTITY = Path(os.environ["FOLDER"]), Path(os.environ["IDENTITY"])
# The browser goes to the provider over TLS, and this server to the port behind it.
OUTER = (IDENTITY / "address").read_text().strip()
INNER = "http://127.0.0.1:" + (IDENTITY / "port").read_text().strip()

DEBUG = False
SECRET_KEY = "only on this machine, for a run of the tasks"
ALLOWED_HOSTS = ["*"]
CSRF_TRUSTED_ORIGINS = [os.environ["ADDRESS"]]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "members-session", "members-csrf"
USE_X_FORWARDED_HOST = True
ROOT_URLCONF = "members"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "/"
USE_TZ = True
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(FOLDER / "members.sqlite")}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "mozilla_django_oidc"]
AUTHENTICATION_BACKENDS = ["mozilla_django_oidc.auth.OIDCAuthenticationBackend"]
OIDC_RP_CLIENT_ID, OIDC_RP_CLIENT_SECRET = "members", "only on this machine"
OIDC_RP_SIGN_ALGO, OIDC_RP_SCOPES = "RS256", "openid email"
OIDC_OP_AUTHORIZATION_ENDPOINT = OUTER + "/o/authorize/"
OIDC_OP_TOKEN_ENDPOINT, OIDC_OP_USER_ENDPOINT = INNER + "/o/token/", INNER + "/o/userinfo/"
OIDC_OP_JWKS_ENDPOINT = INNER + "/o/.well-known/jwks.json"
OIDC_USE_PKCE = True

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "members")


def page(request):
    if request.user.is_authenticated:
        return HttpResponse(format_html("<title>Members</title><h1>Hello {}</h1>", request.user.email))
    return HttpResponse("<title>Members</title><h1>Members</h1><a href=/oidc/authenticate/>Log in with your account</a>")


urlpatterns = [path("", page), path("oidc/", include("mozilla_django_oidc.urls"))]


def application(environ, start_response):
    global application
    from django.core.wsgi import get_wsgi_application
    application = get_wsgi_application()
    return application(environ, start_response)


if __name__ == "__main__":
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
