//! Secrets, each in a context in which such secrets leak.

use rand::Rng;

use super::{Vector, fill, pick, place_in};

/// Tokens with a form of their own: style and form.
const FORMS: [(&str, &str); 68] = [
    ("aws access key", "AKIA{b32:16}"),
    ("aws session key", "ASIA{b32:16}"),
    ("google api key", "AIza{url:35}"),
    ("google client secret", "GOCSPX-{url:28}"),
    ("google access token", "ya29.{url:120}"),
    ("google refresh token", "1//0{d:1}{url:60}"),
    ("github personal", "ghp_{b62:36}"),
    ("github oauth", "gho_{b62:36}"),
    ("github app", "ghs_{b62:36}"),
    ("github fine-grained", "github_pat_{b62:22}_{b62:59}"),
    ("gitlab personal", "glpat-{url:20}"),
    ("gitlab trigger", "glptt-{h:40}"),
    ("gitlab deploy", "gldt-{url:20}"),
    ("slack bot", "xoxb-{d:12}-{d:12}-{b62:24}"),
    ("slack user", "xoxp-{d:12}-{d:12}-{d:12}-{h:32}"),
    ("slack app", "xapp-1-A{AN:10}-{d:13}-{h:64}"),
    ("slack webhook", "https://hooks.slack.com/services/T{AN:8}/B{AN:10}/{b62:24}"),
    ("discord webhook", "https://discord.com/api/webhooks/{d:18}/{url:68}"),
    ("stripe live", "sk_live_{b62:24}"),
    ("stripe restricted", "rk_live_{b62:99}"),
    ("stripe webhook", "whsec_{b62:32}"),
    ("openai old", "sk-{b62:20}T3BlbkFJ{b62:20}"),
    ("openai project", "sk-proj-{url:74}T3BlbkFJ{url:74}"),
    ("anthropic", "sk-ant-api03-{url:93}AA"),
    ("openrouter", "sk-or-v1-{h:64}"),
    ("npm", "npm_{b62:36}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{url:70}"),
    ("sendgrid", "SG.{url:22}.{url:43}"),
    ("twilio key", "SK{h:32}"),
    ("mailgun", "key-{h:32}"),
    ("mailchimp", "{h:32}-us{d:2}"),
    ("azure client secret", "{b62:3}8Q~{url:34}"),
    ("square", "sq0csp-{url:43}"),
    ("shopify", "shpat_{h:32}"),
    ("telegram bot", "{d:10}:AA{url:33}"),
    ("digitalocean", "dop_v1_{h:64}"),
    ("hugging face", "hf_{b62:34}"),
    ("databricks", "dapi{h:32}"),
    ("doppler", "dp.pt.{b62:43}"),
    ("linear", "lin_api_{b62:40}"),
    ("notion", "ntn_{b62:46}"),
    ("figma", "figd_{url:40}"),
    ("postman", "PMAK-{h:24}-{h:34}"),
    ("new relic", "NRAK-{AN:27}"),
    ("grafana", "glsa_{b62:32}_{h:8}"),
    ("vault", "hvs.{url:95}"),
    ("brevo", "xkeysib-{h:64}-{b62:16}"),
    ("supabase", "sbp_{h:40}"),
    ("rubygems", "rubygems_{h:48}"),
    ("docker", "dckr_pat_{url:27}"),
    ("netlify", "nfp_{b62:40}"),
    ("sentry", "sntryu_{h:64}"),
    ("atlassian", "ATATT3{url:186}"),
    ("bitbucket", "ATBB{b62:32}"),
    ("airtable", "pat{b62:14}.{h:64}"),
    ("plaid", "access-production-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    ("razorpay", "rzp_live_{b62:14}"),
    ("easypost", "EZAK{b62:54}"),
    ("jfrog", "AKCp{b62:69}"),
    ("pulumi", "pul-{h:40}"),
    ("tailscale", "tskey-auth-{b62:12}CNTRL-{b62:32}"),
    ("groq", "gsk_{b62:52}"),
    ("perplexity", "pplx-{b62:48}"),
    ("xai", "xai-{b62:80}"),
    ("replicate", "r8_{b62:37}"),
    ("terraform", "{b62:14}.atlasv1.{url:67}"),
    ("age key", "AGE-SECRET-KEY-1{AN:58}"),
    ("web token", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{url:90}.{url:43}"),
];

/// The contexts of such tokens; `@` is the token.
const PLACES: [&str; 12] = [
    "@",
    "export TOKEN=@",
    "KEY=\"@\"\n",
    "{\"value\": \"@\", \"id\": 4}",
    "value: @\nnext: 1\n",
    "const client = new Client('@');",
    "My key is @, please do not share it.",
    "Der Schlüssel lautet @.",
    "curl -u user -H 'X-Key: @' https://api.example.com/v1",
    "GET /v1/items?key=@&page=2",
    "[2026-11-20 10:30:45] ERROR rejected credential (@)",
    "| prod | @ | active |",
];

/// Secrets that their context announces, alone or together with their form; `@` is the secret.
const ANNOUNCED: [(&str, &str, &[&str]); 24] = [
    (
        "aws secret key",
        "{b64:40}",
        &["aws_secret_access_key = @", "AWS_SECRET_ACCESS_KEY=@", "\"SecretAccessKey\": \"@\""],
    ),
    (
        "azure storage",
        "{b64:86}==",
        &["DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=@;EndpointSuffix=core.windows.net"],
    ),
    (
        "azure service bus",
        "{b64:43}=",
        &["Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@"],
    ),
    ("twilio token", "{h:32}", &["TWILIO_AUTH_TOKEN=@", "authToken: '@'"]),
    (
        "generic api key",
        "{b62:32}",
        &["api_key = \"@\"", "apiKey: '@',", "X-API-Key: @", "\"api-key\": \"@\"", "?api_key=@"],
    ),
    ("client secret", "{url:40}", &["client_secret=@", "\"clientSecret\": \"@\"", "OAUTH_CLIENT_SECRET: @"]),
    ("hex secret", "{h:64}", &["SECRET_KEY_BASE=@", "secret: \"@\"", "JWT_SECRET = '@'"]),
    ("signing key", "{b64:43}=", &["signing_key: @", "ENCRYPTION_KEY=\"@\""]),
    ("bearer", "{url:40}", &["Authorization: Bearer @", "-H \"Authorization: Bearer @\""]),
    ("basic", "{b64:40}", &["Authorization: Basic @"]),
    ("heroku", "{h:8}-{h:4}-{h:4}-{h:4}-{h:12}", &["HEROKU_API_KEY=@", "heroku_api_key: '@'"]),
    (
        "postgres",
        "{b62:14}",
        &["postgres://shop:@@db.example.com:5432/shop", "DATABASE_URL=postgresql://app:@@10.0.0.5/app"],
    ),
    ("mysql", "{b62:10}!{d:2}", &["mysql://root:@@localhost:3306/shop", "mysql+pymysql://app:@@db/app"]),
    (
        "mongodb",
        "{b62:16}",
        &[
            "mongodb+srv://app:@@cluster0.ab1cd.mongodb.net/test?retryWrites=true",
            "mongodb://root:@@mongo:27017",
        ],
    ),
    ("redis", "{b62:20}", &["redis://:@@cache.example.com:6379/0", "rediss://default:@@cache:6380"]),
    ("amqp", "{b62:12}", &["amqp://guest2:@@rabbit.example.com:5672/%2f"]),
    (
        "jdbc",
        "{a:5}{A:2}{d:3}!",
        &[
            "jdbc:mysql://db.example.com/shop?user=app&password=@&useSSL=true",
            "jdbc:postgresql://db/shop?user=app&password=@",
        ],
    ),
    ("ado", "{a:4}{A:3}{d:3}#", &["Server=db;Database=shop;User Id=app;Password=@;Encrypt=true"]),
    (
        "basic auth address",
        "{b62:12}",
        &["https://ann:@@git.example.com/repo.git", "curl ftp://bob:@@files.example.com/x"],
    ),
    (
        "password assigned",
        "{a:6}{A:2}{d:2}!",
        &["password: @", "DB_PASSWORD='@'", "\"password\": \"@\"", "passwd = \"@\"", "pwd=@"],
    ),
    (
        "password said",
        "{A:1}{a:6}{d:3}",
        &["Your temporary password is @", "Password: @", "the wifi password is: @"],
    ),
    ("password, German", "{A:1}{a:7}{d:2}$", &["Passwort: @", "Ihr Passwort lautet @", "Kennwort: @"]),
    ("password, French", "{a:7}{d:3}", &["Mot de passe : @", "votre mot de passe est @"]),
    ("password, Spanish", "{a:6}{A:1}{d:3}", &["Contraseña: @", "La contraseña es @"]),
];

/// The labels of private key blocks.
const BLOCKS: [&str; 5] =
    ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"];

/// Returns `each` vectors of every style.
pub(super) fn draw(each: usize, random: &mut dyn Rng) -> Vec<Vector> {
    let mut all = Vec::new();
    for _ in 0..each {
        for (style, form) in FORMS {
            let place = pick(&PLACES, random).unwrap_or("@");
            all.push(place_in(style, place, &fill(form, random)));
        }
        for (style, form, places) in ANNOUNCED {
            let place = pick(places, random).unwrap_or("@");
            all.push(place_in(style, place, &fill(form, random)));
        }
        let label = pick(&BLOCKS, random).unwrap_or("PRIVATE KEY");
        let lines: Vec<String> = (0..6).map(|_| fill("{b64:64}", random)).collect();
        let block = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----", lines.join("\n"));
        all.push(place_in("private key", "key: |\n@\n", &block));
    }
    all
}
