//! A browser that opens pages from the web or from this machine as a session does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::signals::Container;
use portcullis::signals::playwright::{BridgeError, Browser, BrowserSettings, Tab};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use crate::failure::Failure;

/// The host of pages from files.
pub const PAGE_HOST: &str = "page.test";

/// A page in memory, and whether its scripts run.
#[derive(Clone)]
struct Page {
    html: String,
    runs: bool,
}

/// Serves pages from memory on loopback. It stops when it is dropped.
pub struct Served {
    pages: Arc<Mutex<HashMap<String, Page>>>,
    pub port: u16,
    serving: tokio::task::JoinHandle<()>,
}

impl Served {
    pub async fn start() -> Result<Served, Failure> {
        let failed = |error: std::io::Error| Failure::NotSetUp(format!("no port on 127.0.0.1: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let pages: Arc<Mutex<HashMap<String, Page>>> = Arc::default();
        let known = Arc::clone(&pages);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&known)));
            }
        });
        Ok(Served { pages, port, serving })
    }

    pub fn put(&self, path: &str, html: String) {
        self.keep(path, Page { html, runs: true });
    }

    /// Serves a page whose scripts do not run, as it was saved.
    pub fn put_still(&self, path: &str, html: String) {
        self.keep(path, Page { html, runs: false });
    }

    fn keep(&self, path: &str, page: Page) {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), page);
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
    pages: Arc<Mutex<HashMap<String, Page>>>,
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
    let (status, body, runs) =
        page.map_or(("404 Not Found", String::new(), true), |page| ("200 OK", page.html, page.runs));
    let policy = if runs { "" } else { "Content-Security-Policy: script-src 'none'\r\n" };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n{policy}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// A browser with one container, which reaches the web through a proxy as a session's does, so that a page reaches
/// neither this machine nor its network.
pub struct OpenBrowser {
    browser: Browser,
    pub tab: Tab,
    _proxy: EgressProxy,
}

impl OpenBrowser {
    /// Starts a browser. It reaches only the pages that `served` serves, or the whole web without it, and of this machine and its
    /// network the named hosts.
    pub async fn start(served: Option<&Served>, private_hosts: &[String]) -> Result<OpenBrowser, Failure> {
        let missing =
            "no Chromium was found; run `cargo xtask setup`, or set PORTCULLIS_CHROMIUM to its path";
        let chromium = discovery::chromium().map_err(|_| Failure::NotSetUp(missing.to_owned()))?.path;
        let mut settings = BrowserSettings::new(chromium);
        settings.sandbox = discovery::chromium_sandbox();
        settings.private_hosts = private_hosts.to_vec();
        if let Some(served) = served {
            settings.proxy_rules = Some(format!(
                "MAP {PAGE_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
            ));
            settings.private_hosts.push(format!("{PAGE_HOST}:{}", served.port));
        }
        let failed = |error: BridgeError| Failure::NotSetUp(format!("the browser did not start: {error}"));
        let proxy = EgressProxy::of(&settings, &[], &mut SystemEntropy).await;
        let proxy = proxy.map_err(|error| Failure::NotSetUp(error.to_string()))?;
        let browser = Browser::start(settings).await.map_err(failed)?;
        let tab =
            browser.container_through(proxy.for_container(), Container::T0, &[]).await.map_err(failed)?;
        Ok(OpenBrowser { browser, tab, _proxy: proxy })
    }

    pub async fn open(&self, url: &Url) -> Result<(), Failure> {
        self.tab.open(url).await.map_err(|error| Failure::Input(format!("{url} cannot be opened: {error}")))
    }

    pub async fn stop(self) {
        self.tab.close().await;
        self.browser.close().await;
    }
}
