//! Asking on the extension's own consent page.
//!
//! The questions, their numbers and what counts as an answer are those of [`crate::consent::page`]; the extension shows
//! the page and carries what it says. Whoever holds the browser's control channel can press that page's buttons, so this
//! is for those who chose it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use browser_signals::extension::ExtensionLink;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::consent::page::opener::{OpenError, Opener, Opening, Window};
use crate::consent::page::{ConsentPage, Hearing, PageSettings};
use crate::session::tab::{LinkNow, there};

/// What an answerer that asks in the extension shares with the service that the extension connects to.
#[derive(Clone)]
pub struct Asking {
    link: watch::Sender<LinkNow>,
    hearing: Hearing,
    /// The number of the question whose window was closed last.
    closed: watch::Sender<String>,
}

impl Default for Asking {
    fn default() -> Asking {
        Asking {
            link: watch::Sender::new(None),
            hearing: Hearing::default(),
            closed: watch::Sender::default(),
        }
    }
}

impl Asking {
    /// The answerer. `phrase` is shown on the page; `entropy` are 32 fresh random bytes.
    pub fn answerer(&self, phrase: Option<String>, entropy: [u8; 32]) -> ConsentPage {
        let opener = Box::new(InExtension { link: self.link.subscribe(), closed: self.closed.subscribe() });
        ConsentPage::shown_elsewhere(self.hearing.clone(), PageSettings { opener, phrase, entropy })
    }

    /// Where the service puts the extension that is there.
    pub(super) fn link(&self) -> watch::Sender<LinkNow> {
        self.link.clone()
    }

    /// What the page says, in the one spelling of its messages; the answer for it.
    pub(super) fn hear(&self, says: &str) -> Value {
        match self.hearing.hear(says.as_bytes()) {
            Ok(body) => json!({ "status": 200, "body": body }),
            Err(unheard) => json!({ "status": unheard.status(), "body": null }),
        }
    }

    /// The window of a question was closed.
    pub(super) fn close(&self, nonce: &str) {
        self.closed.send_replace(nonce.to_owned());
    }
}

struct InExtension {
    link: watch::Receiver<LinkNow>,
    closed: watch::Receiver<String>,
}

impl Opener for InExtension {
    fn open<'a>(&'a mut self, nonce: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let missing = || OpenError("no browser with the extension is connected".to_owned());
            let link = there(&self.link).await.ok_or_else(missing)?;
            link.open_question(nonce).await.map_err(|error| OpenError(error.to_string()))?;
            let (nonce, now, closed) = (nonce.to_owned(), self.link.clone(), self.closed.clone());
            Ok(Box::new(InTheirs { nonce, link, now, closed }) as Box<dyn Window>)
        })
    }
}

/// A window of the extension.
struct InTheirs {
    nonce: String,
    link: Arc<ExtensionLink>,
    now: watch::Receiver<LinkNow>,
    closed: watch::Receiver<String>,
}

impl Window for InTheirs {
    /// With its worker a window has lost whoever carries its answer: nobody can say yes in it any more.
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let InTheirs { nonce, link, now, closed } = self;
            let is_gone =
                |now: &LinkNow| link.is_closed() || !now.as_ref().is_some_and(|now| Arc::ptr_eq(now, link));
            tokio::select! {
                _ = now.wait_for(is_gone) => {}
                _ = closed.wait_for(|closed| closed == nonce) => {}
            }
        })
    }
}
