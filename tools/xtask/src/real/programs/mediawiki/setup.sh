# Debian's MediaWiki, copied, with SQLite.
# One of its links leads to settings that are not there yet.
cp -aL /usr/share/mediawiki "$FOLDER/site" 2>/dev/null || true
rm -f "$FOLDER/site/LocalSettings.php"; mkdir "$FOLDER/data"
cd "$FOLDER/site"
php maintenance/install.php --dbtype sqlite --dbpath "$FOLDER/data" --dbname wiki --server "$ADDRESS" --scriptpath "" \
  --pass "$LOGIN_PASSWORD" --with-extensions= --skins=Vector "House wiki" "$LOGIN_USER" >"$FOLDER/install.log"
cat >>LocalSettings.php <<END
\$wgEnableEmail = true; \$wgEnableUserEmail = true; \$wgEmailAuthentication = false; \$wgPingback = false;
\$wgCookieSecure = true; \$_SERVER['HTTPS'] = 'on'; \$wgMainCacheType = CACHE_NONE; \$wgCachePages = false;
END
