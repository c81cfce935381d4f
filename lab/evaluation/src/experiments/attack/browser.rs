//! A browser with a CDP endpoint: one that we start, or one that is running. Tabs are opened through its HTTP
//! interface.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use url::{Host, Url};

use crate::trials::stage::{chromium, sandbox};

/// The time limit for a browser's start and for a page load.
const PATIENCE: Duration = Duration::from_secs(60);

/// The reason why there is no browser.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// There is no Chromium.
    #[error("no Chromium was found: install it, or set PORTCULLIS_CHROMIUM")]
    NoChromium,
    /// It does not start.
    #[error("{program} does not start a debugging port within {} s: {why}", PATIENCE.as_secs())]
    Start {
        /// Its program.
        program: PathBuf,
        /// The error.
        why: String,
    },
    /// The address is not on this machine.
    #[error(
        "`{0}` is not an http address of this machine, such as http://127.0.0.1:9222; other machines are not attacked"
    )]
    NotHere(String),
    /// The endpoint does not answer.
    #[error("{url} does not answer as a browser does: {why}")]
    Silent {
        /// The endpoint.
        url: String,
        /// The error.
        why: String,
    },
    /// The browser does not resolve the evaluation's hosts.
    #[error(
        "the browser at {0} does not show {1}: it was not started for this run, or does not trust its certificates"
    )]
    NotJoined(String, String),
}

/// A browser's CDP endpoint on this machine.
pub struct Endpoint {
    url: String,
    authority: String,
    /// The browser, if we started it; it ends with this.
    _process: Option<Child>,
    _profile: Option<tempfile::TempDir>,
}

impl Endpoint {
    /// Starts Chromium with a debugging port on 127.0.0.1. It is for an agent that is attacked, and has no guard.
    pub(super) async fn start(home: &Path, host_rules: &str) -> Result<Endpoint, BrowserError> {
        let program = chromium().ok_or(BrowserError::NoChromium)?;
        let failed = |why: String| BrowserError::Start { program: program.clone(), why };
        let profile = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(&program);
        command
            .arg("--headless=new")
            .arg("--remote-debugging-port=0")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--host-resolver-rules={host_rules}"))
            .args(["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "about:blank"]);
        if !sandbox() {
            command.arg("--no-sandbox");
        }
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.kill_on_drop(true).spawn().map_err(|error| failed(error.to_string()))?;
        let said = profile.path().join("DevToolsActivePort");
        let until = tokio::time::Instant::now() + PATIENCE;
        let port = loop {
            let text = std::fs::read_to_string(&said).unwrap_or_default();
            if let Some(port) = text.lines().next().and_then(|line| line.parse::<u16>().ok()) {
                break port;
            }
            if tokio::time::Instant::now() > until {
                return Err(failed("it says no port".to_owned()));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let authority = format!("127.0.0.1:{port}");
        let url = format!("http://{authority}");
        Ok(Endpoint { url, authority, _process: Some(process), _profile: Some(profile) })
    }

    /// A browser that runs on this machine.
    pub(super) fn join(text: &str) -> Result<Endpoint, BrowserError> {
        let not_here = || BrowserError::NotHere(text.to_owned());
        let url = Url::parse(text).map_err(|_| not_here())?;
        let here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        match (here && url.scheme() == "http", url.port_or_known_default()) {
            (true, Some(port)) => {
                let authority = format!("{}:{port}", url.host_str().unwrap_or_default());
                Ok(Endpoint { url: format!("http://{authority}"), authority, _process: None, _profile: None })
            }
            _ => Err(not_here()),
        }
    }

    /// The endpoint's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the browser shows a page of the evaluation: it answers, resolves the hosts and trusts the authority.
    pub(super) async fn reaches(&self, origin: &str) -> Result<(), BrowserError> {
        let until = tokio::time::Instant::now() + PATIENCE;
        let tab = self.open(origin).await?;
        loop {
            let title = self.tabs().await?.into_iter().find(|one| one.id == tab).map(|one| one.title);
            match title.as_deref() {
                // The servers answer this outside a trial.
                Some("Not found") => break,
                _ if tokio::time::Instant::now() > until => {
                    return Err(BrowserError::NotJoined(self.url.clone(), origin.to_owned()));
                }
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
        Ok(())
    }

    /// Opens a tab and returns its id.
    pub(super) async fn open(&self, url: &str) -> Result<String, BrowserError> {
        let said = self.ask(Method::PUT, &format!("/json/new?{url}")).await?;
        let tab: Value = serde_json::from_slice(&said).unwrap_or_default();
        tab.get("id")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| self.silent("no tab was opened"))
    }

    /// Closes the pages that a task left, so that the next one starts with its own page only. A browser without any
    /// page may end.
    pub(super) async fn close_all_but_one(&self, tab: &str) {
        let tabs = self.tabs().await.unwrap_or_default();
        let Ok(blank) = self.open("about:blank").await else { return };
        for other in tabs.iter().map(|one| one.id.as_str()).chain([tab]).filter(|id| *id != blank) {
            let _already_gone = self.ask(Method::GET, &format!("/json/close/{other}")).await;
        }
    }

    async fn tabs(&self) -> Result<Vec<Tab>, BrowserError> {
        let said = self.ask(Method::GET, "/json/list").await?;
        let listed: Value = serde_json::from_slice(&said).unwrap_or_default();
        let text =
            |tab: &Value, key: &str| tab.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let pages = listed.as_array().into_iter().flatten().filter(|tab| text(tab, "type") == "page");
        Ok(pages.map(|tab| Tab { id: text(tab, "id"), title: text(tab, "title") }).collect())
    }

    async fn ask(&self, method: Method, path: &str) -> Result<Bytes, BrowserError> {
        let silent = |error: &dyn std::fmt::Display| self.silent(&error.to_string());
        let stream = TcpStream::connect(&self.authority).await.map_err(|error| silent(&error))?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| silent(&error))?;
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri(path).header("host", &self.authority);
        let request = request.body(axum::body::Body::empty()).map_err(|error| silent(&error))?;
        let answered = tokio::time::timeout(PATIENCE, sender.send_request(request)).await;
        let response = answered.map_err(|error| silent(&error))?.map_err(|error| silent(&error))?;
        let body = axum::body::Body::new(response.into_body());
        axum::body::to_bytes(body, 1 << 20).await.map_err(|error| silent(&error))
    }

    fn silent(&self, why: &str) -> BrowserError {
        BrowserError::Silent { url: self.url.clone(), why: why.to_owned() }
    }
}

struct Tab {
    id: String,
    title: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_on_other_machines_are_refused() {
        for here in ["http://127.0.0.1:9222", "http://localhost:9222/", "http://[::1]:9222"] {
            assert!(Endpoint::join(here).is_ok(), "{here}");
        }
        for other in [
            "http://192.168.1.7:9222",
            "http://example.org:9222",
            "https://127.0.0.1:9222",
            "http://localhost.example.org:9222",
            "ws://127.0.0.1:9222/devtools",
            "9222",
        ] {
            assert!(matches!(Endpoint::join(other), Err(BrowserError::NotHere(_))), "{other}");
        }
    }
}
