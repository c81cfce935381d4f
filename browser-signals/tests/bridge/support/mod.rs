//! A tiny page server and a browser for the tests of the bridge.

#![allow(dead_code, reason = "each test uses a part")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says what it expects"
)]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser_signals::playwright::{
    Browser, BrowserSettings, ContainerProxy, ObservationTarget, PageEvent, Tab,
};
use browser_signals::{Container, ElementRef, Observed, Origin, Outline, Snapshot, TextGuard, TextWithheld};

/// The longest wait for an expected event on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The tab's events since the last call: waits until they satisfy `wanted` or a minute has passed, and a moment longer for
/// unexpected ones.
pub async fn events_with(tab: &Tab, wanted: impl Fn(&[PageEvent]) -> bool) -> Vec<PageEvent> {
    let began = Instant::now();
    let mut all = tab.events();
    while !wanted(&all) && began.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK_AGAIN).await;
        all.extend(tab.events());
    }
    tab.wait(150).await;
    all.extend(tab.events());
    all
}

/// The text for the model, once it contains these words, or after a minute.
pub async fn text_with(tab: &Tab, words: &str) -> String {
    let began = Instant::now();
    loop {
        let text = tab.read(&Open).await.expect("text").text;
        if text.contains(words) || began.elapsed() > PATIENCE {
            return text;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// The page for which a server takes the request and never answers. Behind the beginning of an answer: it sends this and no more.
pub const NEVER: &str = "NEVER";

/// What begins a page for which a server takes its time.
pub const LATE: &str = "LATE";

const LATE_BY: Duration = Duration::from_millis(400);

/// Serves fixed pages under any host name, and records every request. It is also the proxy of the containers, so it answers
/// for every host.
#[derive(Clone)]
pub struct Server {
    pub port: u16,
    proxy: ContainerProxy,
    credential: String,
    pages: Arc<Mutex<HashMap<String, String>>>,
    requests: Arc<Mutex<Vec<Received>>>,
}

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub host: String,
    pub path: String,
    pub body: String,
    pub cookie: String,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let proxy = ContainerProxy::new(address, "bridge".to_owned().into(), "greeting");
        let credential = format!("Basic {}", STANDARD.encode(proxy.credential().as_bytes()));
        let server = Server {
            port: address.port(),
            proxy,
            credential,
            pages: Arc::default(),
            requests: Arc::default(),
        };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.answer(stream));
            }
        });
        server
    }

    /// Serves `body` under `host` and `path`. One that begins with `HTTP/` is a whole answer; `RECEIVED` in it is
    /// replaced by the body of the request. [`NEVER`] is no answer at all.
    pub fn page(&self, host: &str, path: &str, body: &str) {
        let body = body.replace("PORT", &self.port.to_string());
        self.pages.lock().expect("pages").insert(format!("{host}{path}"), body);
    }

    pub fn requests(&self) -> Vec<Received> {
        self.requests.lock().expect("requests").clone()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.requests.lock().expect("requests").clear();
    }

    /// The requests, once they satisfy the condition, or after a minute.
    pub async fn requests_with(&self, wanted: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let began = Instant::now();
        loop {
            let all = self.requests();
            if wanted(&all) || began.elapsed() > PATIENCE {
                return all;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    pub fn url(&self, host: &str, path: &str) -> url::Url {
        format!("http://{host}:{}{path}", self.port).parse().expect("an address")
    }

    pub fn origin(&self, host: &str) -> Origin {
        Origin::of(&self.url(host, "/")).expect("an origin")
    }

    /// The proxy of a container, which is this server.
    pub fn proxy(&self) -> &ContainerProxy {
        &self.proxy
    }

    fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let header = |name: &str| {
            head.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        let length: usize = header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        let mut words = head.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let has_password = header("proxy-authorization").as_deref() == Some(self.credential.as_str());
        if method == "CONNECT" && has_password {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
            return self.answer(stream);
        }
        let path = match path.strip_prefix("http://").and_then(|rest| rest.split_once('/')) {
            None => path,
            Some(_) if !has_password => {
                let ask = "Proxy-Authenticate: Basic realm=\"container\"\r\nContent-Length: 0";
                let ask = format!(
                    "HTTP/1.1 407 Proxy Authentication Required\r\n{ask}\r\nConnection: close\r\n\r\n"
                );
                return stream.write_all(ask.as_bytes()).ok();
            }
            Some((host, _)) if host == self.proxy.greeting() => {
                return stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").ok();
            }
            Some((_, path)) => format!("/{path}"),
        };
        let host = header("host").unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
        let key = format!("{host}{}", path.split('?').next().unwrap_or_default());
        let body = String::from_utf8_lossy(&body).into_owned();
        let found = self.pages.lock().expect("pages").get(&key).map(|page| page.replace("RECEIVED", &body));
        let cookie = header("cookie").unwrap_or_default();
        self.requests.lock().expect("requests").push(Received { method, host, path, body, cookie });
        if let Some(begun) = found.as_deref().and_then(|page| page.strip_suffix(NEVER)) {
            stream.write_all(begun.as_bytes()).ok()?;
            let _for_ever = stream.read(&mut byte);
            return None;
        }
        let found = found.map(|page| match page.strip_prefix(LATE) {
            Some(late) => {
                std::thread::sleep(LATE_BY);
                late.to_owned()
            }
            None => page,
        });
        let reply = match found {
            Some(page) if page.starts_with("HTTP/") => page,
            Some(page) => format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            ),
            None => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned(),
        };
        stream.write_all(reply.as_bytes()).ok()
    }
}

/// Lets every text pass.
pub struct Open;

impl TextGuard for Open {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        Ok(outline.unfiltered())
    }
}

/// Lets no text pass.
pub struct Shut;

impl TextGuard for Shut {
    fn guard(&self, _: &Outline) -> Result<String, TextWithheld> {
        Err(TextWithheld)
    }
}

pub const HOSTS: [&str; 3] = ["shop.example", "pay.example", "evil.example"];

/// The settings with which the tests start a browser.
pub fn settings(server: &Server) -> BrowserSettings {
    for name in ["PLAYWRIGHT_NODE_EXE", "PLAYWRIGHT_CLI_JS"] {
        assert!(
            std::env::var_os(name).is_some(),
            "{name} is not set: run `cargo xtask test`, or set it to Node and to playwright-core's cli.js"
        );
    }
    let chromium = std::env::var_os("PORTCULLIS_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let chromium = PathBuf::from(chromium);
    assert!(chromium.exists(), "no Chromium at {}: set PORTCULLIS_CHROMIUM", chromium.display());
    let mut settings = BrowserSettings::new(chromium);
    settings.sandbox = false;
    settings.private_hosts = HOSTS.iter().map(|host| format!("{host}:{}", server.port)).collect();
    settings
}

/// A browser as the product starts it: on a pipe, where the system has one.
#[cfg(all(feature = "pipe", unix))]
pub async fn launch_with(settings: BrowserSettings) -> Browser {
    Browser::launch_on_pipe(settings).await.expect("the browser starts")
}

#[cfg(not(all(feature = "pipe", unix)))]
pub async fn launch_with(settings: BrowserSettings) -> Browser {
    Browser::launch(settings).await.expect("the browser starts")
}

/// Such a browser with the settings of the tests.
pub async fn launch(server: &Server) -> Browser {
    launch_with(settings(server)).await
}

/// A browser that Playwright's server starts.
pub async fn launch_by_playwright(server: &Server) -> Browser {
    Browser::launch(settings(server)).await.expect("the browser starts")
}

/// A container of the given tier for the shop and the payment provider.
pub async fn tab(browser: &Browser, server: &Server, tier: Container) -> Tab {
    let task = [server.origin("shop.example"), server.origin("pay.example")];
    browser.container_through(server.proxy(), tier, &task).await.expect("a container")
}

/// Reads the page and observes the element whose line holds `needle`.
pub async fn about(tab: &Tab, needle: &str) -> (ElementRef, Observed<Snapshot>) {
    let target = ref_of(&tab.read(&Open).await.expect("text").text, needle);
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    (target, seen)
}

/// The ref on the first line that holds `needle`.
pub fn ref_of(text: &str, needle: &str) -> ElementRef {
    let line = text
        .lines()
        .find(|line| line.contains(needle) && line.contains("[ref="))
        .unwrap_or_else(|| panic!("no {needle} in\n{text}"));
    let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no ref in {line}"));
    ElementRef(rest.split(']').next().expect("a ref").to_owned())
}

/// Everything that the browser sent to the bridge.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// The first message that contains `needle`, in plain text or in base64 at any alignment.
    pub fn holds(&self, needle: &str) -> Option<String> {
        let forms: Vec<String> =
            (0..3).map(|skip| base64_core(needle, skip)).chain([needle.to_owned()]).collect();
        let heard = self.0.lock().expect("messages");
        heard.iter().find(|message| forms.iter().any(|form| message.contains(form))).cloned()
    }

    pub fn forget(&self) {
        self.0.lock().expect("messages").clear();
    }
}

/// The part of `text` in base64 that does not depend on the surrounding bytes, with `skip` bytes before it.
fn base64_core(text: &str, skip: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = text.as_bytes().get((3 - skip) % 3..).unwrap_or_default();
    let mut out = String::new();
    for chunk in bytes.chunks_exact(3) {
        let group = chunk.iter().fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
        out.extend((0..4).map(|at| char::from(ALPHABET[group >> (18 - 6 * at) & 63])));
    }
    out
}

/// A browser whose messages are all recorded.
pub async fn launch_listening(server: &Server) -> (Browser, Heard) {
    let (mut settings, heard) = (settings(server), Heard::default());
    let recorded = heard.clone();
    settings.tap = Some(Arc::new(move |message: &str| {
        recorded.0.lock().expect("messages").push(message.to_owned());
    }));
    (Browser::launch(settings).await.expect("the browser starts"), heard)
}
