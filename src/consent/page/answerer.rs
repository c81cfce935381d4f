//! The consent page as an answerer, and the trait of its window.

use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use browser_signals::playwright::{OwnBrowser, OwnWindow};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::channel::PageChannel;
use super::content::{Accepts, PageContent};
use super::listener::{Shared, answer};
use super::question::{OpenQuestion, Question, Reply};
use crate::consent::{
    ANSWER_TIMEOUT, Answer, AnswerFuture, Answerer, AskedCode, ChoiceFuture, CodeFuture, ConsentPrompt,
    HAND_OVER_TIMEOUT, HandOver, HandOverFuture, HandedOver, WarnFuture, Warning, WhichAccount,
};
use crate::system::loopback::Hidden;
use crate::system::own_ports::OwnPort;

/// Why the page was not opened, as a text for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the consent page was not opened: {0}")]
pub struct OpenError(pub String);

/// A future of an open window.
pub type OpenFuture<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Window>, OpenError>> + Send + 'a>>;

/// Opens the page's address in front of the user, never in the agent's browser: the agent could answer in the user's place
/// there.
pub trait Opener: Send {
    /// Opens the address. It contains the page's secrets: it must not be shown, logged, or put on a command line.
    fn open<'a>(&'a mut self, address: &'a str) -> OpenFuture<'a>;
}

/// An open window. Dropping it closes it.
pub trait Window: Send {
    /// Ends when the user has closed the window or the browser is gone.
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

impl Opener for OwnBrowser {
    fn open<'a>(&'a mut self, address: &'a str) -> OpenFuture<'a> {
        Box::pin(async move {
            let opened = OwnBrowser::open(self, address).await;
            opened
                .map(|window| Box::new(window) as Box<dyn Window>)
                .map_err(|error| OpenError(error.to_string()))
        })
    }
}

impl Window for OwnWindow {
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(OwnWindow::closed(self))
    }
}

/// The settings of a consent page.
pub struct PageSettings {
    /// The opener of the page's window.
    pub opener: Box<dyn Opener>,
    /// Words that the user chose. The page shows them, and an imitation cannot. Without them the page says that they are
    /// missing.
    pub phrase: Option<String>,
    /// 32 fresh random bytes for the unguessable path.
    pub entropy: [u8; 32],
}

/// Asks on a page in a browser of its own. Dropping it closes the page and the listener.
///
/// One question is open at a time. Every failure counts as no: the page is not opened, is closed, is answered late, or is
/// fetched by another program first.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use portcullis::consent::page::{ConsentPage, PageSettings};
/// use portcullis::signals::playwright::OwnBrowser;
///
/// let opener = Box::new(OwnBrowser::new("/usr/bin/chromium")?);
/// let phrase = Some("green kettle on a blue stove".to_owned());
/// # let entropy = [7; 32];
/// let answerer = ConsentPage::open(PageSettings { opener, phrase, entropy }).await?;
/// // Guard::new(policy, log, Box::new(answerer), entropy)
/// # Ok(()) }
/// ```
pub struct ConsentPage {
    channel: PageChannel,
    /// The address that shows the question of a nonce.
    address: Box<dyn Fn(&str) -> String + Send>,
    opener: Box<dyn Opener>,
    phrase: Option<String>,
    /// The last window. It shows the end of its question until the next one is opened.
    window: Option<Box<dyn Window>>,
    /// Whether the last window stays open. A window that another program shows is closed.
    stays: bool,
    entropy: [u8; 32],
    /// The number of questions for a code so far.
    codes: u64,
    /// The number of messages so far.
    messages: u64,
    sees_browser: bool,
    asks_for_codes: bool,
    report: Option<fn(&OpenError)>,
    /// Whether a window was opened for the last question.
    reached_the_user: bool,
    /// A warning that stays open until it was read or something else is asked.
    unread: Option<OpenQuestion>,
    _stop: Option<oneshot::Sender<()>>,
    _own_port: Option<OwnPort>,
}

impl ConsentPage {
    /// Listens on a free port of the loopback address. It must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Those of opening a port.
    pub async fn open(settings: PageSettings) -> io::Result<ConsentPage> {
        let entropy = &settings.entropy;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let own_port = OwnPort::register(listener.local_addr()?.port());
        let secret = derived(entropy, "path", 0);
        let shared = Arc::new(Shared::new(listener.local_addr()?.port(), &secret));
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        tokio::spawn(async move { serving.await });
        let channel = shared.channel.clone();
        let address = Box::new(move |nonce: &str| shared.address_of(nonce));
        let page = ConsentPage::over(channel, address, settings);
        Ok(ConsentPage { _stop: Some(stop), _own_port: Some(own_port), ..page })
    }

    /// A page that another program shows, such as the extension. The opener gets the nonce of the question; the page's
    /// messages arrive by `channel`. It never asks for a code.
    pub fn shown_elsewhere(channel: PageChannel, settings: PageSettings) -> ConsentPage {
        let page = ConsentPage::over(channel, Box::new(str::to_owned), settings);
        ConsentPage { asks_for_codes: false, stays: false, ..page }
    }

    fn over(
        channel: PageChannel,
        address: Box<dyn Fn(&str) -> String + Send>,
        settings: PageSettings,
    ) -> ConsentPage {
        let PageSettings { opener, phrase, entropy } = settings;
        ConsentPage {
            channel,
            address,
            opener,
            phrase,
            window: None,
            stays: true,
            entropy,
            codes: 0,
            messages: 0,
            sees_browser: false,
            asks_for_codes: true,
            report: None,
            reached_the_user: true,
            unread: None,
            _stop: None,
            _own_port: None,
        }
    }

    /// A page for a user who also sees the window of the agent's browser and may finish a refused request there manually.
    #[must_use]
    pub fn with_visible_browser(self) -> ConsentPage {
        ConsentPage { sees_browser: true, ..self }
    }

    /// Also reports the error when a question cannot be shown. The answer to it is no.
    #[must_use]
    pub fn reporting(self, report: fn(&OpenError)) -> ConsentPage {
        ConsentPage { report: Some(report), ..self }
    }

    /// Shows a prompt and waits for the user's reply.
    async fn ask(&mut self, prompt: &ConsentPrompt, nonce: String, accepts: Accepts) -> Option<Reply> {
        let content = PageContent::of(prompt, &accepts, self.phrase.as_deref());
        let within = Duration::from_millis(ANSWER_TIMEOUT.0);
        self.show(nonce, prompt.ticket().subject(), accepts, content, within).await
    }

    /// Shows a message, which has no ticket, under a nonce and a subject of its own.
    async fn notify(&mut self, accepts: Accepts, content: PageContent, within: Duration) -> Option<Reply> {
        self.messages += 1;
        let (nonce, subject) =
            (derived(&self.entropy, "told", self.messages), derived(&self.entropy, "about", self.messages));
        let nonce = nonce.get(..32).unwrap_or_default().to_owned();
        self.show(nonce, subject, accepts, content, within).await
    }

    /// Shows a question and waits for the user's reply; none if the page was closed or not opened, or the time is up.
    async fn show(
        &mut self,
        nonce: String,
        subject: String,
        accepts: Accepts,
        content: PageContent,
        within: Duration,
    ) -> Option<Reply> {
        // The unread warning must be dropped before the question is put in the slot, since dropping it empties the slot.
        self.unread = None;
        let address = (self.address)(&nonce);
        let waits = !matches!(accepts, Accepts::Notice);
        let (nonce, subject) = (Hidden::new(nonce), Hidden::new(subject));
        let question = Question { nonce, subject, accepts, content, until: Instant::now() + within };
        let mut open = self.channel.slot.put(question);
        self.window = None;
        self.reached_the_user = true;
        if !waits {
            if let Ok(window) = self.opener.open(&address).await {
                (self.window, self.unread) = (Some(window), Some(open));
            }
            return None;
        }
        let asked = async {
            let mut shown = match self.opener.open(&address).await {
                Ok(window) => Shown { window: Some(window), last: self.stays.then_some(&mut self.window) },
                Err(error) => {
                    tracing::error!("{error}");
                    self.reached_the_user = false;
                    if let Some(report) = self.report {
                        report(&error);
                    }
                    return None;
                }
            };
            let window = shown.window.as_mut()?;
            tokio::select! {
                biased;
                reply = &mut open.reply => reply.ok(),
                () = window.closed() => open.reply.try_recv().ok(),
            }
        };
        tokio::time::timeout(within, asked).await.ok().flatten()
    }
}

/// The window of an open question. When it is dropped, the window moves to `last`, if there is one, or is closed.
struct Shown<'a> {
    window: Option<Box<dyn Window>>,
    last: Option<&'a mut Option<Box<dyn Window>>>,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if let Some(last) = self.last.as_mut() {
            **last = self.window.take();
        }
    }
}

impl Answerer for ConsentPage {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        Box::pin(async move {
            let accepts = Accepts::Answers(prompt.choices().collect());
            match self.ask(prompt, prompt.ticket().nonce(), accepts).await {
                Some(Reply::Answer(answer)) => answer,
                Some(Reply::Code(_) | Reply::Account(_)) | None => Answer::No,
            }
        })
    }

    fn code<'a>(&'a mut self, asked: &'a AskedCode, prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(async move {
            if !self.asks_for_codes {
                return None;
            }
            // The prompt's own nonce is used up.
            self.codes += 1;
            let nonce = derived(&self.entropy, "code", self.codes);
            let nonce = nonce.get(..32).unwrap_or_default().to_owned();
            match self.ask(prompt, nonce, Accepts::Code(asked.clone())).await {
                Some(Reply::Code(code)) => Some(code),
                Some(Reply::Answer(_) | Reply::Account(_)) | None => None,
            }
        })
    }

    fn choose<'a>(&'a mut self, which: &'a WhichAccount) -> ChoiceFuture<'a> {
        Box::pin(async move {
            let content = PageContent::accounts(which, self.phrase.as_deref());
            let accepts = Accepts::Account { count: which.labels.len() };
            match self.notify(accepts, content, Duration::from_millis(ANSWER_TIMEOUT.0)).await {
                Some(Reply::Account(place)) => Some(place),
                Some(Reply::Answer(_) | Reply::Code(_)) | None => None,
            }
        })
    }

    fn reached_the_user(&self) -> bool {
        self.reached_the_user
    }

    fn offers_hand_over(&self) -> bool {
        self.sees_browser
    }

    fn hand_over<'a>(&'a mut self, offer: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(async move {
            let content = PageContent::hand_over(offer, self.phrase.as_deref());
            match self.notify(Accepts::HandOver, content, HAND_OVER_TIMEOUT).await {
                Some(Reply::Answer(Answer::Once)) => HandedOver::Finished,
                Some(Reply::Answer(_)) => HandedOver::GoOn,
                Some(Reply::Code(_) | Reply::Account(_)) | None => HandedOver::Silence,
            }
        })
    }

    fn warn<'a>(&'a mut self, warning: &'a Warning) -> WarnFuture<'a> {
        Box::pin(async move {
            let content = PageContent::warning(warning, self.phrase.as_deref());
            self.notify(Accepts::Notice, content, HAND_OVER_TIMEOUT).await;
        })
    }
}

/// Derives 64 hexadecimal digits that cannot be guessed without the entropy.
fn derived(entropy: &[u8; 32], what: &str, number: u64) -> String {
    let hash = Sha256::new().chain_update(entropy).chain_update(what).chain_update(number.to_le_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
