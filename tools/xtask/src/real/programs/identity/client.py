"""Registers the site whose address is in the file that is named."""

import sys
from pathlib import Path

import provider  # noqa: F401
import django

django.setup()

from oauth2_provider.models import Application  # noqa: E402

file = Path(sys.argv[1])
if file.exists():
    Application.objects.update_or_create(client_id="members", defaults={
        "name": "The members' pages", "client_secret": "only on this machine", "client_type": "confidential",
        "authorization_grant_type": "authorization-code", "algorithm": "RS256",
        "redirect_uris": file.read_text().strip() + "/oidc/callback/"})
