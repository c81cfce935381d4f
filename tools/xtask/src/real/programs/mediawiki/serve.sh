cd "$FOLDER/site"
PHP_CLI_SERVER_WORKERS=4 exec php -S "127.0.0.1:$PORT" -t "$FOLDER/site"
