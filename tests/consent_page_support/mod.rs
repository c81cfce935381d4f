//! Helpers of the tests of the consent page.
#![allow(dead_code, reason = "no test uses all of it")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use browser_signals::Origin;
use policy_dfa::{ConsentScope, Millis};
use portcullis::consent::SubjectBuilder;
use portcullis::consent::page::{ConsentPage, PageSettings};
use portcullis::consent::page::{OpenFuture, Opener, Window};
use portcullis::consent::{
    Answer, Answerer, Asked, AskedCode, ConsentPrompt, FormPlace, HandOver, HandedOver, Notice, Purpose,
    Ticket, Warning, WhichAccount,
};
use portcullis::vault::Secret;
use sirl::{Currency, Field, Kind, Money};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

/// The longest wait for an expected event, on a slow machine; longer than the timeout of any question.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub const PHRASE: &str = "green kettle on a blue stove";

pub fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

/// A nonce that is unique in this process.
fn fresh() -> [u8; 16] {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    [NEXT.fetch_add(1, Ordering::Relaxed); 16]
}

/// A prompt about these things.
pub fn prompt_about(asked: Vec<Asked>, noticed: Vec<Notice>, scope: ConsentScope) -> ConsentPrompt {
    let subject = SubjectBuilder::policy(&[3; 32]).part(format!("{asked:?}").as_bytes()).finish();
    ConsentPrompt::new(asked, noticed, scope, Ticket::new(fresh(), subject, Millis(0)))
}

pub fn release() -> Asked {
    Asked::Release {
        kind: Kind::Address,
        fields: [Field::Street, Field::City, Field::PostalCode].into_iter().collect(),
        later: Default::default(),
        to: origin("https://shop.example"),
        sent_to: Some(origin("https://orders.shop.example")),
        records: vec!["address:home".into()],
        form: Some(FormPlace::new(Purpose::Address, Some("/checkout"), Some("/orders"), None)),
        boxes: Vec::new(),
        provider: None,
        in_order: false,
    }
}

pub fn payment(page_says: &[&str]) -> Asked {
    Asked::Pay {
        payee: origin("https://shop.example"),
        amount: Money::parse("64.15", Currency::new("USD").unwrap()).unwrap(),
        card: Some("card:personal".into()),
        page_says: page_says.iter().map(|line| (*line).to_owned()).collect(),
    }
}

/// The usual prompt, with every choice.
pub fn prompt() -> ConsentPrompt {
    let sent = Notice::SentElsewhere { to: origin("https://orders.shop.example") };
    prompt_about(vec![release()], vec![sent, Notice::Refusals(2)], ConsentScope::Site)
}

/// An opener that sends the address to the test instead of opening it. The test ends `closed` to close the window.
pub struct Handing(pub mpsc::UnboundedSender<Opened>);

pub struct Opened {
    pub address: String,
    pub close: oneshot::Sender<()>,
}

struct Handed(oneshot::Receiver<()>);

impl Opener for Handing {
    fn open<'a>(&'a mut self, address: &'a str) -> OpenFuture<'a> {
        let (close, closed) = oneshot::channel();
        self.0.send(Opened { address: address.to_owned(), close }).unwrap();
        Box::pin(std::future::ready(Ok(Box::new(Handed(closed)) as Box<dyn Window>)))
    }
}

impl Window for Handed {
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async {
            let _closed = (&mut self.0).await;
        })
    }
}

/// A consent page that sends its addresses to the test.
pub struct Desk {
    pub opened: mpsc::UnboundedReceiver<Opened>,
    page: Option<ConsentPage>,
}

/// One open question.
pub struct Question<T> {
    pub address: Address,
    pub close: Option<oneshot::Sender<()>>,
    pub subject: String,
    abandon: Arc<Notify>,
    asking: JoinHandle<(T, ConsentPage)>,
}

impl Desk {
    pub async fn open() -> Desk {
        Desk::with(Some(PHRASE)).await
    }

    pub async fn with(phrase: Option<&str>) -> Desk {
        let (sender, opened) = mpsc::unbounded_channel();
        let settings = PageSettings {
            opener: Box::new(Handing(sender)),
            phrase: phrase.map(str::to_owned),
            entropy: [0x5a; 32],
        };
        Desk { opened, page: Some(ConsentPage::open(settings).await.unwrap()) }
    }

    pub async fn ask(&mut self, prompt: ConsentPrompt) -> Question<Answer> {
        let mut page = self.page.take().expect("one question at a time");
        let subject = prompt.ticket().subject();
        let abandon = Arc::new(Notify::new());
        let abandoned = abandon.clone();
        let asking = tokio::spawn(async move {
            let answer = tokio::select! {
                answer = page.answer(&prompt) => answer,
                () = abandoned.notified() => Answer::No,
            };
            (answer, page)
        });
        self.opened(subject, abandon, asking).await
    }

    pub async fn ask_code(&mut self, asked: AskedCode, prompt: ConsentPrompt) -> Question<Option<Secret>> {
        let mut page = self.page.take().expect("one question at a time");
        let subject = prompt.ticket().subject();
        let asking = tokio::spawn(async move {
            let code = page.code(&asked, &prompt).await;
            (code, page)
        });
        self.opened(subject, Arc::default(), asking).await
    }

    /// A choice among accounts. Its subject comes with its content.
    pub async fn ask_account(&mut self, which: WhichAccount) -> Question<Option<usize>> {
        let mut page = self.page.take().expect("one question at a time");
        let asking = tokio::spawn(async move { (page.choose(&which).await, page) });
        self.opened(String::new(), Arc::default(), asking).await
    }

    /// An offer to finish manually. Its subject comes with its content.
    pub async fn offer(&mut self, offer: HandOver) -> Question<HandedOver> {
        let mut page = self.page.take().expect("one question at a time");
        let asking = tokio::spawn(async move { (page.hand_over(&offer).await, page) });
        self.opened(String::new(), Arc::default(), asking).await
    }

    /// Shows a warning, for which nothing waits, and returns its address.
    pub async fn warn(&mut self, warning: Warning) -> Address {
        self.page.as_mut().expect("one question at a time").warn(&warning).await;
        Address::of(&self.next().await.address)
    }

    async fn opened<T>(
        &mut self,
        subject: String,
        abandon: Arc<Notify>,
        asking: JoinHandle<(T, ConsentPage)>,
    ) -> Question<T> {
        let Opened { address, close } = self.next().await;
        Question { address: Address::of(&address), close: Some(close), subject, abandon, asking }
    }

    async fn next(&mut self) -> Opened {
        let opened = tokio::time::timeout(PATIENCE, self.opened.recv()).await;
        opened.expect("no question was opened").unwrap()
    }

    /// Waits for the user's reply.
    pub async fn said<T>(&mut self, question: Question<T>) -> T {
        let said = tokio::time::timeout(PATIENCE, question.asking).await;
        let (said, page) = said.expect("the question is not answered").unwrap();
        self.page = Some(page);
        said
    }
}

impl<T> Question<T> {
    pub fn is_open(&self) -> bool {
        !self.asking.is_finished()
    }

    pub fn answer(&self, word: &str) -> String {
        message(&self.address.nonce, &self.subject, "answer", word)
    }

    pub fn code(&self, digits: &str) -> String {
        message(&self.address.nonce, &self.subject, "code", digits)
    }

    /// Drops the future of the answer, as a session does at the timeout.
    pub fn abandon(&self) {
        self.abandon.notify_one();
    }
}

pub fn message(nonce: &str, subject: &str, name: &str, value: &str) -> String {
    format!(r#"{{"nonce":"{nonce}","subject":"{subject}","{name}":"{value}"}}"#)
}

/// The parts of `http://127.0.0.1:PORT/SECRET/#NONCE`.
#[derive(Debug, Clone)]
pub struct Address {
    pub whole: String,
    pub port: u16,
    /// With a slash at both ends.
    pub path: String,
    pub nonce: String,
}

impl Address {
    pub fn of(text: &str) -> Address {
        let url: url::Url = text.parse().unwrap();
        assert_eq!(url.host_str(), Some("127.0.0.1"));
        Address {
            whole: text.to_owned(),
            port: url.port().unwrap(),
            path: url.path().to_owned(),
            nonce: url.fragment().unwrap().to_owned(),
        }
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// An answer of a server, as text.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Sends a request with these headers, `Host` and `Connection: close` among them, unless `headers` has a
/// `Host`.
pub async fn send(at: &Address, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text += &format!("Host: 127.0.0.1:{}\r\n", at.port);
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    text += "\r\n";
    text += body;
    let mut connection = TcpStream::connect(("127.0.0.1", at.port)).await.unwrap();
    connection.write_all(text.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // A refused body may end the connection before all of it is read.
    let _reset = connection.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("an HTTP answer");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// The headers with which the page's script sends its messages.
pub fn script_headers(own: &str) -> Vec<(&str, &str)> {
    vec![
        ("Origin", own),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "same-origin"),
        ("Sec-Fetch-Dest", "empty"),
        ("Content-Type", "application/json"),
        ("X-Portcullis", "consent"),
    ]
}

/// Sends a message as the page's script does.
pub async fn say(at: &Address, body: &str) -> Reply {
    let origin = at.origin();
    send(at, &format!("POST {}say", at.path), &script_headers(&origin), body).await
}

/// Fetches the question as the page's script does.
pub async fn show(at: &Address) -> Reply {
    say(at, &format!(r#"{{"show":"{}"}}"#, at.nonce)).await
}
