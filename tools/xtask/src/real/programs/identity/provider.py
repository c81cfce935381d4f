"""Settings, addresses and start of the identity provider, as the documentation of django-oauth-toolkit describes OpenID Connect."""

import os
import sys
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

FOLDER = Path(os.environ["FOLDER"])
KEY = FOLDER / "oidc.key"
if not KEY.exists():
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    KEY.write_bytes(made.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                       serialization.NoEncryption()))

DEBUG = False
SECRET_KEY = "only on this machine, for a run of the tasks"
ALLOWED_HOSTS = ["*"]
CSRF_TRUSTED_ORIGINS = [os.environ["ADDRESS"]]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "identity-session", "identity-csrf"
USE_X_FORWARDED_HOST = True
ROOT_URLCONF = "provider_urls"
LOGIN_URL = "/login/"
USE_TZ = True
STATIC_URL, STATIC_ROOT = "/static/", str(FOLDER / "static")
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(FOLDER / "identity.sqlite")}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
    ]},
}]
INSTALLED_APPS = [
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
    "django.contrib.messages", "django.contrib.staticfiles", "oauth2_provider",
]
OAUTH2_PROVIDER = {
    "OIDC_ENABLED": True,
    "OIDC_RSA_PRIVATE_KEY": KEY.read_text(),
    "OAUTH2_VALIDATOR_CLASS": "claims.Validator",
    "SCOPES": {"openid": "Know who you are", "email": "Read your e-mail address"},
}

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "provider")


def application(environ, start_response):
    global application
    from django.core.wsgi import get_wsgi_application
    application = get_wsgi_application()
    return application(environ, start_response)


if __name__ == "__main__":
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
