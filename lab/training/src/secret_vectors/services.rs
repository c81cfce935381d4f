//! Secrets of more services, in the places in which programs and their configuration hold them.
//!
//! A service is one source: [`is_held_out`](super::is_held_out) keeps half of them apart, so that the detectors are judged on services
//! that they were not written for. The lengths and alphabets are those of the services' own documentation.

use rand::Rng;

use super::{Vector, fill, pick, place_in};

/// A service: its name, the form of its secret, and names under which programs keep it. An empty list of names means that
/// the form suffices.
type Service = (&'static str, &'static str, &'static [&'static str]);

const SERVICES: [Service; 84] = [
    ("gitlab runner", "glrt-{url:20}", &[]),
    ("gitlab runner, routable", "glrt-t1_{url:27}.{an:9}", &[]),
    ("gitlab job", "glcbt-{h:2}_{url:20}", &[]),
    ("gitlab feed", "glft-{url:20}", &[]),
    ("gitlab scim", "glsoat-{url:20}", &[]),
    ("gitlab agent", "glagent-{url:50}", &[]),
    ("gitlab oauth secret", "gloas-{h:64}", &[]),
    ("gitlab mail", "glimt-{an:25}", &[]),
    ("gitlab registration", "GR1348941{url:20}", &[]),
    ("sourcegraph", "sgp_{h:40}", &[]),
    ("sourcegraph, instance", "sgp_{h:16}_{h:40}", &[]),
    ("sonar user", "squ_{h:40}", &[]),
    ("sonar project", "sqp_{h:40}", &[]),
    ("sonar global", "sqa_{h:40}", &[]),
    ("snyk", "{h:8}-{h:4}-4{h:3}-a{h:3}-{h:12}", &["SNYK_TOKEN", "snyk_api_token", "snykToken"]),
    ("facebook user", "EAA{b62:180}", &[]),
    ("facebook app", "{d:15}|{url:27}", &["FACEBOOK_ACCESS_TOKEN", "access_token", "fb_token"]),
    ("facebook secret", "{h:32}", &["FACEBOOK_APP_SECRET", "facebook_secret", "fb_client_secret"]),
    ("azure entra", "{b62:3}7Q~{url:34}", &[]),
    ("azure sas", "{b64:43}%3D", &["sig"]),
    ("azure storage key", "{b64:86}==", &["AccountKey", "AZURE_STORAGE_KEY"]),
    ("azure devops", "{an:52}", &["AZURE_DEVOPS_PAT", "azure_devops_token"]),
    ("discord bot", "M{b62:23}.{b62:6}.{url:27}", &[]),
    ("discord bot, new", "MT{b62:24}.G{b62:5}.{url:38}", &[]),
    ("discord client secret", "{url:32}", &["DISCORD_CLIENT_SECRET", "discordSecret"]),
    ("datadog", "{h:32}", &["DD_API_KEY", "datadog_api_key", "datadogApiKey"]),
    ("datadog application", "{h:40}", &["DD_APP_KEY", "datadog_app_key"]),
    ("algolia", "{an:32}", &["ALGOLIA_API_KEY", "algoliaAdminKey", "algolia_secret"]),
    ("cloudflare token", "{url:40}", &["CLOUDFLARE_API_TOKEN", "cloudflare_token", "CF_API_TOKEN"]),
    ("cloudflare key", "{h:37}", &["CLOUDFLARE_API_KEY", "cloudflare_key"]),
    ("cloudflare origin", "v1.0-{h:24}-{h:146}", &[]),
    ("asana", "{an:32}", &["ASANA_CLIENT_SECRET", "asana_secret"]),
    ("codecov", "{an:32}", &["CODECOV_TOKEN", "codecov_token"]),
    ("coinbase", "{url:64}", &["COINBASE_ACCESS_TOKEN", "coinbase_token"]),
    ("confluent", "{an:64}", &["CONFLUENT_SECRET", "confluent_secret_key"]),
    ("droneci", "{an:32}", &["DRONE_TOKEN", "droneci_access_token"]),
    ("dynatrace", "dt0c01.{AN:24}.{AN:64}", &[]),
    ("etsy", "{an:24}", &["ETSY_API_KEY", "etsyAccessToken"]),
    ("fastly", "{url:32}", &["FASTLY_API_TOKEN", "fastly_key"]),
    ("finnhub", "{an:20}", &["FINNHUB_TOKEN", "finnhub_api_key"]),
    ("flutterwave", "FLWSECK_TEST-{h:32}-X", &[]),
    ("gitter", "{url:40}", &["GITTER_TOKEN", "gitter_access_token"]),
    ("gocardless", "live_{url:40}", &["GOCARDLESS_TOKEN", "gocardless_access_token"]),
    ("harness", "pat.{b62:22}.{h:24}.{b62:20}", &[]),
    ("hubspot", "{H:8}-{H:4}-{H:4}-{H:4}-{H:12}", &["HUBSPOT_API_KEY", "hubspotKey"]),
    ("hubspot app", "pat-na1-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", &[]),
    ("intercom", "{url:60}", &["INTERCOM_ACCESS_TOKEN", "intercom_token"]),
    ("kraken", "{b64:86}==", &["KRAKEN_PRIVATE_KEY", "kraken_secret"]),
    ("kucoin", "{h:24}", &["KUCOIN_API_KEY", "kucoin_secret"]),
    ("launchdarkly", "sdk-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", &["LAUNCHDARKLY_SDK_KEY", "launchdarkly_token"]),
    ("linkedin", "{b62:16}", &["LINKEDIN_CLIENT_SECRET", "linkedin_secret"]),
    ("lob", "live_{h:35}", &["LOB_API_KEY", "lob_secret"]),
    ("mapbox", "sk.eyJ{b62:84}.{url:22}", &[]),
    ("mattermost", "{an:26}", &["MATTERMOST_TOKEN", "mattermost_access_token"]),
    ("messagebird", "{an:25}", &["MESSAGEBIRD_API_TOKEN", "messagebird_key"]),
    (
        "teams webhook",
        "https://shop.webhook.office.com/webhookb2/{h:8}-{h:4}-{h:4}-{h:4}-{h:12}@{h:8}-{h:4}-{h:4}-{h:4}-{h:12}/IncomingWebhook/{h:32}/{h:8}-{h:4}-{h:4}-{h:4}-{h:12}",
        &[],
    ),
    ("nuget", "oy2{an:43}", &[]),
    ("octopus", "API-{AN:26}", &["OCTOPUS_API_KEY"]),
    ("okta", "00{url:40}", &["OKTA_API_TOKEN", "okta_token"]),
    ("openshift", "sha256~{url:43}", &[]),
    ("rapidapi", "{url:50}", &["X-RapidAPI-Key", "RAPIDAPI_KEY"]),
    ("scalingo", "tk-us-{url:48}", &[]),
    ("sendbird", "{h:40}", &["SENDBIRD_ACCESS_TOKEN", "sendbird_token"]),
    ("sentry old", "{h:64}", &["SENTRY_AUTH_TOKEN", "sentryToken"]),
    ("sidekiq", "{h:8}:{h:8}", &["BUNDLE_ENTERPRISE__CONTRIBSYS__COM", "BUNDLE_GEMS__CONTRIBSYS__COM"]),
    ("squarespace", "{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", &["SQUARESPACE_API_KEY", "squarespace_token"]),
    ("travis", "{an:22}", &["TRAVIS_TOKEN", "travisci_access_token"]),
    ("trello", "{b62:32}", &["TRELLO_TOKEN", "trelloKey", "trello_secret"]),
    ("twitch", "{an:30}", &["TWITCH_CLIENT_SECRET", "twitch_token"]),
    ("twitter bearer", "AAAAAAAAAAAAAAAAAAAAAA{b62:80}", &[]),
    ("twitter secret", "{b62:50}", &["TWITTER_API_SECRET", "twitter_consumer_secret"]),
    ("zendesk", "{an:40}", &["ZENDESK_SECRET_KEY", "zendesk_token"]),
    ("docker swarm", "SWMTKN-1-{an:50}-{an:25}", &[]),
    ("shopify partner", "prtapi_{h:32}", &[]),
    ("wakatime", "waka_{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", &[]),
    ("buildkite", "bkua_{h:40}", &[]),
    ("infracost", "ico-{b62:32}", &[]),
    ("slack config", "xoxe.xoxp-1-{b62:160}", &[]),
    ("microsoft refresh", "0.A{url:300}", &["refresh_token", "MS_REFRESH_TOKEN"]),
    ("firebase messaging", "AAAA{url:7}:APA91b{url:134}", &[]),
    ("sumologic", "{b62:64}", &["SUMOLOGIC_ACCESS_KEY", "sumo_access_key"]),
    ("telegram", "{d:9}:AA{url:33}", &["TELEGRAM_BOT_TOKEN", "telegram_token"]),
    ("okta client", "{url:40}", &["OKTA_OAUTH2_CLIENTSECRET", "okta.client.clientSecret"]),
    ("laravel", "base64:{b64:43}=", &["APP_KEY"]),
];

/// The places; `NAME` is the name and `@` the secret.
const PLACES: [&str; 30] = [
    "NAME = \"@\"",
    "NAME='@'",
    "export NAME=@\n",
    "NAME: @\n",
    "  NAME: \"@\",\n",
    "\"NAME\": \"@\",",
    "{ \"NAME\" : \"@\" }",
    "'NAME' => '@',",
    "NAME := `@`",
    "<NAME>@</NAME>",
    "<add key=\"NAME\" value=\"@\" />",
    "define('NAME', '@');",
    "System.setProperty(\"NAME\", \"@\");",
    "os.environ[\"NAME\"] = \"@\"",
    "--NAME=@ --verbose",
    "--NAME @ --verbose",
    "ENV NAME @\n",
    "NAME ?= @\n",
    "private static final String NAME = \"@\";",
    "const NAME: &str = \"@\";",
    "let NAME: string = '@';",
    "NAME -> @",
    "curl -H \"NAME: @\" https://api.example.com",
    "GET /v1/items?NAME=@&page=2",
    "set NAME=@\r\n",
    "$env:NAME = \"@\"",
    "The NAME is @ and must stay private.",
    "Host=h;NAME=@;Port=1",
    "NAME=@",
    "NAME ::= \"@\"",
];

/// The places of a secret whose form suffices.
const BARE: [&str; 10] = [
    "@",
    "token \"@\" was revoked\n",
    "x = '@'",
    "value: @\n",
    "<td>@</td>",
    "use @.",
    "echo @ | login --stdin",
    "client = Client(\"@\")",
    "secret=@&x=1",
    "see `@` in the log",
];

/// The credentials in a command or a header: source and text; `@` is the secret.
const SENT: [(&str, &str, &str); 16] = [
    ("curl -u", "{b62:20}", "curl -u ann:@ https://api.example.com/v1/me"),
    ("curl -u", "{b62:12}", "curl -s -X POST -u \"ann:@\" https://api.example.com"),
    ("curl --user", "{an:16}", "curl --user 'ann:@' https://api.example.com"),
    ("curl --user=", "{an:16}", "curl --user=ann:@ -v https://api.example.com"),
    ("curl -u, no password", "{b62:32}", "curl https://api.example.com/charges -u @: -d amount=100"),
    ("wget", "{b62:14}", "wget --user=ann --password=@ https://example.com/x"),
    ("authorization token", "{h:40}", "Authorization: Token @"),
    ("authorization token", "{h:40}", "curl -H 'Authorization: token @' https://api.example.com"),
    ("authorization bearer", "{an:32}", "\"Authorization\": \"Bearer @\""),
    ("authorization basic", "{b64:24}", "headers['Authorization'] = 'Basic @'"),
    ("authorization apikey", "{b64:40}", "Authorization: ApiKey @"),
    ("authorization bare", "{h:32}", "Authorization: @\r\nHost: a.example\r\n"),
    ("authorization splunk", "{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", "Authorization: Splunk @"),
    (
        "private token header",
        "{url:20}",
        "curl --header \"PRIVATE-TOKEN: @\" https://gitlab.example.com/api/v4",
    ),
    ("api key header", "{an:32}", "x-api-key: @"),
    ("mysql -p", "{b62:12}", "mysql -u root -p@ shop"),
];

/// Returns `each` vectors of every service, and of every credential in a command or a header.
pub(super) fn draw(each: usize, random: &mut dyn Rng) -> Vec<Vector> {
    let mut all = Vec::new();
    for _ in 0..each {
        for (style, form, names) in SERVICES {
            let secret = fill(form, random);
            let place = match pick(names, random) {
                Some(name) => pick(&PLACES, random).unwrap_or("NAME=@").replace("NAME", name),
                None => pick(&BARE, random).unwrap_or("@").to_owned(),
            };
            all.push(place_in(style, &place, &secret));
        }
        for (style, form, place) in SENT {
            all.push(place_in(style, place, &fill(form, random)));
        }
    }
    all
}

/// Values under the name of a secret that are none: kind and value.
const HARMLESS: [(&str, &[&str], &[&str]); 14] = [
    (
        "service placeholder",
        &["DD_API_KEY", "codecov_token", "clientSecret", "accessToken", "ACCESS_TOKEN"],
        &[
            "your-api-key-here",
            "<token>",
            "${SERVICE_TOKEN_1}",
            "xxxxxxxxxxxxxxxxxxxxxxxx",
            "INSERT_TOKEN_HERE_123",
            "changeme123",
            "...",
            "REPLACE-ME-0123456789",
        ],
    ),
    (
        "service call",
        &["apiKey", "github_token", "secret", "auth_token"],
        &[
            "process.env.API_KEY_2",
            "os.getenv('TOKEN_1')",
            "getSecretValue2(name)",
            "config.auth.token2",
            "{{ .Values.auth.token2 }}",
            "self.session.token_2",
        ],
    ),
    (
        "endpoint",
        &["token_endpoint", "token_url", "auth_url", "secret_path", "key_file", "token_file"],
        &[
            "https://login.example.com/oauth2/v2.0/token",
            "/var/run/secrets/token-2",
            "~/.config/app2/key.pem",
            "kv/data/prod/app2",
            "C:\\keys\\server2.pem",
        ],
    ),
    (
        "secret name",
        &["secretName", "secretKeyRef", "secret_name", "credentials_id", "keyVaultName", "tokenName"],
        &[
            "my-app-secret-v2",
            "prod-database-credentials-2",
            "registry-pull-secret",
            "shop-tls-2026",
            "wildcard-cert-a1",
        ],
    ),
    (
        "token setting",
        &["token_type", "token_ttl", "tokenExpiry", "token_count", "secret_version", "token_format"],
        &["bearer", "3600", "2026-11-20T10:30:45Z", "4096", "v12", "urn:ietf:params:oauth:token-type:jwt"],
    ),
    (
        "public key",
        &["public_key", "publicKey", "site_key", "publishable_key"],
        &["{b62:40}", "pk_test_{b62:24}", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64:43}", "{h:64}"],
    ),
    (
        "other key",
        &["primary_key", "foreign_key", "cache_key", "sort_key", "key", "partitionKey", "idempotency_key"],
        &[
            "user_id_2",
            "orders.customer_id",
            "product:4711:price",
            "item-20260001-a",
            "2026-11-20#order-4711",
        ],
    ),
    ("keyboard", &["key", "Keys", "hotkey"], &["Ctrl+Shift+F12", "ArrowDown2", "Alt-F4", "CMD+Option+I"]),
    (
        "checksum name",
        &["checksum", "etag", "sha256", "digest", "commit", "revision", "build_id"],
        &["{h:40}", "{h:64}", "{h:32}", "{h:7}"],
    ),
    (
        "identifier",
        &["id", "request_id", "trace_id", "client_id", "order", "tenant_id", "session", "uuid"],
        &["{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", "{h:32}", "{d:12}", "{AN:10}"],
    ),
    (
        "words",
        &["secret", "token", "password", "api_key", "credential"],
        &[
            "Something",
            "required",
            "string",
            "undefined",
            "NULL",
            "true",
            "AccessTokenResponse",
            "mySuperSecretTokenProvider",
            "is-the-name-of-the-game",
        ],
    ),
    (
        "class name",
        &["token", "tokenProvider", "secretStore", "authFactory"],
        &[
            "com.example.auth.OAuth2TokenProvider",
            "Microsoft.Extensions.Configuration.Secret2",
            "app::auth::Token2Handler",
        ],
    ),
    (
        "type",
        &["token", "secret", "apiKey"],
        &["Option<Secret2<String>>", "Optional[SecretStr2]", "Promise<AccessTokenV2>", "std::string_view2"],
    ),
    (
        "translated",
        &["api_key", "token", "secret_key"],
        &[
            "API-Schlüssel 2",
            "Clé secrète n°2",
            "Enter your API key (32 characters)",
            "The token that was sent to you",
        ],
    ),
];

/// Credentials in a command or a header that are none.
const EXAMPLES: [(&str, &[&str]); 6] = [
    (
        "command",
        &[
            "curl -u username:password https://example.com",
            "curl -u $USER:$TOKEN https://example.com",
            "curl -u ann https://example.com",
            "curl --user {user}:{pass} https://example.com",
            "sudo -u postgres:postgres psql",
            "docker run -u 1000:1000 image",
            "git push -u origin feature/login-2",
            "mysql -u root -p shop",
            "python -u script2.py:main",
        ],
    ),
    (
        "header",
        &[
            "Authorization: Bearer <access_token_1>",
            "Authorization: Token YOUR_API_TOKEN_123",
            "Authorization: Basic realm=\"Shop2\"",
            "WWW-Authenticate: Bearer realm=\"api2.example.com\"",
            "authorization: none",
            "The Authorization: header is required since version-1.2.3-beta4",
        ],
    ),
    (
        "token in prose",
        &[
            "Bearer of good-news-2026-edition",
            "token economy-of-scale-2026-11",
            "a Basic introduction-to-algebra-2-b",
        ],
    ),
    ("uuid of snyk", &["Snyk organisation: {h:8}-{h:4}-{h:4}-{h:4}-{h:12}", "snyk-id: SNYK-JS-LODASH-{d:6}"]),
    (
        "dotted",
        &[
            "org.example.Main{d:2}.method.Name",
            "v{d:2}.{d:2}.{d:4}-rc.{d:1}+build.{h:7}",
            "a.b.c.d.{h:8}.example.com",
        ],
    ),
    (
        "signature in an address",
        &["https://example.com/a.js?v={h:8}&signal=1", "/img/{h:32}.jpg?sign=left&size=2"],
    ),
];

/// Returns `each` vectors of every kind of harmless value.
pub(super) fn draw_harmless(each: usize, random: &mut dyn Rng) -> Vec<Vector> {
    let mut all = Vec::new();
    for _ in 0..each {
        for (style, names, values) in HARMLESS {
            for value in values {
                let name = pick(names, random).unwrap_or("token");
                let place = pick(&PLACES, random).unwrap_or("NAME=@").replace("NAME", name);
                let text = place.replacen('@', &fill(value, random), 1);
                all.push(Vector { style, text, secret: None });
            }
        }
        for (style, forms) in EXAMPLES {
            all.extend(forms.iter().map(|form| Vector { style, text: fill(form, random), secret: None }));
        }
    }
    all
}
