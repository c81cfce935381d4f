# Debian's DokuWiki, copied, with its pages and users in the folder.
cp -aL /usr/share/dokuwiki "$FOLDER/site"
cp -aL /var/lib/dokuwiki/data "$FOLDER/data"
cp -aL /var/lib/dokuwiki/lib/. "$FOLDER/site/lib/"
mkdir "$FOLDER/conf"
cp -L /etc/dokuwiki/*.conf /etc/dokuwiki/*.php "$FOLDER/conf/" 2>/dev/null || true
cat >"$FOLDER/site/inc/preload.php" <<END
<?php
define('DOKU_CONF', '$FOLDER/conf/');
\$_SERVER['HTTPS'] = 'on';
END
cat >"$FOLDER/conf/local.php" <<END
<?php
\$conf['title'] = 'House notes'; \$conf['useacl'] = 1; \$conf['superuser'] = '@admin'; \$conf['savedir'] = '$FOLDER/data';
\$conf['autopasswd'] = 0; \$conf['disableactions'] = ''; \$conf['baseurl'] = '$ADDRESS'; \$conf['updatecheck'] = 0;
END
echo '* @ALL 8' >"$FOLDER/conf/acl.auth.php"
hash=$(php -r 'echo password_hash(getenv("LOGIN_PASSWORD"), PASSWORD_BCRYPT);')
echo "$LOGIN_USER:$hash:Ada Quill:$LOGIN_EMAIL:user" >"$FOLDER/conf/users.auth.php"
