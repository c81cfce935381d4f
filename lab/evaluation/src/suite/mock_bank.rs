//! A mock bank, since no real bank can take part.
//!
//! It listens on the loopback address, so that it outlives a guard that is killed, and keeps its entries in memory. It
//! authorises every card of at least twelve digits but [`DECLINED_CARD`], and moves no money. The guard talks to it
//! over HTTP as it would to a payment provider, and authenticates with a secret that the bank issued; a shop redeems
//! tokens with [`MockBank::redeem`].

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use axum::{Json, Router};
use browser_signals::Origin;
use portcullis::checkout::{Bank, BankAnswer, BankError, BankStatus, IdempotencyKey, Token};
use portcullis::vault::SealedCard;
use serde::{Deserialize, Serialize};
use sirl::{Currency, Money};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// The number of the one card that this bank declines.
pub const DECLINED_CARD: &str = "4000000000000002";

/// The client waits this long for an answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// The most bytes of an answer.
const ANSWER_LIMIT: u64 = 16 * 1024;

/// One entry of the bank: an idempotency key and its payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The idempotency key.
    pub key: String,
    /// The payee; `None` if the key was voided before it was authorised.
    pub payee: Option<Origin>,
    /// The amount; `None` in the same case.
    pub amount: Option<Money>,
    /// The state of the payment.
    pub status: EntryStatus,
    /// The number of times that the guard asked to authorise it.
    pub asked: u32,
    /// The number of charges: 0 or 1, if this bank and the guard are right.
    pub charges: u32,
}

/// An entry with the parts that callers do not see.
struct Account {
    entry: Entry,
    card: String,
    token: String,
}

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// Authorised, not redeemed.
    Authorised,
    /// Redeemed by the payee: charged.
    Redeemed,
    /// Closed without a charge.
    Voided,
}

/// The reason why a token was not redeemed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedeemError {
    /// No such token.
    #[error("the bank does not know this token")]
    Unknown,
    /// It was made for another payee or amount.
    #[error("the token is for another payee or amount")]
    Mismatch,
    /// It was redeemed before, or voided.
    #[error("the token was used or voided")]
    Spent,
}

type Books = Arc<Mutex<Vec<Account>>>;

fn lock(books: &Books) -> MutexGuard<'_, Vec<Account>> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mock bank. Dropping it closes it.
pub struct MockBank {
    books: Books,
    address: SocketAddr,
    secret: String,
    _stop: oneshot::Sender<()>,
}

impl MockBank {
    /// Opens the bank on a free port of the loopback address.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start() -> io::Result<MockBank> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (books, secret) = (Books::default(), random());
        let router = Router::new()
            .route("/authorize", post(authorize))
            .route("/status", post(status))
            .route("/void", post(void))
            .with_state(Desk { books: books.clone(), access: format!("Bearer {secret}") });
        let (_stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        tokio::spawn(async move { serving.await });
        Ok(MockBank { books, address, secret, _stop })
    }

    /// The address on which the bank listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The secret by which the guard authenticates.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// A client for the guard.
    pub fn client(&self) -> MockBankClient {
        MockBankClient::new(self.address, self.secret.clone())
    }

    /// Charges, once, the amount that was authorised for exactly this payee.
    ///
    /// # Errors
    /// [`RedeemError`]; nothing was charged.
    pub fn redeem(&self, token: &str, payee: &Origin, amount: Money) -> Result<(), RedeemError> {
        let mut books = lock(&self.books);
        let account = books.iter_mut().find(|account| !token.is_empty() && account.token == token);
        let entry = &mut account.ok_or(RedeemError::Unknown)?.entry;
        if entry.payee.as_ref() != Some(payee) || entry.amount != Some(amount) {
            return Err(RedeemError::Mismatch);
        }
        if entry.status != EntryStatus::Authorised {
            return Err(RedeemError::Spent);
        }
        entry.status = EntryStatus::Redeemed;
        entry.charges += 1;
        Ok(())
    }

    /// The entries, in the order in which their keys arrived.
    pub fn ledger(&self) -> Vec<Entry> {
        lock(&self.books).iter().map(|account| account.entry.clone()).collect()
    }

    /// Returns true if this card number has reached the bank.
    pub fn knows_card(&self, number: &str) -> bool {
        lock(&self.books).iter().any(|account| account.card == number)
    }
}

#[derive(Clone)]
struct Desk {
    books: Books,
    access: String,
}

impl Desk {
    /// Only the guard can set this header. A page would need a preflight request, which is not answered.
    fn admits(&self, headers: &HeaderMap) -> bool {
        headers.get(header::AUTHORIZATION).is_some_and(|value| value == self.access.as_str())
            && !headers.contains_key(header::ORIGIN)
    }
}

#[derive(Deserialize)]
struct Authorization {
    key: String,
    card: String,
    payee: String,
    amount: String,
    currency: String,
}

#[derive(Deserialize)]
struct Inquiry {
    key: String,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<EntryStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Refusal>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Refusal {
    Declined,
    Closed,
    Conflict,
}

impl Answer {
    fn status(status: Option<EntryStatus>) -> Json<Answer> {
        Json(Answer { token: None, status, error: None })
    }

    fn error(error: Refusal) -> Json<Answer> {
        Json(Answer { token: None, status: None, error: Some(error) })
    }
}

type Reply = Result<Json<Answer>, StatusCode>;

fn read<T: for<'a> Deserialize<'a>>(desk: &Desk, headers: &HeaderMap, body: &[u8]) -> Result<T, StatusCode> {
    if !desk.admits(headers) {
        return Err(StatusCode::FORBIDDEN);
    }
    serde_json::from_slice(body).map_err(|_| StatusCode::BAD_REQUEST)
}

async fn authorize(State(desk): State<Desk>, headers: HeaderMap, body: Bytes) -> Reply {
    let asked: Authorization = read(&desk, &headers, &body)?;
    let payee = Origin::parse(&asked.payee).map_err(|_| StatusCode::BAD_REQUEST)?;
    let currency = Currency::new(&asked.currency).ok_or(StatusCode::BAD_REQUEST)?;
    let amount = Money::parse(&asked.amount, currency).ok_or(StatusCode::BAD_REQUEST)?;
    let mut books = lock(&desk.books);
    if let Some(account) = find(&mut books, &asked.key) {
        let entry = &mut account.entry;
        entry.asked += 1;
        if entry.status == EntryStatus::Voided {
            return Ok(Answer::error(Refusal::Closed));
        }
        let same = entry.payee.as_ref() == Some(&payee) && entry.amount == Some(amount);
        if !same || account.card != asked.card {
            return Ok(Answer::error(Refusal::Conflict));
        }
        return Ok(Json(Answer { token: Some(account.token.clone()), status: None, error: None }));
    }
    if asked.card.len() < 12 || asked.card == DECLINED_CARD {
        return Ok(Answer::error(Refusal::Declined));
    }
    let token = format!("mock-{}", random());
    let (payee, amount, status) = (Some(payee), Some(amount), EntryStatus::Authorised);
    let entry = Entry { key: asked.key, payee, amount, status, asked: 1, charges: 0 };
    books.push(Account { entry, card: asked.card, token: token.clone() });
    Ok(Json(Answer { token: Some(token), status: None, error: None }))
}

async fn status(State(desk): State<Desk>, headers: HeaderMap, body: Bytes) -> Reply {
    let asked: Inquiry = read(&desk, &headers, &body)?;
    Ok(Answer::status(find(&mut lock(&desk.books), &asked.key).map(|account| account.entry.status)))
}

async fn void(State(desk): State<Desk>, headers: HeaderMap, body: Bytes) -> Reply {
    let asked: Inquiry = read(&desk, &headers, &body)?;
    let mut books = lock(&desk.books);
    let Some(account) = find(&mut books, &asked.key) else {
        // The listener closes before the entries are dropped, so that an authorisation on its way is refused.
        let status = EntryStatus::Voided;
        let entry = Entry { key: asked.key, payee: None, amount: None, status, asked: 0, charges: 0 };
        books.push(Account { entry, card: String::new(), token: String::new() });
        return Ok(Answer::status(Some(status)));
    };
    if account.entry.status == EntryStatus::Authorised {
        account.entry.status = EntryStatus::Voided;
    }
    Ok(Answer::status(Some(account.entry.status)))
}

fn find<'a>(books: &'a mut [Account], key: &str) -> Option<&'a mut Account> {
    books.iter_mut().find(|account| account.entry.key == key)
}

/// Draws 128 bits from the keys of the standard library's hash maps, which are seeded by the operating system. This is
/// good enough for a mock.
fn random() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// The guard's side of a [`MockBank`], over HTTP; it may be in another process.
#[derive(Clone)]
pub struct MockBankClient {
    address: SocketAddr,
    secret: String,
}

impl MockBankClient {
    /// Connects to the bank that listens at `address` and issued `secret`.
    pub fn new(address: SocketAddr, secret: String) -> MockBankClient {
        MockBankClient { address, secret }
    }

    async fn ask(&self, path: &str, body: &[u8]) -> Result<Answer, BankError> {
        let answered = tokio::time::timeout(ANSWER_TIME, self.exchange(path, body)).await;
        let bytes = answered.map_err(|_| BankError::Unreachable)?.map_err(|_| BankError::Unreachable)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| BankError::Unreachable)?;
        let (head, body) = text.split_once("\r\n\r\n").ok_or(BankError::Unreachable)?;
        if !head.starts_with("HTTP/1.1 200 ") {
            return Err(BankError::Unreachable);
        }
        let answer: Answer = serde_json::from_str(body).map_err(|_| BankError::Unreachable)?;
        match answer.error {
            Some(Refusal::Declined) => Err(BankError::Declined),
            Some(Refusal::Closed) => Err(BankError::Closed),
            Some(Refusal::Conflict) => Err(BankError::Conflict),
            None => Ok(answer),
        }
    }

    /// Sends one request on a connection of its own; the bank closes it after its answer.
    async fn exchange(&self, path: &str, body: &[u8]) -> io::Result<Vec<u8>> {
        let mut connection = TcpStream::connect(self.address).await?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            self.secret,
            body.len()
        );
        connection.write_all(head.as_bytes()).await?;
        connection.write_all(body).await?;
        let mut answer = Vec::new();
        connection.take(ANSWER_LIMIT).read_to_end(&mut answer).await?;
        Ok(answer)
    }

    async fn inquire(&self, path: &str, key: &IdempotencyKey) -> Result<BankStatus, BankError> {
        let body = serde_json::json!({ "key": key.as_str() }).to_string();
        Ok(match self.ask(path, body.as_bytes()).await?.status {
            None => BankStatus::Unknown,
            Some(EntryStatus::Authorised) => BankStatus::Authorised,
            Some(EntryStatus::Redeemed) => BankStatus::Redeemed,
            Some(EntryStatus::Voided) => BankStatus::Voided,
        })
    }
}

/// Builds the request for an authorisation in a buffer that is wiped. The buffer never grows, since growing would leave
/// a copy of the card number behind. Returns `None` if the card number has other characters than digits, spaces and
/// dashes.
fn authorization(
    key: &IdempotencyKey,
    card: SealedCard,
    amount: Money,
    payee: &Origin,
) -> Option<Zeroizing<Vec<u8>>> {
    let (key, decimal, currency) = (key.as_str(), amount.to_decimal(), amount.currency.as_str());
    let rest = format!(r#""key":"{key}","payee":"{payee}","amount":"{decimal}","currency":"{currency}"}}"#);
    card.open(|card| {
        let number = card.number();
        if !number.iter().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'-')) {
            return None;
        }
        let mut body = Zeroizing::new(Vec::with_capacity(rest.len() + number.len() + 16));
        body.extend_from_slice(br#"{"card":""#);
        body.extend(number.iter().filter(|b| b.is_ascii_digit()));
        body.extend_from_slice(br#"","#);
        body.extend_from_slice(rest.as_bytes());
        Some(body)
    })
}

impl Bank for MockBankClient {
    fn authorize<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        card: SealedCard,
        amount: Money,
        payee: &'a Origin,
    ) -> BankAnswer<'a, Token> {
        let body = authorization(key, card, amount, payee);
        Box::pin(async move {
            let body = body.ok_or(BankError::Declined)?;
            let token = self.ask("/authorize", &body).await?.token;
            token.and_then(Token::new).ok_or(BankError::Unreachable)
        })
    }

    fn status<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        Box::pin(self.inquire("/status", key))
    }

    fn void<'a>(&'a self, key: &'a IdempotencyKey) -> BankAnswer<'a, BankStatus> {
        Box::pin(self.inquire("/void", key))
    }
}
