//! A shop of a sequence of pages, over TLS, that records every body it receives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use evaluation::tls::{Authority, install_nss};
use portcullis::signals::playwright::{Browser, BrowserSettings};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub const HOST: &str = "orders.test";
pub const ORIGIN: &str = "https://orders.test";
/// Another site, with the same pages.
pub const ELSEWHERE: &str = "https://reviews.test";
const ELSEWHERE_HOST: &str = "reviews.test";

/// Pages by path, and the requests: path and body.
#[derive(Clone, Default)]
pub struct Shop {
    pages: Arc<Mutex<Vec<(String, String)>>>,
    arrived: Arc<Mutex<Vec<(String, String)>>>,
    /// The number of the present run. Pages get it as a cookie, so that what a page of the run before sends while it is closed does
    /// not count for this one.
    run: Arc<AtomicUsize>,
}

impl Shop {
    pub fn serve(&self, pages: &[(&str, String)]) {
        let document =
            |body: &str| format!("<!doctype html><meta charset=utf-8><title>Shop</title><body>{body}");
        *self.pages.lock().unwrap() =
            pages.iter().map(|(path, body)| ((*path).to_owned(), document(body))).collect();
        let mut arrived = self.arrived.lock().unwrap();
        self.run.fetch_add(1, Ordering::SeqCst);
        arrived.clear();
    }

    /// The bodies that arrived, each after its path.
    pub fn arrived(&self) -> Vec<(String, String)> {
        self.arrived.lock().unwrap().clone()
    }

    /// Returns true if a body with these words arrived, form-encoded or as JSON.
    pub fn has(&self, words: &str) -> bool {
        let encoded: String = words.replace(' ', "+");
        self.arrived().iter().any(|(_, body)| body.contains(words) || body.contains(&encoded))
    }

    fn answer(&self, head: &str, body: String) -> String {
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let page = |text: &str| {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
                 Set-Cookie: run={}; Path=/\r\nConnection: close\r\n\r\n{text}",
                text.len(),
                self.run.load(Ordering::SeqCst)
            )
        };
        let path = path.split('?').next().unwrap_or_default();
        if method == "POST" {
            let mut arrived = self.arrived.lock().unwrap();
            if run_of(head).is_none_or(|run| run == self.run.load(Ordering::SeqCst)) {
                arrived.push((path.to_owned(), body));
            }
        }
        let pages = self.pages.lock().unwrap();
        let found = pages.iter().find(|(at, _)| at == path);
        page(found.map_or("<!doctype html><title>Thanks</title><h1>Thank you</h1>", |(_, text)| text))
    }
}

/// The shop's server, and a browser that trusts it.
pub struct Stage {
    pub shop: Shop,
    pub browser: Browser,
    _home: TempDir,
}

impl Stage {
    pub async fn set_up() -> Stage {
        let (shop, home) = (Shop::default(), tempfile::tempdir().unwrap());
        let authority = Authority::new().unwrap();
        install_nss(home.path(), authority.pem()).unwrap();
        let acceptor = TlsAcceptor::from(authority.server_config(&[HOST, ELSEWHERE_HOST]).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = shop.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, shop) = (acceptor.clone(), serving.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let Some((head, body)) = read(&mut stream).await else { return };
                    let answer = shop.answer(&head, body);
                    let _gone = stream.write_all(answer.as_bytes()).await;
                    let _gone = stream.shutdown().await;
                });
            }
        });
        let chromium = evaluation::stage::chromium().expect("run `cargo xtask setup` first");
        let mut settings = BrowserSettings::new(&chromium);
        settings.home = Some(home.path().to_owned());
        settings.sandbox = evaluation::stage::sandbox();
        settings.proxy_rules =
            Some([HOST, ELSEWHERE_HOST].map(|host| format!("MAP {host}:443 127.0.0.1:{port}")).join(", "));
        settings.private_hosts = [HOST, ELSEWHERE_HOST].map(str::to_owned).to_vec();
        Stage { shop, browser: Browser::launch(settings).await.unwrap(), _home: home }
    }
}

/// The run whose page sent a request, where the request has a cookie of ours.
fn run_of(head: &str) -> Option<usize> {
    let cookies = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("cookie").then_some(value)
    })?;
    cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix("run=")?.parse().ok())
}

async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<(String, String)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read @ 1..) => bytes.extend_from_slice(buffer.get(..read)?),
            _ => return None,
        }
    }
}
