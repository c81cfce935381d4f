# Debian's WordPress, copied, with a MariaDB of its own behind a socket in the folder.
cp -aL /usr/share/wordpress "$FOLDER/site"
cp -aL /var/lib/wordpress/wp-content/. "$FOLDER/site/wp-content/" 2>/dev/null || true
mkdir "$FOLDER/db"
mariadb-install-db --no-defaults --user=root --datadir="$FOLDER/db" --auth-root-authentication-method=normal --skip-test-db >"$FOLDER/install-db.log" 2>&1
cat >"$FOLDER/site/wp-config.php" <<END
<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:$FOLDER/db.sock');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
foreach (['AUTH_KEY','SECURE_AUTH_KEY','LOGGED_IN_KEY','NONCE_KEY','AUTH_SALT','SECURE_AUTH_SALT','LOGGED_IN_SALT','NONCE_SALT'] as \$k) define(\$k, hash('sha256', __DIR__.\$k));
define('WP_HOME', '$ADDRESS'); define('WP_SITEURL', '$ADDRESS'); define('FORCE_SSL_ADMIN', true);
define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true); define('AUTOMATIC_UPDATER_DISABLED', true);
\$_SERVER['HTTPS'] = 'on';
\$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__.'/');
require_once ABSPATH.'wp-settings.php';
END
mariadbd --no-defaults --user=root --datadir="$FOLDER/db" --socket="$FOLDER/db.sock" --skip-networking --pid-file="$FOLDER/db.pid" >"$FOLDER/db.log" 2>&1 &
for i in $(seq 100); do mariadb --no-defaults --socket="$FOLDER/db.sock" -u root -e 'create database wordpress' 2>/dev/null && break; sleep 0.2; done
cat >"$FOLDER/install.php" <<'END'
<?php
$_SERVER['HTTP_HOST'] = parse_url(getenv('ADDRESS'), PHP_URL_HOST); define('WP_INSTALLING', true);
require getenv('FOLDER').'/site/wp-load.php'; require ABSPATH.'wp-admin/includes/upgrade.php';
wp_install('Notes', getenv('LOGIN_USER'), getenv('LOGIN_EMAIL'), true, '', getenv('LOGIN_PASSWORD'));
update_option('users_can_register', 1); update_option('comment_moderation', 0); update_option('comment_previously_approved', 0);
END
php "$FOLDER/install.php" >"$FOLDER/install.log"
kill "$(cat "$FOLDER/db.pid")"; wait
