# An identity provider: a Django project with django-oauth-toolkit, and the pages that both bring.
echo "$ADDRESS" >"$FOLDER/address"
echo "$PORT" >"$FOLDER/port"
cd "$FILES/identity"
"$PYTHON" provider.py migrate --verbosity 0
"$PYTHON" provider.py collectstatic --noinput --verbosity 0
"$PYTHON" accounts.py
