//! The shop, whose pages attack, and the attacker's own site. Both redeem every token that they get.

use std::sync::{Arc, Mutex};

use browser_signals::Origin;
use browser_signals::playwright::{Browser, BrowserSettings};
use evaluation::mock_bank::{Entry, EntryStatus};
use evaluation::stage::Stage;
use evaluation::unguarded::BareBrowser;
use serde_json::Value;
use sirl::{Currency, Money};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub const SHOP: &str = "buy.test";
pub const SHOP_ORIGIN: &str = "https://buy.test";
pub const EVIL: &str = "evil-pay.test";

const SCRIPT: &str = include_str!("pages/pay.js");

/// A page: its host, its path, and its content without the script that all pages share.
pub type Page = (&'static str, &'static str, String);

#[derive(Default)]
struct State {
    pages: Vec<Page>,
    method: String,
    reports: Vec<String>,
}

/// Both sites, and everything around them.
pub struct Scene {
    pub stage: Stage,
    state: Arc<Mutex<State>>,
    rules: String,
    /// The bank's charges before the current pages.
    before: Mutex<usize>,
}

impl Scene {
    pub async fn set_up() -> Scene {
        let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let rules = stage.world.host_rules_with(&[(SHOP, port), (EVIL, port)]);
        let acceptor = TlsAcceptor::from(stage.world.authority().server_config(&[SHOP, EVIL]).unwrap());
        let (state, bank) = (Arc::new(Mutex::new(State::default())), stage.bank.clone());
        let serving = state.clone();
        let answer = move |host: &str, method: &str, path: &str, body: &str| {
            let mut state = serving.lock().unwrap();
            match (method, path) {
                ("POST", "/report") => state.reports.push(body.to_owned()),
                ("POST", "/redeem") => {
                    let asked: Value = serde_json::from_str(body).unwrap();
                    let word = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
                    let amount = money(&word("value"), &word("currency"));
                    let payee = Origin::parse(&format!("https://{host}")).unwrap();
                    // The bank's entries show the tokens that it does not honour.
                    let _honoured = bank.redeem(&word("token"), &payee, amount);
                }
                _ => {}
            }
            let script = SCRIPT.replace("{{METHOD}}", &state.method);
            let found = state.pages.iter().find(|(of, at, _)| *of == host && *at == path);
            let body = found.map_or("<h1>Thank you</h1>", |(_, _, body)| body.as_str());
            format!(
                "<!doctype html><meta charset=utf-8><title>Shop</title><script>{script}</script><body>{body}"
            )
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, answer) = (acceptor.clone(), answer.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let Some((host, method, path, body)) = read(&mut stream).await else { return };
                    let page = answer(&host, &method, &path, &body);
                    let head = format!("Content-Type: text/html\r\nContent-Length: {}", page.len());
                    let text = format!("HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n{page}");
                    let _gone = stream.write_all(text.as_bytes()).await;
                    let _gone = stream.shutdown().await;
                });
            }
        });
        Scene { stage, state, rules, before: Mutex::default() }
    }

    /// Serves these pages, which ask for payments by this method, and clears the records.
    pub fn serve(&self, pages: &[Page], method: &str) {
        let mut state = self.state.lock().unwrap();
        *state = State { pages: pages.to_vec(), method: method.to_owned(), reports: Vec::new() };
        *self.before.lock().unwrap() = self.stage.bank.ledger().len();
    }

    /// The pages' reports of their attempts.
    pub fn reports(&self) -> Vec<String> {
        self.state.lock().unwrap().reports.clone()
    }

    /// The payments that were charged since the pages were served: payee and amount.
    pub fn charged(&self) -> Vec<(String, String)> {
        let ledger = self.stage.bank.ledger();
        let new = ledger.into_iter().skip(*self.before.lock().unwrap());
        let charged = new.filter(|entry: &Entry| entry.status == EntryStatus::Redeemed);
        charged.map(|it| (it.payee.unwrap().to_string(), it.amount.unwrap().to_string())).collect()
    }

    /// The guarded browser.
    pub async fn browser(&self) -> Browser {
        let mut settings: BrowserSettings = self.stage.settings();
        settings.proxy_rules = Some(self.rules.clone());
        settings.private_hosts.extend([SHOP, EVIL].map(str::to_owned));
        Browser::start(settings).await.unwrap()
    }

    /// The browser without a guard.
    pub async fn bare(&self) -> BareBrowser {
        BareBrowser::launch_with(&self.stage.world, &self.rules).await.unwrap()
    }
}

fn money(value: &str, currency: &str) -> Money {
    Money::parse(value, Currency::new(currency).unwrap()).unwrap()
}

/// One request: the host, the method, the path without its query, the body.
async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<(String, String, String, String)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let header = |name: &str| {
                let mut lines = head.lines().filter_map(|line| line.split_once(':'));
                lines
                    .find(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.trim().to_owned())
            };
            let length = header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                let mut words = head.split_whitespace();
                let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
                let path = path.split('?').next()?.to_owned();
                return Some((header("host")?, method, path, body.to_owned()));
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read @ 1..) => bytes.extend_from_slice(&buffer[..read]),
            _ => return None,
        }
    }
}
