//! Sites over TLS, whose answers a test writes, and which record every request.

use std::sync::{Arc, Mutex};

use evaluation::tls::{Authority, install_nss};
use portcullis::signals::playwright::{Browser, BrowserSettings};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

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
        let (authority, home) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
        install_nss(home.path(), authority.pem()).unwrap();
        let acceptor = TlsAcceptor::from(authority.server_config(&HOSTS).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let nothing: Handler = Arc::new(|_| Answer::Page(String::new()));
        let (handler, arrived) = (Arc::new(Mutex::new(nothing)), Arc::new(Mutex::new(Vec::new())));
        let serving = (Arc::clone(&handler), Arc::clone(&arrived));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, (handler, arrived)) = (acceptor.clone(), serving.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let Some(asked) = read(&mut stream).await else { return };
                    // The browser asks for icons by itself.
                    if asked.path == "/favicon.ico" {
                        return;
                    }
                    arrived.lock().unwrap().push(asked.clone());
                    let handler = handler.lock().unwrap().clone();
                    let _gone = stream.write_all(written(handler(&asked)).as_bytes()).await;
                    let _gone = stream.shutdown().await;
                });
            }
        });
        let chromium = evaluation::stage::chromium().expect("run `cargo xtask setup` first");
        let mut settings = BrowserSettings::new(&chromium);
        settings.home = Some(home.path().to_owned());
        settings.sandbox = evaluation::stage::sandbox();
        let rules = HOSTS.map(|host| format!("MAP {host}:443 127.0.0.1:{port}"));
        settings.proxy_rules = Some(rules.join(", "));
        settings.private_hosts = HOSTS.map(str::to_owned).to_vec();
        Sites { browser: Browser::launch(settings).await.unwrap(), handler, arrived, _home: home }
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

async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<Asked> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let header = |wanted: &str| {
                head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
                })
            };
            let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                let mut words = head.split_whitespace();
                let target = words.nth(1)?.to_owned();
                let (path, query) = target.split_once('?').unwrap_or((&target, ""));
                let host = header("host")?.split(':').next()?.to_owned();
                let cookies = header("cookie").unwrap_or_default();
                let (path, query, body) = (path.to_owned(), query.to_owned(), body.to_owned());
                return Some(Asked { host, path, query, cookies, body });
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read @ 1..) => bytes.extend_from_slice(buffer.get(..read)?),
            _ => return None,
        }
    }
}
