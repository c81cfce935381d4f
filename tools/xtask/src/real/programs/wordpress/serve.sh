mariadbd --no-defaults --user=root --datadir="$FOLDER/db" --socket="$FOLDER/db.sock" --skip-networking --pid-file="$FOLDER/db.pid" >"$FOLDER/db.log" 2>&1 &
for i in $(seq 100); do mariadb --no-defaults --socket="$FOLDER/db.sock" -u root -e 'select 1' >/dev/null 2>&1 && break; sleep 0.2; done
cd "$FOLDER/site"
PHP_CLI_SERVER_WORKERS=4 exec php -S "127.0.0.1:$PORT" -t "$FOLDER/site"
