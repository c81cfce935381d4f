//! A shop, a payment provider of ours and sites of an attacker, over TLS, with a record of every request that they get.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portcullis::signals::playwright::Browser;
use tempfile::TempDir;

use crate::tls_sites::{Request, serve};

pub const SHOP: &str = "till.test";
/// The frames of our provider, and the server that makes tokens of card data.
pub const FRAME: &str = "fields.ourpay.test";
pub const TOKEN: &str = "api.ourpay.test";
/// The provider's own page, to which a shop leads the browser.
pub const HOSTED: &str = "pay.ourpay.test";
/// A host that looks like the provider's, and a site of the attacker.
pub const LOOK_ALIKE: &str = "fields.ourpay-secure.test";
pub const HOSTED_LOOK_ALIKE: &str = "pay.ourpay-secure.test";
pub const EVIL: &str = "evil.test";
const HOSTS: [&str; 7] = [SHOP, FRAME, TOKEN, HOSTED, LOOK_ALIKE, HOSTED_LOOK_ALIKE, EVIL];

/// The longest time that a test waits for an event.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub host: String,
    /// The path with its query.
    pub path: String,
    pub body: String,
}

/// Pages by host and path, and what arrived.
#[derive(Clone, Default)]
pub struct World {
    pages: Arc<Mutex<Vec<(String, String, String)>>>,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    signal: Arc<AtomicBool>,
}

impl World {
    /// Serves these pages and no others; what arrived before is forgotten. A page `see URL` is a redirect to there.
    pub fn serve(&self, pages: &[(&str, &str, String)]) {
        let document = |body: &str| match body {
            body if body.starts_with("see ") => body.to_owned(),
            body => format!("<!doctype html><meta charset=utf-8><title>Pay</title><body>{body}"),
        };
        let pages =
            pages.iter().map(|(host, path, body)| ((*host).to_owned(), (*path).to_owned(), document(body)));
        *self.pages.lock().unwrap() = pages.collect();
        self.arrived.lock().unwrap().clear();
        self.signal.store(false, Ordering::SeqCst);
    }

    /// Tells the pages that ask `/signal` to act.
    pub fn signal(&self) {
        self.signal.store(true, Ordering::SeqCst);
    }

    /// Whether a request for this path arrived at a host.
    pub fn has(&self, host: &str, path: &str) -> bool {
        self.arrived.lock().unwrap().iter().any(|it| it.host == host && it.path == path)
    }

    /// Waits for it.
    pub fn wait_for(&self, host: &str, path: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.has(host, path) {
            assert!(
                Instant::now() < until,
                "{host}{path} did not arrive: {:?}",
                self.arrived.lock().unwrap()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The hosts at which these digits arrived, however they were grouped.
    pub fn got(&self, digits: &str) -> Vec<String> {
        let holds =
            |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>().contains(digits);
        let mut hosts: Vec<String> = Vec::new();
        for it in self.arrived.lock().unwrap().iter() {
            if (holds(&it.body) || holds(&it.path)) && !hosts.contains(&it.host) {
                hosts.push(it.host.clone());
            }
        }
        hosts
    }

    fn answer(&self, request: &Request) -> String {
        let (method, path) = request.line();
        let host = request.header("host").unwrap_or_default();
        let plain = path.split('?').next().unwrap_or_default();
        if plain == "/signal" {
            let text = if self.signal.load(Ordering::SeqCst) { "go" } else { "wait" };
            return answer_with(text);
        }
        let (host, path) = (host.to_owned(), path.to_owned());
        if method != "OPTIONS" {
            let body = request.body.clone();
            self.arrived.lock().unwrap().push(Arrived { host: host.clone(), path, body });
        }
        let pages = self.pages.lock().unwrap();
        let found = pages.iter().find(|(at, page, _)| *at == host && page == plain);
        let text = found.map_or("tok_1", |(_, _, text)| text);
        text.strip_prefix("see ").map_or_else(|| answer_with(text), see_other)
    }
}

fn see_other(url: &str) -> String {
    format!("HTTP/1.1 303 See Other\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

fn answer_with(text: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\n\
         Access-Control-Allow-Headers: *\r\nCache-Control: no-store\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}

/// The servers, and a browser that trusts them.
pub struct Stage {
    pub world: World,
    pub browser: Browser,
    _home: TempDir,
}

impl Stage {
    pub async fn set_up() -> Stage {
        let (world, home) = (World::default(), tempfile::tempdir().unwrap());
        let serving = world.clone();
        let answer = move |request: &Request| Some(serving.answer(request));
        let settings = serve(home.path(), &HOSTS, answer).await;
        Stage { world, browser: Browser::start(settings).await.unwrap(), _home: home }
    }
}
