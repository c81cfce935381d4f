//! The forms of the tokens of large issuers.
//!
//! The forms are those that the issuers document (GitLab: "Token overview"; GitHub: "Behind GitHub's new authentication token
//! formats"; Slack: "Tokens"; Discord: "Reference, authentication"; Sourcegraph: "Access tokens"; SonarQube: "Managing your
//! tokens"; Meta: "Access tokens"; Microsoft Entra: client secrets; and so on), shortened to what tells them from words.

/// The characters after the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `-`, `_` and `.`.
    Web,
    /// Letters, digits, `-` and `_`.
    Name,
    /// Lower-case hexadecimal digits, and the dashes of a UUID.
    Hex,
    /// Capital letters and digits.
    Capital,
    /// Base64 in either alphabet.
    Base64,
    /// The characters of the path of a web address.
    Address,
}

impl Alphabet {
    pub(crate) const fn holds(self, byte: u8) -> bool {
        match self {
            Alphabet::Plain => byte.is_ascii_alphanumeric(),
            Alphabet::Web => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Alphabet::Name => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Alphabet::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'),
            Alphabet::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
            }
            Alphabet::Address => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'@' | b'~' | b'%')
            }
        }
    }
}

/// A form of tokens: the prefix, and the part after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issuer {
    /// A pattern; its match ends where the secret part begins.
    pub(crate) prefix: &'static str,
    /// The smallest length of the secret part, in characters.
    pub(crate) shortest: usize,
    /// The characters of the secret part.
    pub(crate) alphabet: Alphabet,
}

const fn issuer(prefix: &'static str, shortest: usize, alphabet: Alphabet) -> Issuer {
    Issuer { prefix, shortest, alphabet }
}

/// The issuers; of two with a common prefix the longer one comes first.
pub(crate) const ISSUERS: [Issuer; 123] = {
    use Alphabet::{Address, Base64, Capital, Hex, Name, Plain, Web};
    [
        issuer(r"(?:sk|rk)_(?:live|test|prod)_", 16, Plain), // Stripe
        issuer(r"whsec_", 24, Base64),                       // Stripe, webhooks
        issuer(r"sk-ant-(?:api|admin|oat|sid)[0-9]{2}-", 20, Name), // Anthropic
        issuer(r"sk-ant-", 24, Name),
        issuer(r"sk-or-v1-", 32, Hex),                        // OpenRouter
        issuer(r"sk-(?:proj|svcacct|admin|None)-", 20, Name), // OpenAI
        issuer(r"sk-lf-", 32, Hex),                           // Langfuse
        issuer(r"sk-", 20, Plain),                            // OpenAI, DeepSeek and others
        issuer(r"gh[pousr]_", 30, Plain),                     // GitHub
        issuer(r"github_pat_", 30, Name),                     // GitHub, fine-grained
        issuer(r"gl(?:pat|dt|rtr|rt|ptt|soat|cbt|ffct|ft|imt|agent|oas)-", 20, Web), // GitLab
        issuer(r"GR1348941", 20, Name),                       // GitLab, runners
        issuer(r"xox[abeoprs](?:\.xox[bp])?-", 20, Name),     // Slack
        issuer(r"xapp-", 20, Name),                           // Slack, applications
        issuer(r"hooks\.slack\.com/(?:services|workflows|triggers)/", 30, Base64), // Slack, webhooks
        issuer(r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/", 50, Name), // Discord, webhooks
        issuer(r"(?:AKIA|ASIA|ABIA|ACCA)", 16, Capital),      // AWS
        issuer(r"ABSK", 100, Base64),                         // AWS Bedrock
        issuer(r"AIza", 35, Name),                            // Google
        issuer(r"GOCSPX-", 20, Name),                         // Google, client secrets
        issuer(r"ya29\.", 20, Name),                          // Google, access tokens
        issuer(r"1//0", 40, Name),                            // Google, refresh tokens
        issuer(r"npm_", 30, Plain),                           // npm
        issuer(r"hf_", 30, Plain),                            // Hugging Face
        issuer(r"api_org_", 30, Plain),
        issuer(r"do[opr]_v1_", 40, Hex),                  // DigitalOcean
        issuer(r"pypi-", 40, Name),                       // PyPI
        issuer(r"SG\.", 40, Web),                         // SendGrid
        issuer(r"shp(?:at|ca|pa|ss|tka|ut)_", 32, Plain), // Shopify
        issuer(r"AGE-SECRET-KEY-1", 40, Capital),         // age
        issuer(r"(?:SK|AC)", 32, Hex),                    // Twilio
        issuer(r"key-", 32, Hex),                         // Mailgun
        issuer(r"pubkey-", 32, Hex),
        issuer(r"xkeysib-", 64, Hex),             // Brevo
        issuer(r"sq0(?:atp|csp|idp)-", 22, Name), // Square
        issuer(r"EAAA", 60, Name),
        issuer(r"sl\.", 60, Name),                            // Dropbox
        issuer(r"dp\.(?:pt|st|ct|sa|scim|audit)\.", 40, Web), // Doppler
        issuer(r"lin_(?:api|oauth)_", 32, Plain),             // Linear
        issuer(r"secret_", 40, Plain),                        // Notion
        issuer(r"ntn_", 40, Plain),
        issuer(r"pat[A-Za-z0-9]{14}\.", 60, Hex), // Airtable
        issuer(r"fig[do]_", 32, Name),            // Figma
        issuer(r"PMAK-", 40, Name),               // Postman
        issuer(r"NRAK-", 24, Plain),              // New Relic
        issuer(r"NRJS-", 16, Hex),
        issuer(r"gl(?:c|sa)_", 30, Base64),   // Grafana
        issuer(r"hv[sbr]\.", 24, Name),       // Vault
        issuer(r"dapi", 32, Hex),             // Databricks
        issuer(r"HRKU-", 32, Name),           // Heroku
        issuer(r"fm[12][arn]?_", 60, Base64), // Fly.io
        issuer(r"fo1_", 40, Name),
        issuer(r"r8_", 37, Plain),   // Replicate
        issuer(r"gsk_", 48, Plain),  // Groq
        issuer(r"pplx-", 40, Plain), // Perplexity
        issuer(r"xai-", 60, Plain),  // xAI
        issuer(r"sbp_", 40, Hex),    // Supabase
        issuer(r"sb_secret_", 20, Name),
        issuer(r"pscale_(?:tkn|pw|oauth)_", 32, Web), // PlanetScale
        issuer(r"rubygems_", 48, Hex),                // RubyGems
        issuer(r"cio", 32, Plain),                    // crates.io
        issuer(r"CLOJARS_", 60, Hex),                 // Clojars
        issuer(r"dckr_(?:pat|oat)_", 24, Name),       // Docker
        issuer(r"nf[pcoub]_", 36, Plain),             // Netlify
        issuer(r"sntry[sua]_", 40, Base64),           // Sentry
        issuer(r"AT(?:ATT|CTT)3", 60, Base64),        // Atlassian
        issuer(r"ATBB", 28, Plain),                   // Bitbucket
        issuer(r"aio_", 28, Plain),                   // Adafruit
        issuer(r"CFPAT-", 40, Name),                  // Contentful
        issuer(r"EZ[AT]K", 54, Plain),                // EasyPost
        issuer(r"shippo_(?:live|test)_", 40, Hex),    // Shippo
        issuer(r"access-(?:sandbox|development|production)-", 36, Hex), // Plaid
        issuer(r"rzp_(?:live|test)_", 14, Plain),     // Razorpay
        issuer(r"LTAI", 16, Plain),                   // Alibaba
        issuer(r"AKID", 32, Plain),                   // Tencent
        issuer(r"AQVN", 35, Name),                    // Yandex
        issuer(r"re_[A-Za-z0-9]{8}_", 20, Plain),     // Resend
        issuer(r"AKCp", 60, Plain),                   // JFrog
        issuer(r"pul-", 40, Hex),                     // Pulumi
        issuer(r"pnu_", 36, Plain),                   // Prefect
        issuer(r"rdme_", 60, Plain),                  // ReadMe
        issuer(r"tfp_", 40, Name),                    // Typeform
        issuer(r"EAA[A-Za-z0-9]", 80, Plain),         // Facebook, user and page tokens
        issuer(r"lsv2_(?:pt|sk)_", 32, Name),         // LangSmith
        issuer(r"pcsk_", 40, Name),                   // Pinecone
        issuer(r"napi_", 50, Plain),                  // Neon
        issuer(r"tskey-(?:auth|api|client|webhook|scim)-", 20, Name), // Tailscale
        issuer(r"ops_eyJ", 100, Base64),              // 1Password
        issuer(r"[0-9]{13,17}(?:\||%7C)", 27, Name),  // Facebook, application tokens
        issuer(r"sgp_(?:local_|[a-f0-9]{16}_)?", 40, Hex), // Sourcegraph
        issuer(r"sq[apu]_", 40, Hex),                 // Sonar
        issuer(r"snyk_(?:[a-z]{3}\.)?", 30, Web),     // Snyk
        issuer(r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.", 27, Name), // Discord, bots
        issuer(r"webhook\.office\.com/webhookb2/", 60, Address), // Microsoft Teams, webhooks
        issuer(r"AAAA[A-Za-z0-9_-]{7}:", 100, Name),  // Firebase, messaging
        issuer(r"A{20,40}", 50, Base64),              // Twitter, bearer tokens
        issuer(r"v1\.0-", 120, Hex),                  // Cloudflare, origin keys
        issuer(r"dt0[a-z][0-9]{2}\.", 24, Web),       // Dynatrace
        issuer(r"FLW(?:SEC|PUB)K(?:_TEST)?-", 12, Plain), // Flutterwave
        issuer(r"[ps]at\.[A-Za-z0-9_-]{22}\.", 24, Web), // Harness
        issuer(r"pat-(?:na|eu|ap)[0-9]-", 36, Hex),   // HubSpot, applications
        issuer(r"oy2", 43, Plain),                    // NuGet
        issuer(r"API-", 25, Capital),                 // Octopus Deploy
        issuer(r"sha256~", 40, Name),                 // OpenShift
        issuer(r"tk-us-", 40, Name),                  // Scalingo
        issuer(r"SWMTKN-1-", 50, Name),               // Docker Swarm
        issuer(r"prtapi_", 32, Hex),                  // Shopify, partners
        issuer(r"waka_", 36, Hex),                    // WakaTime
        issuer(r"bk(?:ua|at|ct|pt|aj)_", 30, Plain),  // Buildkite
        issuer(r"ico-", 32, Plain),                   // Infracost
        issuer(r"dnkey-", 50, Name),                  // Defined Networking
        issuer(r"duffel_(?:live|test)_", 40, Name),   // Duffel
        issuer(r"fio-u-", 60, Name),                  // Frame.io
        issuer(r"s-s4t2(?:ud|af)-", 60, Hex),         // 42 Intra
        issuer(r"ph[cx]_", 40, Plain),                // PostHog
        issuer(r"CCI(?:PAT|PRJ)_", 40, Name),         // CircleCI
        issuer(r"rnd_", 28, Plain),                   // Render
        issuer(r"nvapi-", 60, Name),                  // NVIDIA
        issuer(r"mlsn\.", 60, Hex),                   // MailerSend
        issuer(r"apify_api_", 36, Plain),             // Apify
        issuer(r"sm_(?:aat|pat|sat)_", 16, Plain),    // SettleMint
        issuer(r"pdl_(?:live|sdbx)_apikey_", 26, Name), // Paddle
        issuer(r"A3-[A-Z0-9]{6}-", 24, Web),          // 1Password, secret keys
    ]
};
