cd "$FOLDER/shop"
exec "$PYTHON" -m gunicorn --bind "127.0.0.1:$PORT" --workers 2 --log-level warning shop:application
