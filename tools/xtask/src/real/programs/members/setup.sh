# A site whose members log in at the identity provider: a Django project with mozilla-django-oidc.
echo "$ADDRESS" >"$FOLDER/address"
cd "$FILES/members"
IDENTITY="$FOLDER/../identity" "$PYTHON" members.py migrate --verbosity 0
