//! A shop of a sequence of pages, over TLS, that records every body it receives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use portcullis::signals::playwright::Browser;
use tempfile::TempDir;

use crate::tls_sites::{Request, serve};

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

    fn answer(&self, request: &Request) -> String {
        let (method, path) = request.line();
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
            if run_of(request).is_none_or(|run| run == self.run.load(Ordering::SeqCst)) {
                arrived.push((path.to_owned(), request.body.clone()));
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
        let serving = shop.clone();
        let answer = move |request: &Request| Some(serving.answer(request));
        let settings = serve(home.path(), &[HOST, ELSEWHERE_HOST], answer).await;
        Stage { shop, browser: Browser::start(settings).await.unwrap(), _home: home }
    }
}

/// The run whose page sent a request, where the request has a cookie of ours.
fn run_of(request: &Request) -> Option<usize> {
    let cookies = request.header("cookie")?;
    cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix("run=")?.parse().ok())
}
