//! Prompts on the extension's own consent page.
//!
//! The prompts, their nonces and their valid answers are those of [`crate::consent::page`]. The extension shows the page
//! and forwards its messages. A program with the browser's control channel can press the page's buttons, so users must
//! choose this page explicitly.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use browser_signals::extension::ExtensionLink;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::consent::page::{ConsentPage, PageChannel, PageSettings};
use crate::consent::page::{OpenError, OpenFuture, Opener, Window};
use crate::session::tab::{CurrentLink, connected_link};

/// The state that an answerer on the extension's consent page shares with the service.
#[derive(Clone)]
pub struct ExtensionConsent {
    link: watch::Sender<CurrentLink>,
    hearing: PageChannel,
    open: OpenWindows,
}

/// The nonces of the open prompts, and whether the window of each was closed.
type OpenWindows = watch::Sender<BTreeMap<String, bool>>;

impl Default for ExtensionConsent {
    fn default() -> ExtensionConsent {
        ExtensionConsent {
            link: watch::Sender::new(None),
            hearing: PageChannel::default(),
            open: OpenWindows::default(),
        }
    }
}

impl ExtensionConsent {
    /// An answerer that prompts in the extension. The page shows `phrase`; `entropy` is 32 fresh random bytes.
    pub fn answerer(&self, phrase: Option<String>, entropy: [u8; 32]) -> ConsentPage {
        let opener = Box::new(ExtensionOpener { link: self.link.subscribe(), open: self.open.clone() });
        ConsentPage::shown_elsewhere(self.hearing.clone(), PageSettings { opener, phrase, entropy })
    }

    /// The sender for the service's current link to the extension.
    pub(super) fn link(&self) -> watch::Sender<CurrentLink> {
        self.link.clone()
    }

    /// Handles a message of the page, and returns the answer for the page.
    pub(super) fn handle_message(&self, says: &str) -> Value {
        match self.hearing.receive(says.as_bytes()) {
            Ok(body) => json!({ "status": 200, "body": body }),
            Err(unheard) => json!({ "status": unheard.status(), "body": null }),
        }
    }

    /// Records that the window of a prompt was closed.
    pub(super) fn close(&self, nonce: &str) {
        self.open.send_if_modified(|open| open.get_mut(nonce).map(|closed| *closed = true).is_some());
    }
}

struct ExtensionOpener {
    link: watch::Receiver<CurrentLink>,
    open: OpenWindows,
}

impl Opener for ExtensionOpener {
    fn open<'a>(&'a mut self, nonce: &'a str) -> OpenFuture<'a> {
        Box::pin(async move {
            let missing = || OpenError("no browser with the extension is connected".to_owned());
            let link = connected_link(&self.link).await.ok_or_else(missing)?;
            let window = ExtensionWindow::new(nonce, &link, self.link.clone(), &self.open);
            link.open_question(nonce).await.map_err(|error| OpenError(error.to_string()))?;
            Ok(Box::new(window) as Box<dyn Window>)
        })
    }
}

/// A window of the extension. Dropping it has the extension close the window, so that no prompt outlives its question.
struct ExtensionWindow {
    nonce: String,
    link: Arc<ExtensionLink>,
    now: watch::Receiver<CurrentLink>,
    open: OpenWindows,
}

impl ExtensionWindow {
    /// The window that opens next. It is registered first, since it may close before the extension confirms it.
    fn new(
        nonce: &str,
        link: &Arc<ExtensionLink>,
        now: watch::Receiver<CurrentLink>,
        open: &OpenWindows,
    ) -> ExtensionWindow {
        open.send_modify(|open| {
            open.insert(nonce.to_owned(), false);
        });
        ExtensionWindow { nonce: nonce.to_owned(), link: Arc::clone(link), now, open: open.clone() }
    }
}

impl Drop for ExtensionWindow {
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

impl Window for ExtensionWindow {
    /// A window whose extension worker ended counts as closed, because its answer cannot be forwarded any more.
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let ExtensionWindow { nonce, link, now, open } = self;
            let is_gone = |now: &CurrentLink| {
                link.is_closed() || !now.as_ref().is_some_and(|now| Arc::ptr_eq(now, link))
            };
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
        let (link, consent) = (Arc::new(link), ExtensionConsent::default());
        consent.link.send_replace(Some(Arc::clone(&link)));
        let window = |nonce| ExtensionWindow::new(nonce, &link, consent.link.subscribe(), &consent.open);
        let (mut one, mut other) = (window("one"), window("other"));
        consent.close("one");
        consent.close("other");
        consent.close("nobody's");
        let within = Duration::from_secs(60);
        tokio::time::timeout(within, one.closed()).await.unwrap();
        tokio::time::timeout(within, other.closed()).await.unwrap();

        // The extension closes a window that is over.
        drop(one);
        let told = tokio::time::timeout(within, framing::read(&mut theirs)).await.unwrap().unwrap().unwrap();
        let told: Value = serde_json::from_slice(&told).unwrap();
        assert_eq!((&told["ask"], &told["question"]), (&json!("over"), &json!("one")));
        assert_eq!(consent.open.borrow().len(), 1);
    }
}
