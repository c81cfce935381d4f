# An office with one-time codes: Django's administration behind django-two-factor-auth.
cd "$FILES/twofactor"
"$PYTHON" office.py migrate --verbosity 0
"$PYTHON" office.py person
