//! The payment handler in a real Chromium, through the bridge: which pages get a payment.
//!
//! One test covers everything, since the launch of the browser costs more than all its steps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::*;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use browser_signals::playwright::{Browser, BrowserSettings, Tab};
use browser_signals::{Container, Origin};
use evaluation::mock_bank::MockBank;
use portcullis::checkout::{MemoryJournal, Outcome, PaymentHandler};
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use serde_json::Value;
use sirl::Money;
use tokio::sync::mpsc;

const PRICE: &str = "64.15";

/// A page that requests a payment as it loads, and sends its shop everything that it then sees.
const PAGE: &str = r#"<!doctype html><title>Checkout</title><h1>Checkout</h1><p id="state">waiting</p><script>
(async () => {
  const report = { value: "VALUE" };
  try {
    const total = { label: "Total", amount: { currency: "USD", value: "VALUE" } };
    const request = new PaymentRequest([{ supportedMethods: "METHOD" }], { total });
    const response = await request.show();
    await response.complete("success");
    report.details = response.details;
    document.getElementById("state").textContent = JSON.stringify(response);
  } catch (error) {
    report.error = error.name;
  }
  report.page = document.documentElement.outerHTML + JSON.stringify(performance.getEntries());
  await fetch("/result", { method: "POST", body: JSON.stringify(report) });
})();
</script>"#;

struct Shop {
    method: String,
    bank: MockBank,
    results: mpsc::UnboundedSender<Value>,
}

/// The shop's own back end: it redeems each token for its own price, in its own name.
async fn result(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: String) -> Json<()> {
    let mut report: Value = serde_json::from_str(&body).unwrap();
    let host = headers[header::HOST].to_str().unwrap();
    if let Some(token) = report["details"]["token"].as_str() {
        let paid = shop.bank.redeem(token, &origin(&format!("http://{host}")), usd(PRICE));
        report["redeemed"] = Value::from(paid.is_ok());
    }
    shop.results.send(report).unwrap();
    Json(())
}

async fn page(State(shop): State<Arc<Shop>>, Query(query): Query<HashMap<String, String>>) -> Html<String> {
    Html(match query.get("frame") {
        Some(address) => format!("<!doctype html><iframe src=\"{address}\" allow=\"payment\"></iframe>"),
        None => PAGE.replace("VALUE", &query["value"]).replace("METHOD", &shop.method),
    })
}

struct Scene {
    shop: Arc<Shop>,
    port: u16,
    results: mpsc::UnboundedReceiver<Value>,
    tab: Tab,
    _proxy: EgressProxy,
    seen: Arc<Mutex<String>>,
}

impl Scene {
    fn origin(&self, name: &str) -> Origin {
        origin(&format!("http://{name}.localhost:{}", self.port))
    }

    /// Opens a page that requests a payment, and returns its result.
    async fn visit(&mut self, path: &str, name: &str) -> Value {
        let address = format!("{}{path}", self.origin(name));
        self.tab.open(&address.parse().unwrap()).await.unwrap();
        let report = tokio::time::timeout(Duration::from_secs(90), self.results.recv()).await;
        let report = report.expect("the payment interface hangs").unwrap();
        assert!(!report.to_string().contains(CARD));
        self.seen.lock().unwrap().push_str(&report.to_string());
        report
    }

    async fn asks(&mut self, name: &str, value: &str) -> Value {
        self.visit(&format!("/pay?value={value}"), name).await
    }

    /// The same while the browser's permission for the handler is open.
    async fn is_let_ask(&mut self, path: &str, name: &str) -> Result<Value, NotLet> {
        let report = self.visit(path, name).await;
        if report["error"] == "NotSupportedError" { Err(NotLet) } else { Ok(report) }
    }
}

/// The error where Chromium returns `NotSupportedError`, as it sometimes does, to a page with the permission.
struct NotLet;

fn is_denied(report: &Value) -> bool {
    report["details"] == serde_json::json!({ "status": "denied" })
}

fn chromium() -> BrowserSettings {
    let path = std::env::var("PORTCULLIS_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into());
    let mut settings = BrowserSettings::new(path);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        settings.sandbox = std::fs::metadata("/proc/self").map_or(true, |me| me.uid() != 0);
    }
    settings
}

async fn stage(bank: MockBank, handler: &PaymentHandler) -> (Scene, Browser) {
    let (sender, results) = mpsc::unbounded_channel();
    let shop = Arc::new(Shop { method: handler.method_url(), bank, results: sender });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router =
        Router::new().route("/pay", get(page)).route("/result", post(result)).with_state(shop.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let seen = Arc::new(Mutex::new(String::new()));
    let tap = seen.clone();
    let mut settings = chromium();
    settings.proxy_rules = Some("MAP *.localhost 127.0.0.1".into());
    settings.private_hosts = ["shop", "evil"].map(|name| format!("{name}.localhost:{port}")).into();
    settings.tap = Some(Arc::new(move |message: &str| tap.lock().unwrap().push_str(message)));
    let browser = Browser::start(settings).await.expect("run `cargo xtask setup` first");
    let proxy = EgressProxy::of(browser.settings(), &[handler.origin()], &mut SystemEntropy).await.unwrap();
    let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await.unwrap();
    (Scene { shop, port, results, tab, _proxy: proxy, seen }, browser)
}

/// The number of attempts, each in another browser, where Chromium did not let the page request a payment.
const ATTEMPTS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_in_a_real_browser() {
    for _ in 0..ATTEMPTS {
        if purchase().await.is_ok() {
            return;
        }
        eprintln!("once more, since the page was not let pay");
    }
    panic!("{ATTEMPTS} browsers did not let the page pay");
}

async fn purchase() -> Result<(), NotLet> {
    let bank = MockBank::start().await.unwrap();
    let client = Arc::new(bank.client());
    let journal = Arc::new(MemoryJournal::default());
    let handler = PaymentHandler::start(client, journal, [0x77; 32]).await.unwrap();
    let (mut scene, browser) = stage(bank, &handler).await;
    let price: Money = usd(PRICE);
    let shop = scene.origin("shop");
    let pending = portcullis::checkout::Pending::new(shop.clone(), shop.clone(), price);
    let arm = |id: u8| {
        let id = portcullis::checkout::PurchaseId([id; 16]);
        handler.arm(pending.clone(), sealed(&shop, price), id).unwrap()
    };

    // The permission is closed by default, also while a purchase is armed.
    let armed = arm(1);
    assert_eq!(scene.asks("shop", PRICE).await["error"], "NotSupportedError");

    // While it is open, only this page gets a payment, and only for this amount.
    scene.tab.payment_permission(&handler.origin(), true).await.unwrap();
    let pay = |value: &str| format!("/pay?value={value}");
    assert!(is_denied(&scene.is_let_ask(&pay(PRICE), "evil").await?), "another origin");
    for raised in ["64.16", "641.5", "6415.00"] {
        assert!(is_denied(&scene.is_let_ask(&pay(raised), "shop").await?), "{raised}");
    }
    let framed = format!("/pay?frame={shop}/pay%3Fvalue={PRICE}");
    assert!(is_denied(&scene.is_let_ask(&framed, "evil").await?), "the shop in a foreign frame");
    let framed = format!("/pay?frame={}/pay%3Fvalue={PRICE}", scene.origin("evil"));
    assert!(is_denied(&scene.is_let_ask(&framed, "shop").await?), "a foreign frame in the shop");
    assert!(scene.shop.bank.ledger().is_empty(), "the bank was asked");

    // The right page gets it once.
    let report = scene.is_let_ask(&pay(PRICE), "shop").await?;
    assert_eq!(
        (&report["details"]["status"], &report["redeemed"]),
        (&"success".into(), &true.into()),
        "{report}"
    );
    let outcome = armed.outcome(Duration::from_secs(60)).await;
    assert_eq!(outcome, Outcome::Paid { amount: price, card: "card:personal".into() });
    assert!(is_denied(&scene.is_let_ask(&pay(PRICE), "shop").await?), "replay");

    // It is closed again, also for the page that was just paid.
    scene.tab.payment_permission(&handler.origin(), false).await.unwrap();
    let armed = arm(2);
    assert_eq!(scene.asks("shop", PRICE).await["error"], "NotSupportedError");
    assert_eq!(armed.outcome(Duration::from_millis(50)).await, Outcome::Unasked);

    let ledger = scene.shop.bank.ledger();
    assert_eq!((ledger.len(), ledger[0].asked, ledger[0].charges), (1, 1, 1));
    assert!(scene.shop.bank.knows_card(CARD));
    let seen = scene.seen.lock().unwrap().clone();
    assert!(seen.contains("Checkout"), "the tap saw nothing");
    for form in [CARD.to_owned(), format!("{} {}", &CARD[..4], &CARD[4..8]), CARD[8..].to_owned()] {
        assert!(!seen.contains(&form), "the card reached the browser");
    }
    browser.close().await;
    Ok(())
}
