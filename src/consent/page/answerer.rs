//! The page as whoever answers.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::desk::{Question, Said, Takes, Waiting};
use super::hearing::Hearing;
use super::listener::{Shared, answer};
use super::opener::{OpenError, Opener, Window};
use super::words::Words;
use crate::consent::hand_over::BY_HAND_WITHIN;
use crate::consent::ticket::ANSWER_WITHIN;
use crate::consent::{
    Answer, AnswerFuture, Answerer, CodeFuture, ConsentPrompt, HandOver, HandOverFuture, HandedOver,
    WarnFuture, Warning,
};
use crate::loopback::Hidden;

/// How a consent page is made.
pub struct PageSettings {
    /// Where the page is opened.
    pub opener: Box<dyn Opener>,
    /// Words that the user chose. The page shows them, and a page that imitates it cannot. Without them the
    /// page says that they are missing.
    pub phrase: Option<String>,
    /// 32 fresh random bytes: the launch's unguessable path is made from them.
    pub entropy: [u8; 32],
}

/// Asks on a page in a browser of its own. Dropping it closes the page and the listener.
///
/// One question is open at a time. Whatever goes wrong is no: the page is not opened, closed, answered late,
/// or fetched by somebody else first.
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
    hearing: Hearing,
    /// Where the question of a number is shown.
    address: Box<dyn Fn(&str) -> String + Send>,
    opener: Box<dyn Opener>,
    phrase: Option<String>,
    /// The last window; it shows how the question ended until the next one takes its place.
    window: Option<Box<dyn Window>>,
    /// Whether it does: somebody else's window is not for the guard to leave there.
    stays: bool,
    entropy: [u8; 32],
    codes: u64,
    told: u64,
    beside_a_window: bool,
    asks_for_codes: bool,
    tell: Option<fn(&OpenError)>,
    /// A warning that is on the desk until it was read, or something else is asked.
    unread: Option<Waiting>,
    _stop: Option<oneshot::Sender<()>>,
}

impl ConsentPage {
    /// Listens on a free port of the loopback address. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn open(settings: PageSettings) -> io::Result<ConsentPage> {
        let entropy = &settings.entropy;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let secret = derived(entropy, "path", 0);
        let shared = Arc::new(Shared::new(listener.local_addr()?.port(), &secret));
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        tokio::spawn(async move { serving.await });
        let hearing = shared.hearing.clone();
        let address = Box::new(move |nonce: &str| shared.address_of(nonce));
        let page = ConsentPage::over(hearing, address, settings);
        Ok(ConsentPage { _stop: Some(stop), ..page })
    }

    /// A page that is somebody else's to show, such as an extension's. The opener is given the number of the question;
    /// what the page says is brought to `hearing`. It never asks for the security code of a card.
    pub fn shown_elsewhere(hearing: Hearing, settings: PageSettings) -> ConsentPage {
        let page = ConsentPage::over(hearing, Box::new(str::to_owned), settings);
        ConsentPage { asks_for_codes: false, stays: false, ..page }
    }

    fn over(
        hearing: Hearing,
        address: Box<dyn Fn(&str) -> String + Send>,
        settings: PageSettings,
    ) -> ConsentPage {
        let PageSettings { opener, phrase, entropy } = settings;
        ConsentPage {
            hearing,
            address,
            opener,
            phrase,
            window: None,
            stays: true,
            entropy,
            codes: 0,
            told: 0,
            beside_a_window: false,
            asks_for_codes: true,
            tell: None,
            unread: None,
            _stop: None,
        }
    }

    /// For a user who sees the window of the agent's browser too, and may finish there by hand what the agent does not
    /// get.
    #[must_use]
    pub fn beside_a_window(self) -> ConsentPage {
        ConsentPage { beside_a_window: true, ..self }
    }

    /// Tells somebody too where a question could not be shown. The answer to it was no.
    #[must_use]
    pub fn telling(self, tell: fn(&OpenError)) -> ConsentPage {
        ConsentPage { tell: Some(tell), ..self }
    }

    /// Shows a prompt and waits for what the user says.
    async fn ask(
        &mut self,
        prompt: &ConsentPrompt,
        nonce: String,
        takes: Takes,
        card: Option<&str>,
    ) -> Option<Said> {
        let words = Words::of(prompt, card, self.phrase.as_deref());
        self.show(nonce, prompt.ticket().subject(), takes, words, Duration::from_millis(ANSWER_WITHIN.0))
            .await
    }

    /// Shows something that is no prompt and has no ticket: under a nonce and a subject of its own.
    async fn tell(&mut self, takes: Takes, words: Words, within: Duration) -> Option<Said> {
        self.told += 1;
        let (nonce, subject) =
            (derived(&self.entropy, "told", self.told), derived(&self.entropy, "about", self.told));
        let nonce = nonce.get(..32).unwrap_or_default().to_owned();
        self.show(nonce, subject, takes, words, within).await
    }

    /// Shows a question and waits for what the user says; nothing, if the page was closed or not opened, or
    /// the time is up.
    async fn show(
        &mut self,
        nonce: String,
        subject: String,
        takes: Takes,
        words: Words,
        within: Duration,
    ) -> Option<Said> {
        // Before the question is on the desk: what is dropped takes its own off it.
        self.unread = None;
        let address = (self.address)(&nonce);
        let waits = !matches!(takes, Takes::Notice);
        let (nonce, subject) = (Hidden::new(nonce), Hidden::new(subject));
        let question = Question { nonce, subject, takes, words, until: Instant::now() + within };
        let mut waiting = self.hearing.desk.put(question);
        self.window = None;
        if !waits {
            if let Ok(window) = self.opener.open(&address).await {
                (self.window, self.unread) = (Some(window), Some(waiting));
            }
            return None;
        }
        let asked = async {
            let mut shown = match self.opener.open(&address).await {
                Ok(window) => Shown { window: Some(window), last: self.stays.then_some(&mut self.window) },
                Err(error) => {
                    tracing::error!("{error}");
                    if let Some(tell) = self.tell {
                        tell(&error);
                    }
                    return None;
                }
            };
            let window = shown.window.as_mut()?;
            tokio::select! {
                biased;
                said = &mut waiting.said => said.ok(),
                () = window.closed() => waiting.said.try_recv().ok(),
            }
        };
        tokio::time::timeout(within, asked).await.ok().flatten()
    }
}

/// The window of a question for as long as the question is open, whoever ends it; after that where it stays, if it does.
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
            let takes = Takes::Answers(prompt.choices().collect());
            match self.ask(prompt, prompt.ticket().nonce(), takes, None).await {
                Some(Said::Answer(answer)) => answer,
                Some(Said::Code(_)) | None => Answer::No,
            }
        })
    }

    fn card_code<'a>(&'a mut self, card: &'a str, prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(async move {
            if !self.asks_for_codes {
                return None;
            }
            // The prompt's own nonce is used up.
            self.codes += 1;
            let nonce = derived(&self.entropy, "code", self.codes);
            let nonce = nonce.get(..32).unwrap_or_default().to_owned();
            match self.ask(prompt, nonce, Takes::Code, Some(card)).await {
                Some(Said::Code(code)) => Some(code),
                Some(Said::Answer(_)) | None => None,
            }
        })
    }

    fn offers_by_hand(&self) -> bool {
        self.beside_a_window
    }

    fn hand_over<'a>(&'a mut self, offer: &'a HandOver) -> HandOverFuture<'a> {
        Box::pin(async move {
            let words = Words::by_hand(offer, self.phrase.as_deref());
            let said = self.tell(Takes::ByHand, words, BY_HAND_WITHIN).await;
            match said {
                Some(Said::Answer(Answer::Once)) => HandedOver::Finished,
                Some(Said::Answer(_)) => HandedOver::GoOn,
                Some(Said::Code(_)) | None => HandedOver::Silence,
            }
        })
    }

    fn warn<'a>(&'a mut self, warning: &'a Warning) -> WarnFuture<'a> {
        Box::pin(async move {
            let words = Words::warning(warning, self.phrase.as_deref());
            self.tell(Takes::Notice, words, BY_HAND_WITHIN).await;
        })
    }
}

/// 64 hexadecimal digits that nobody can guess who does not know the entropy.
fn derived(entropy: &[u8; 32], what: &str, number: u64) -> String {
    let hash = Sha256::new().chain_update(entropy).chain_update(what).chain_update(number.to_le_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
