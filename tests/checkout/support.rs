//! Helpers of the checkout tests.
#![allow(dead_code, reason = "no test uses all of it")]

use std::sync::Arc;
use std::time::Duration;

use browser_signals::{
    Container, ContainerId, DocumentId, Fact, FrameId, Observed, Origin, Snapshot, TlsState,
};
use evaluation::mock_bank::MockBank;
use policy_dfa::{Consent, Event, Granted, History, Millis, Policy, Question, Task, Verdict, authority};
use portcullis::checkout::{Armed, Bank, Journal, MemoryJournal, PaymentHandler, Pending, PurchaseId};
use portcullis::vault::{Binding, SealedCard, Secret, Vault};
use sirl::{Claim, Currency, Field, FieldSet, Items, Kind, Money, Pointers, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A card number for tests that no other text of these tests contains.
pub const CARD: &str = "4929087263541806";

pub fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

pub fn shop() -> Origin {
    origin("https://shop.example")
}

pub fn usd(decimal: &str) -> Money {
    Money::parse(decimal, Currency::new("USD").unwrap()).unwrap()
}

pub fn sealed(payee: &Origin, amount: Money) -> SealedCard {
    sealed_number(CARD, payee, amount)
}

pub fn sealed_number(number: &str, payee: &Origin, amount: Money) -> SealedCard {
    let checked = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    let (mut decision, verifier) = authority(checked, [1; 16]);
    let mut entropy = |bytes: &mut [u8]| bytes.fill(9);
    let mut vault = Vault::ephemeral(&mut entropy, verifier);
    for (field, value) in [(Field::CardNumber, number), (Field::CardExpiry, "12/31")] {
        vault.insert("card:personal", field, Secret::new(value), &Binding::Anywhere, &mut entropy).unwrap();
    }
    let request = Request {
        kind: Kind::Purchase,
        fields: FieldSet::EMPTY,
        at: Pointers::default(),
        items: Items::default(),
        claim: Claim::default(),
    };
    let task = Task::new(vec![payee.clone()], vec![Kind::Purchase], Some(amount), Container::T2);
    let verdict = decision.decide(&Question {
        event: Event::Request { request: &request, placements: &[], amount: Some(amount) },
        page: Some(&seen(payee, 1)),
        task: &task,
        consent: Consent::Given,
        history: History::default(),
        safety: Fact::Unknown,
        now: Millis(1_000),
    });
    let Verdict::Grant(Granted::PaymentApi(grant)) = verdict else { panic!("not granted: {verdict:?}") };
    vault.open_payment(grant, &seen(payee, 2), Millis(1_001)).unwrap()
}

/// A simulated checkout page of `payee`.
fn seen(payee: &Origin, number: u64) -> Observed<Snapshot> {
    let document = Fact::Known(DocumentId::new("loader-1"));
    let page = Snapshot {
        container: Fact::Known(Container::T2),
        container_id: ContainerId::new("context-1"),
        frame: FrameId::new("frame-1"),
        document: document.clone(),
        top_document: document,
        origin: Fact::Known(payee.clone()),
        path: Fact::Known("/checkout".into()),
        top_origin: Fact::Known(payee.clone()),
        ancestors: Fact::Known(Vec::new()),
        tls: Fact::Known(TlsState::Valid),
        sandboxed: Fact::Known(false),
        secure_context: Fact::Known(true),
        form: None,
        destination: Fact::Unknown,
        sink: Fact::Unknown,
        target: None,
        controls: Vec::new(),
        words: Default::default(),
    };
    Observed::simulated(page, number)
}

/// A payment handler with its bank and journal.
pub struct Desk {
    pub bank: MockBank,
    pub journal: Arc<dyn Journal>,
    pub handler: PaymentHandler,
}

impl Desk {
    pub async fn open() -> Desk {
        let bank = MockBank::start().await.unwrap();
        let client = Arc::new(bank.client());
        Desk::with(bank, client, Arc::new(MemoryJournal::default())).await
    }

    pub async fn with(bank: MockBank, client: Arc<dyn Bank>, journal: Arc<dyn Journal>) -> Desk {
        let handler = PaymentHandler::start(client, journal.clone(), [0x5a; 32]).await.unwrap();
        Desk { bank, journal, handler }
    }

    pub fn arm(&self, id: u8, amount: Money) -> Armed {
        self.arm_for(id, &shop(), amount, Duration::from_secs(60))
    }

    pub fn arm_for(&self, id: u8, payee: &Origin, amount: Money, lasting: Duration) -> Armed {
        let pending = Pending::new(payee.clone(), payee.clone(), amount).lasting(lasting);
        self.handler.arm(pending, sealed(payee, amount), PurchaseId([id; 16])).unwrap()
    }
}

/// An answer of a server, as text.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The token, if the answer contains one.
    pub fn token(&self) -> Option<String> {
        let details: serde_json::Value = serde_json::from_str(&self.body).ok()?;
        Some(details.get("token")?.as_str()?.to_owned())
    }

    pub fn is_denied(&self) -> bool {
        self.status == 200 && self.body == r#"{"status":"denied"}"#
    }
}

/// Sends a request written out in full to the handler.
pub async fn send(handler: &PaymentHandler, request: &str) -> Answer {
    let mut connection = TcpStream::connect(("127.0.0.1", handler.origin().port())).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    connection.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("an HTTP answer");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// A request with these headers, `Host` and `Connection: close` among them, unless `headers` has a `Host`.
pub fn request(handler: &PaymentHandler, line: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text += &format!("Host: 127.0.0.1:{}\r\n", handler.origin().port());
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    text + "\r\n" + body
}

/// The headers with which Chromium fetches the worker's script.
pub const SCRIPT: [(&str, &str); 4] = [
    ("Service-Worker", "script"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Sec-Fetch-Mode", "same-origin"),
    ("Sec-Fetch-Dest", "serviceworker"),
];

/// The path that only the worker knows, read from the worker's script.
pub async fn authorize_path(handler: &PaymentHandler) -> String {
    let script = send(handler, &request(handler, "GET /sw.js", &SCRIPT, "")).await.body;
    let (_, rest) = script.split_once("const AUTHORIZE = \"").expect("the worker's script");
    rest.split_once('"').unwrap().0.to_owned()
}

/// The worker's request when `payee`, in a page of `top`, requests an amount.
pub fn question(payee: &str, top: &str, value: &str, currency: &str) -> String {
    serde_json::json!({
        "payment_request_origin": payee,
        "top_origin": top,
        "total": { "currency": currency, "value": value },
    })
    .to_string()
}

/// The headers of the worker's request.
pub fn worker_headers(own: &str) -> Vec<(&str, &str)> {
    vec![
        ("Origin", own),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "same-origin"),
        ("Sec-Fetch-Dest", "empty"),
        ("Content-Type", "application/json"),
    ]
}

/// Sends a request as the worker does.
pub async fn ask(handler: &PaymentHandler, body: &str) -> Answer {
    let own = handler.origin().to_string();
    let line = format!("POST {}", authorize_path(handler).await);
    send(handler, &request(handler, &line, &worker_headers(&own), body)).await
}

/// The request that matches a purchase of `amount` at [`shop`].
pub fn matching(amount: Money) -> String {
    question("https://shop.example/", "https://shop.example/", &amount.to_decimal(), amount.currency.as_str())
}
