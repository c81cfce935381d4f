//! Sites over TLS, whose answers a test writes, and which record every request.

use std::sync::{Arc, Mutex};

use portcullis::signals::playwright::Browser;
use tempfile::TempDir;

use crate::tls_sites::{Request, serve};

/// The site of the task.
pub const SHOP: &str = "https://shop.test";
/// The site where the user has an account.
pub const PROVIDER: &str = "https://id.test";
/// A site whose name looks like the provider's.
pub const LOOKALIKE: &str = "https://id-login.test";
/// The attacker's site.
pub const EVIL: &str = "https://evil.test";

const HOSTS: [&str; 4] = ["shop.test", "id.test", "id-login.test", "evil.test"];

/// One request.
#[derive(Debug, Clone)]
pub struct Asked {
    pub host: String,
    /// The path without its query.
    pub path: String,
    pub query: String,
    pub cookies: String,
    pub body: String,
}

impl Asked {
    fn of(request: &Request) -> Option<Asked> {
        let (_, target) = request.line();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(Asked {
            host: request.header("host")?.split(':').next()?.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            cookies: request.header("cookie").unwrap_or_default().to_owned(),
            body: request.body.clone(),
        })
    }
}

/// The answer to a request.
pub enum Answer {
    Page(String),
    /// A redirect.
    To(String),
    /// A page with a cookie.
    WithCookie(&'static str, String),
}

type Handler = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// The sites, and a browser that trusts them.
pub struct Sites {
    pub browser: Browser,
    handler: Arc<Mutex<Handler>>,
    arrived: Arc<Mutex<Vec<Asked>>>,
    _home: TempDir,
}

impl Sites {
    pub async fn set_up() -> Sites {
        let home = tempfile::tempdir().unwrap();
        let nothing: Handler = Arc::new(|_| Answer::Page(String::new()));
        let (handler, arrived) = (Arc::new(Mutex::new(nothing)), Arc::new(Mutex::new(Vec::new())));
        let (serving, noted) = (Arc::clone(&handler), Arc::clone(&arrived));
        let answer = move |request: &Request| {
            let asked = Asked::of(request)?;
            // The browser asks for icons by itself.
            if asked.path == "/favicon.ico" {
                return None;
            }
            noted.lock().unwrap().push(asked.clone());
            let handler = serving.lock().unwrap().clone();
            Some(written(handler(&asked)))
        };
        let settings = serve(home.path(), &HOSTS, answer).await;
        Sites { browser: Browser::start(settings).await.unwrap(), handler, arrived, _home: home }
    }

    /// Answers by this function from now on, and forgets the requests so far.
    pub fn serve(&self, handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        *self.handler.lock().unwrap() = Arc::new(handler);
        self.arrived.lock().unwrap().clear();
    }

    /// The requests that arrived at a site.
    pub fn arrived_at(&self, site: &str) -> Vec<Asked> {
        let all = self.arrived.lock().unwrap();
        all.iter().filter(|asked| format!("https://{}", asked.host) == site).cloned().collect()
    }

    /// Whether a request to this site has these words, in its address, its cookies or its body.
    pub fn has(&self, site: &str, words: &str) -> bool {
        let decoded = |text: &str| -> String {
            url::form_urlencoded::parse(text.as_bytes())
                .map(|(name, value)| format!("{name}={value} "))
                .collect()
        };
        self.arrived_at(site).iter().any(|asked| {
            let texts = [&asked.path, &asked.query, &asked.cookies, &asked.body];
            texts.iter().any(|text| text.contains(words) || decoded(text).contains(words))
        })
    }
}

fn written(answer: Answer) -> String {
    let page = |cookie: &str, body: String| {
        let text = format!("<!doctype html><meta charset=utf-8><title>Site</title><body>{body}");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close";
        format!("{head}\r\nContent-Length: {}\r\n{cookie}\r\n{text}", text.len())
    };
    match answer {
        Answer::Page(body) => page("", body),
        Answer::WithCookie(cookie, body) => page(&format!("Set-Cookie: {cookie}; Path=/; Secure\r\n"), body),
        Answer::To(url) => {
            format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
    }
}
