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
# With one-time codes, for the person's account from the start.
if [ "$VARIANT" = 1 ]; then
  echo "wfLoadExtension('OATHAuth');" >>LocalSettings.php
  php maintenance/update.php --quick >>"$FOLDER/install.log"
  "$PYTHON" - "$FOLDER/data/wiki.sqlite" "$LOGIN_SEED" <<'END'
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as wiki:
    keys = json.dumps({"keys": [{"secret": sys.argv[2], "scratch_tokens": []}]})
    wiki.execute("insert into oathauth_users (id, module, data) values (1, 'totp', ?)", (keys,))
END
fi
