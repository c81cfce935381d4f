cd "$FILES/twofactor"
exec "$PYTHON" -m gunicorn --bind "127.0.0.1:$PORT" --workers 1 --threads 4 --log-level warning office:application
