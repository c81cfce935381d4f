# Roundup's classic tracker from PyPI; accounts are opened without a letter. With VARIANT=1 nobody has one yet.
"$ROUNDUP/roundup-admin" -i "$FOLDER/tracker" install classic anydbm >"$FOLDER/install.log"
sed -i -e "s|^#* *web = .*|web = $ADDRESS/|" -e "s|^#* *debug = *$|debug = $FOLDER/mail|" -e "s|^#* *domain = .*|domain = shop.example|" \
  -e "s|^#* *host = NO DEFAULT|host = localhost|" -e "s|^#* *instant_registration = .*|instant_registration = yes|" \
  -e "s|^#* *registration_delay = .*|registration_delay = 0|" "$FOLDER/tracker/config.ini"
"$ROUNDUP/roundup-admin" -i "$FOLDER/tracker" initialise "$LOGIN_PASSWORD" >>"$FOLDER/install.log"
[ "$VARIANT" = 1 ] || "$ROUNDUP/roundup-admin" -i "$FOLDER/tracker" create user "username=$LOGIN_USER" "password=$LOGIN_PASSWORD" "address=$LOGIN_EMAIL" roles=User >>"$FOLDER/install.log"
