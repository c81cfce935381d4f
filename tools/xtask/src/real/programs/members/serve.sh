cd "$FILES/members"
export IDENTITY="$FOLDER/../identity"
exec "$PYTHON" -m gunicorn --bind "127.0.0.1:$PORT" --workers 1 --threads 4 --log-level warning members:application
