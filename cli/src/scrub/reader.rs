//! A browser that opens pages and reads them as an agent would.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use classifier::Detectors;
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::page_text::{Scrubbed, Scrubber, Withheld};
use portcullis::page_text::{mask_by_form, mask_page};
use portcullis::signals::outline::tidy;
use portcullis::signals::playwright::{Browser, BrowserSettings, Tab};
use portcullis::signals::{Container, Outline, TextGuard, TextWithheld};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::failure::Failure;

/// The host of pages from files.
pub const PAGE_HOST: &str = "page.test";

/// Serves pages from memory on loopback. It stops when it is dropped.
pub struct Served {
    pages: Arc<Mutex<HashMap<String, String>>>,
    pub port: u16,
    serving: tokio::task::JoinHandle<()>,
}

impl Served {
    pub async fn start() -> Result<Served, Failure> {
        let failed = |error: std::io::Error| Failure::NotSetUp(format!("no port on 127.0.0.1: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let pages: Arc<Mutex<HashMap<String, String>>> = Arc::default();
        let known = Arc::clone(&pages);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&known)));
            }
        });
        Ok(Served { pages, port, serving })
    }

    pub fn put(&self, path: &str, html: String) {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), html);
    }

    pub fn url(&self, path: &str) -> Result<Url, Failure> {
        let url = Url::parse(&format!("http://{PAGE_HOST}:{}{path}", self.port));
        url.map_err(|error| Failure::Input(error.to_string()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Answers one request; the browser notices a broken connection.
async fn answer(
    mut stream: tokio::net::TcpStream,
    pages: Arc<Mutex<HashMap<String, String>>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < 64 * 1024 {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or_default();
    let page = pages.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
    let (status, body) = page.map_or(("404 Not Found", String::new()), |page| ("200 OK", page));
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// A page as it was read.
pub struct Read {
    /// The text for the model.
    pub rendered: String,
    /// The page's text in it.
    pub words: String,
    /// The text that a person sees.
    pub seen: String,
    pub withheld: Vec<Withheld>,
    /// The duration of the reading, in milliseconds, after the page has loaded.
    pub ms: f64,
}

impl Read {
    pub fn withheld(&self) -> Vec<Value> {
        let one = |it: &Withheld| json!({ "why": super::why(it.why), "words": tidy(&it.words) });
        self.withheld.iter().map(one).collect()
    }
}

/// Scrubs and masks as a session without releases does, and stores the observed text.
struct Guard {
    scrubber: Scrubber,
    detectors: Detectors,
    last: Mutex<Option<(Scrubbed, String)>>,
}

impl TextGuard for Guard {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let mut rendered = self.scrubber.scrub(outline);
        rendered.text = mask_page(&rendered, &self.detectors);
        rendered.words = mask_by_form(&rendered.words, &self.detectors);
        let text = rendered.text.clone();
        *self.last.lock().map_err(|_| TextWithheld)? = Some((rendered, outline.seen.clone()));
        Ok(text)
    }
}

/// A browser with one container, which reaches the web through a proxy as a session's does, so that a page reaches
/// neither this machine nor its network.
pub struct Reader {
    browser: Browser,
    tab: Tab,
    _proxy: EgressProxy,
    guard: Guard,
}

impl Reader {
    /// Starts a browser. It reaches only the pages that `served` serves, or the whole web without it.
    pub async fn start(scrubber: Scrubber, served: Option<&Served>) -> Result<Reader, Failure> {
        let missing =
            "no Chromium was found; run `cargo xtask setup`, or set PORTCULLIS_CHROMIUM to its path";
        let chromium = discovery::chromium().map_err(|_| Failure::NotSetUp(missing.to_owned()))?.path;
        let mut settings = BrowserSettings::new(chromium);
        settings.sandbox = discovery::chromium_sandbox();
        if let Some(served) = served {
            settings.proxy_rules = Some(format!(
                "MAP {PAGE_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
            ));
            settings.private_hosts = vec![format!("{PAGE_HOST}:{}", served.port)];
        }
        let failed = |error: portcullis::signals::playwright::BridgeError| {
            Failure::NotSetUp(format!("the browser did not start: {error}"))
        };
        let proxy = EgressProxy::of(&settings, &[], &mut SystemEntropy).await;
        let proxy = proxy.map_err(|error| Failure::NotSetUp(error.to_string()))?;
        let browser = Browser::launch(settings).await.map_err(failed)?;
        let tab =
            browser.container_through(proxy.for_container(), Container::T0, &[]).await.map_err(failed)?;
        let detectors = Detectors::standard().map_err(|error| Failure::NotSetUp(error.to_string()))?;
        let guard = Guard { scrubber, detectors, last: Mutex::default() };
        Ok(Reader { browser, tab, _proxy: proxy, guard })
    }

    pub async fn read(&self, url: &Url) -> Result<Read, Failure> {
        let failed = |error| Failure::Input(format!("{url} cannot be read: {error}"));
        self.tab.open(url).await.map_err(failed)?;
        let start = Instant::now();
        let page = self.tab.read(&self.guard).await.map_err(failed)?;
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        let last = self.guard.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (rendered, seen) = last.unwrap_or_default();
        Ok(Read { rendered: page.text, words: rendered.words, seen, withheld: rendered.withheld, ms })
    }

    pub async fn stop(self) {
        self.tab.close().await;
        self.browser.close().await;
    }
}
