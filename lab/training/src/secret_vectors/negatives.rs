//! Strings that look like secrets and are not.

use rand::Rng;

use super::{Vector, fill};

/// The kinds of strings, with forms of each.
const FORMS: [(&str, &[&str]); 40] = [
    ("uuid", &["id: {h:8}-{h:4}-4{h:3}-a{h:3}-{h:12}", "/orders/{h:8}-{h:4}-4{h:3}-9{h:3}-{h:12}/items"]),
    (
        "commit",
        &[
            "commit {h:40}",
            "Merge {h:7} into {h:7}",
            "\"sha\": \"{h:40}\"",
            "https://github.com/a/b/commit/{h:40}",
        ],
    ),
    ("md5", &["md5: {h:32}", "{h:32}  shop.tar.gz", "ETag: \"{h:32}\""]),
    ("sha256", &["sha256:{h:64}", "checksum = \"{h:64}\"", "image: shop@sha256:{h:64}"]),
    ("integrity", &["integrity=\"sha384-{b64:64}\"", "\"integrity\": \"sha512-{b64:86}==\""]),
    (
        "image",
        &[
            "src=\"data:image/png;base64,iVBORw0KGgo{b64:180}\"",
            "url(data:image/gif;base64,R0lGODlh{b64:120})",
        ],
    ),
    ("font", &["url(data:font/woff2;base64,d09GMgAB{b64:200})"]),
    ("bundle", &["/static/js/main.{h:8}.chunk.js", "app-{b62:8}.css", "vendor.{h:20}.js?v={h:8}"]),
    (
        "class",
        &[
            "class=\"sk-folding-cube sk-cube2-wrapper-large\"",
            "class=\"sk-loading-spinner-v2-container\"",
            "css-{an:7} MuiButton-root-{d:3}",
            "class=\"token-list__item--active2 key-value-pair\"",
        ],
    ),
    (
        "minified",
        &[
            "function {a:1}({a:1},{a:1}){var {a:2}={a:1}.{a:1}{d:1}}",
            "!function(e,t){e.exports=t(n{d:4})}({d:1})",
            "var a{d:3}=b{d:3}.createElement(\"div\")",
        ],
    ),
    (
        "product",
        &[
            "SKU {AN:4}-{AN:4}-{d:4}",
            "Model: WH-{d:4}XM{d:1}/B",
            "Art. {d:3}.{d:3}.{d:2}",
            "ASIN B0{AN:8}",
            "CorpusPart no. {A:3}{d:6}-{A:2}",
        ],
    ),
    ("tracking", &["Tracking: 1Z{AN:16}", "Sendungsnummer {d:20}", "RR{d:9}DE"]),
    (
        "placeholder",
        &[
            "API_KEY=YOUR_API_KEY",
            "api_key: \"<your-api-key-here>\"",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
            "AKIAXXXXXXXXXXXXXXXX",
            "token: \"REPLACE_WITH_YOUR_TOKEN_1\"",
            "password: changeme",
            "secret = \"****************\"",
            "AIza...your-key...",
            "Bearer YOUR_ACCESS_TOKEN_GOES_HERE1",
        ],
    ),
    (
        "variable",
        &[
            "api_key: ${API_KEY_PRODUCTION_1}",
            "token: {{ secrets.DEPLOY_TOKEN_2 }}",
            "password = os.environ[\"DB_PASSWORD\"]",
            "secret: process.env.SECRET_KEY_BASE_V2",
            "Authorization: Bearer ${TOKEN}",
            "password: $DB_PASSWORD",
            "postgres://$USER:$PASSWORD@db/shop",
            "mysql://user:password@localhost/db",
            "https://{user}:{password}@example.com",
        ],
    ),
    (
        "call",
        &[
            "token = getTokenFromSession2(request)",
            "apiKey: config.get(\"apiKeyProduction1\")",
            "const secret = await loadSecretFromVault2();",
            "password = hash_password2(form.password)",
            "accessToken = response.data.accessToken2.value",
        ],
    ),
    (
        "types",
        &[
            "password: string;",
            "token?: AccessTokenResponseV2 | null",
            "secret: Option<String>,",
            "private_key: PrivateKeyFormat2Enum.value",
            "\"token_type\": \"bearer\"",
        ],
    ),
    (
        "rules",
        &[
            "Password must be 8-16 characters and contain 1 digit.",
            "Password: at least 8 characters",
            "Your password is too short.",
            "Password is required",
            "Forgot your password? Reset it within 24 hours.",
        ],
    ),
    (
        "rules, German",
        &[
            "Passwort: mindestens 8 Zeichen",
            "Das Passwort ist abgelaufen.",
            "Passwort vergessen?",
            "Bitte Passwort eingeben: 8 bis 16 Zeichen",
        ],
    ),
    (
        "rules, French",
        &["Mot de passe : 8 caractères minimum", "Mot de passe oublié ?", "Votre mot de passe est expiré."],
    ),
    (
        "rules, Spanish",
        &["Contraseña: mínimo 8 caracteres", "¿Olvidaste tu contraseña?", "La contraseña es obligatoria."],
    ),
    (
        "field",
        &[
            "<input type=\"password\" name=\"user_password2\" id=\"password-field-1\">",
            "<label for=\"api_key_input2\">API key</label>",
            "[textbox] Password:",
            "Password: ********",
            "Password: ••••••••••",
        ],
    ),
    (
        "package",
        &[
            "npm_config_registry=https://registry.npmjs.org",
            "\"left-pad\": \"^1.3.{d:1}\"",
            "sk-learn-contrib-extension-{d:1}.{d:1}.{d:1}",
            "pypi-server-configuration-and-deployment-guide-v2",
        ],
    ),
    ("pod", &["web-{h:10}-{an:5}   1/1   Running", "key-value-store-{h:10}-{an:5}"]),
    (
        "address",
        &[
            "https://user@example.com/repo.git",
            "ssh://git@github.com:22/a/b.git",
            "http://localhost:8080/@scope/name",
            "https://example.com/a:b@c",
            "https://medium.com/@ann/keys-{h:12}",
        ],
    ),
    ("query", &["?page_token=2&token_type=bearer", "?utm_source=mail&utm_id={d:10}", "?v={h:16}&t={d:10}"]),
    (
        "mac",
        &["{h:2}:{h:2}:{h:2}:{h:2}:{h:2}:{h:2}", "fe80::{h:4}:{h:4}:{h:4}:{h:4}", "2001:db8:{h:4}::{h:4}"],
    ),
    (
        "certificate",
        &[
            "-----BEGIN CERTIFICATE-----\n{b64:64}\n-----END CERTIFICATE-----",
            "ssh-rsa AAAAB3NzaC1yc2E{b64:80} ann@host",
            "-----BEGIN PUBLIC KEY-----\n{b64:64}\n-----END PUBLIC KEY-----",
        ],
    ),
    (
        "slug",
        &[
            "/blog/the-secret-of-a-good-token-2026-edition",
            "/p/how-to-rotate-your-api-keys-in-5-steps-{h:4}",
            "risk-taking-is-not-for-everyone-here",
        ],
    ),
    (
        "prose",
        &[
            "The secret: none of your business, my friend.",
            "He was the bearer of good-news-for-everyone-in-2026.",
            "A token: something small.",
            "The password is secret.",
            "Secretary: Ann-Marie Oberhauser-Schmidt2",
        ],
    ),
    (
        "tokenizer",
        &[
            "tokenizer: bert-base-uncased-v2",
            "token_count=1763640000",
            "\"tokens\": [101, 2023, 2003, 102]",
            "max_tokens: 4096",
            "token: end_of_text_marker_2",
        ],
    ),
    ("number", &["{d:16}", "{d:13}", "{d:4} {d:4} {d:4}", "+{d:2} {d:3} {d:7}"]),
    ("colour", &["#{h:6} #{h:6} #{h:3}", "rgba({d:2},{d:2},{d:2},0.5)"]),
    (
        "path",
        &[
            "/usr/lib/x86_64-linux-gnu/libssl.so.{d:1}",
            "C:\\Users\\ann\\AppData\\Local\\Temp\\tmp{h:8}",
            "secrets/production/database/password2.txt",
            "private_key: /etc/ssl/private/server2.key",
        ],
    ),
    ("video", &["https://youtu.be/{url:11}", "watch?v={url:11}&list=PL{url:32}"]),
    ("analytics", &["G-{AN:10}", "UA-{d:8}-1", "GTM-{AN:7}", "fbq('init', '{d:16}')"]),
    ("publishable", &["pk_live_{b62:24}", "pk.ey.{h:6}", "sitekey=\"6L{h:6}\""]),
    (
        "hex dump",
        &[
            "00000010  {h:2} {h:2} {h:2} {h:2} {h:2} {h:2} {h:2} {h:2}",
            "0x{h:16}",
            "\\x{h:2}\\x{h:2}\\x{h:2}\\x{h:2}",
        ],
    ),
    (
        "nonce",
        &[
            "script-src 'nonce-{b64:22}=='",
            "X-Request-Id: {h:32}",
            "traceparent: 00-{h:32}-{h:16}-01",
            "Set-Cookie: lang=de; Path=/",
        ],
    ),
    ("wallet", &["0x{h:40}", "bc1q{an:38}", "tx {h:64}"]),
    (
        "base64 text",
        &[
            "SGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG1lc3NhZ2Uu",
            "Content-Transfer-Encoding: base64\n\n{b64:76}\n{b64:76}",
        ],
    ),
];

/// Returns `each` vectors of every form: more than of a style, since few forms of one kind are alike.
pub(super) fn draw(each: usize, random: &mut dyn Rng) -> Vec<Vector> {
    let mut all = Vec::new();
    for _ in 0..each {
        for (style, forms) in FORMS {
            for form in forms {
                all.push(Vector { style, text: fill(form, random), secret: None });
            }
        }
    }
    all
}
