# A stock django-oscar from PyPI, or with VARIANT=1 one with oscar's own card form in its payment step.
cp -r "$FILES/oscar" "$FOLDER/shop"
cd "$FOLDER/shop"
"$PYTHON" shop.py migrate --verbosity 0
"$PYTHON" shop.py collectstatic --noinput --verbosity 0
"$PYTHON" seed.py
