//! A wallet without a guard: it pays every request in full, as often as it is asked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use evaluation::mock_bank::MockBank;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A card of the person without a guard.
const CARD: &str = "4111111111111111";

const ICON: &[u8] = include_bytes!("../../../../src/checkout/icon.png");
const WORKER: &str = include_str!("pages/wallet.js");

/// The bank that the wallet uses.
struct Bank {
    address: SocketAddr,
    secret: String,
    payments: AtomicU64,
}

/// Opens the wallet at a bank, and returns the payment method by which pages request it.
pub async fn open(bank: &MockBank) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let method = format!("http://{}/pay", listener.local_addr().unwrap());
    let bank =
        Bank { address: bank.address(), secret: bank.secret().to_owned(), payments: AtomicU64::default() };
    let link = "</payment.json>; rel=\"payment-method-manifest\"";
    let typed = |kind: &'static str, text: &'static str| get(move || async move { served(kind, text) });
    let app = r#"{"name":"Wallet","short_name":"Wallet","icons":[{"src":"/icon.png","sizes":"128x128","type":"image/png"}],"serviceworker":{"src":"/sw.js","scope":"/","use_cache":false}}"#;
    let router = Router::new()
        .route("/pay", get(move || async move { ([(header::LINK, link)], "") }))
        .route("/payment.json", typed("application/json", r#"{"default_applications":["/app.json"]}"#))
        .route("/app.json", typed("application/manifest+json", app))
        .route("/sw.js", typed("text/javascript", WORKER))
        .route("/icon.png", get(|| async { ([(header::CONTENT_TYPE, "image/png")], ICON) }))
        .route("/authorize", post(authorize))
        .with_state(Arc::new(bank));
    tokio::spawn(async move { axum::serve(listener, router).await });
    method
}

fn served(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// As many tokens as the page asked for, each for the total.
async fn authorize(State(bank): State<Arc<Bank>>, body: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let mut tokens = Vec::new();
    for _ in 0..asked["times"].as_u64().unwrap() {
        let number = bank.payments.fetch_add(1, Ordering::Relaxed);
        let payment = json!({
            "key": format!("wallet-{number}"),
            "card": CARD,
            "payee": asked["payee"].as_str().unwrap().trim_end_matches('/'),
            "amount": asked["total"]["value"],
            "currency": asked["total"]["currency"],
        });
        tokens.push(bank.pay(&payment.to_string()).await["token"].take());
    }
    axum::Json(json!({ "status": "success", "tokens": tokens })).into_response()
}

impl Bank {
    async fn pay(&self, body: &str) -> Value {
        let mut connection = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "POST /authorize HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            self.secret,
            body.len()
        );
        connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}
