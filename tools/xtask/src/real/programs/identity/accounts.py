"""Gives the person an account at the provider."""

import os

import provider  # noqa: F401
import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402

User.objects.create_user(os.environ["LOGIN_USER"], os.environ["LOGIN_EMAIL"], os.environ["LOGIN_PASSWORD"])
