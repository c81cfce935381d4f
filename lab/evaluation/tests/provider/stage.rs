//! A shop, a payment provider of ours and sites of an attacker, over TLS, with a record of every request that they get.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evaluation::tls::{Authority, install_nss};
use portcullis::signals::playwright::{Browser, BrowserSettings};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub const SHOP: &str = "till.test";
/// The frames of our provider, and the server that makes tokens of card data.
pub const FRAME: &str = "fields.ourpay.test";
pub const TOKEN: &str = "api.ourpay.test";
/// A host that looks like the provider's, and a site of the attacker.
pub const LOOK_ALIKE: &str = "fields.ourpay-secure.test";
pub const EVIL: &str = "evil.test";
const HOSTS: [&str; 5] = [SHOP, FRAME, TOKEN, LOOK_ALIKE, EVIL];

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
    /// Serves these pages and no others; what arrived before is forgotten.
    pub fn serve(&self, pages: &[(&str, &str, String)]) {
        let document =
            |body: &str| format!("<!doctype html><meta charset=utf-8><title>Pay</title><body>{body}");
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

    fn answer(&self, head: &str, body: String) -> String {
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let host = head
            .lines()
            .find_map(|line| line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("host")));
        let host = host.map_or("", |(_, host)| host.trim());
        let plain = path.split('?').next().unwrap_or_default();
        if plain == "/signal" {
            let text = if self.signal.load(Ordering::SeqCst) { "go" } else { "wait" };
            return answer_with(text);
        }
        let (host, path) = (host.to_owned(), path.to_owned());
        if method != "OPTIONS" {
            self.arrived.lock().unwrap().push(Arrived { host: host.clone(), path, body });
        }
        let pages = self.pages.lock().unwrap();
        let found = pages.iter().find(|(at, page, _)| *at == host && page == plain);
        answer_with(found.map_or("tok_1", |(_, _, text)| text))
    }
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
        let authority = Authority::new().unwrap();
        install_nss(home.path(), authority.pem()).unwrap();
        let acceptor = TlsAcceptor::from(authority.server_config(&HOSTS).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = world.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, world) = (acceptor.clone(), serving.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let Some((head, body)) = read(&mut stream).await else { return };
                    let answer = world.answer(&head, body);
                    let _gone = stream.write_all(answer.as_bytes()).await;
                    let _gone = stream.shutdown().await;
                });
            }
        });
        let chromium = evaluation::stage::chromium().expect("run `cargo xtask setup` first");
        let mut settings = BrowserSettings::new(&chromium);
        settings.home = Some(home.path().to_owned());
        settings.sandbox = evaluation::stage::sandbox();
        settings.proxy_rules = Some(HOSTS.map(|host| format!("MAP {host}:443 127.0.0.1:{port}")).join(", "));
        settings.private_hosts = HOSTS.map(str::to_owned).to_vec();
        Stage { world, browser: Browser::launch(settings).await.unwrap(), _home: home }
    }
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
