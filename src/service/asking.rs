//! Asking on the extension's own consent page.
//!
//! The questions, their numbers and what counts as an answer are those of [`crate::consent::page`]; the extension shows
//! the page and carries what it says. Whoever holds the browser's control channel can press that page's buttons, so this
//! is for those who chose it.

use std::collections::BTreeMap;
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
    open: Open,
}

/// The numbers of the open questions, and whether the window of each was closed.
type Open = watch::Sender<BTreeMap<String, bool>>;

impl Default for Asking {
    fn default() -> Asking {
        Asking { link: watch::Sender::new(None), hearing: Hearing::default(), open: Open::default() }
    }
}

impl Asking {
    /// The answerer. `phrase` is shown on the page; `entropy` are 32 fresh random bytes.
    pub fn answerer(&self, phrase: Option<String>, entropy: [u8; 32]) -> ConsentPage {
        let opener = Box::new(InExtension { link: self.link.subscribe(), open: self.open.clone() });
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
        self.open.send_if_modified(|open| open.get_mut(nonce).map(|closed| *closed = true).is_some());
    }
}

struct InExtension {
    link: watch::Receiver<LinkNow>,
    open: Open,
}

impl Opener for InExtension {
    fn open<'a>(&'a mut self, nonce: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let missing = || OpenError("no browser with the extension is connected".to_owned());
            let link = there(&self.link).await.ok_or_else(missing)?;
            let window = InTheirs::new(nonce, &link, self.link.clone(), &self.open);
            link.open_question(nonce).await.map_err(|error| OpenError(error.to_string()))?;
            Ok(Box::new(window) as Box<dyn Window>)
        })
    }
}

/// A window of the extension. Dropping it has the extension close it: a person is not to answer what is over.
struct InTheirs {
    nonce: String,
    link: Arc<ExtensionLink>,
    now: watch::Receiver<LinkNow>,
    open: Open,
}

impl InTheirs {
    /// The window that is opened next: it may be closed before the extension has said that it is there.
    fn new(nonce: &str, link: &Arc<ExtensionLink>, now: watch::Receiver<LinkNow>, open: &Open) -> InTheirs {
        open.send_modify(|open| {
            open.insert(nonce.to_owned(), false);
        });
        InTheirs { nonce: nonce.to_owned(), link: Arc::clone(link), now, open: open.clone() }
    }
}

impl Drop for InTheirs {
    fn drop(&mut self) {
        self.open.send_modify(|open| {
            open.remove(&self.nonce);
        });
        let (link, nonce) = (Arc::clone(&self.link), std::mem::take(&mut self.nonce));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _gone = link.close_question(&nonce).await;
            });
        }
    }
}

impl Window for InTheirs {
    /// With its worker a window has lost whoever carries its answer: nobody can say yes in it any more.
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let InTheirs { nonce, link, now, open } = self;
            let is_gone =
                |now: &LinkNow| link.is_closed() || !now.as_ref().is_some_and(|now| Arc::ptr_eq(now, link));
            let mut open = open.subscribe();
            tokio::select! {
                _ = now.wait_for(is_gone) => {}
                _ = open.wait_for(|open| open.get(nonce.as_str()) == Some(&true)) => {}
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    use browser_signals::extension::framing;
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn a_window_that_was_closed_is_closed_although_another_is_closed_after_it() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (link, _asks) = ExtensionLink::over(ours, Arc::new(AtomicU64::new(1)));
        let (link, asking) = (Arc::new(link), Asking::default());
        asking.link.send_replace(Some(Arc::clone(&link)));
        let window = |nonce| InTheirs::new(nonce, &link, asking.link.subscribe(), &asking.open);
        let (mut one, mut other) = (window("one"), window("other"));
        asking.close("one");
        asking.close("other");
        asking.close("nobody's");
        let within = Duration::from_secs(60);
        tokio::time::timeout(within, one.closed()).await.unwrap();
        tokio::time::timeout(within, other.closed()).await.unwrap();

        // What is over is to be closed by the extension.
        drop(one);
        let told = tokio::time::timeout(within, framing::read(&mut theirs)).await.unwrap().unwrap().unwrap();
        let told: Value = serde_json::from_slice(&told).unwrap();
        assert_eq!((&told["ask"], &told["question"]), (&json!("over"), &json!("one")));
        assert_eq!(asking.open.borrow().len(), 1);
    }
}
