//! Dialogs of a page: `alert`, `confirm` and `prompt`.
//!
//! A dialog stops the page's process: until the dialog is answered, the browser carries out no command that needs the page. So
//! an open dialog ends each such command with [`BridgeError::DialogOpen`], those that wait and those that follow.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::Tab;
use super::events::PageEvent;
use super::state::{Session, TabState};
use crate::Origin;
use crate::json::text;
use crate::playwright::error::BridgeError;

/// How long a dialog waits for its answer. Then it is dismissed.
const WAITS: Duration = Duration::from_secs(60);
/// How long the browser may take to close an answered dialog.
const CLOSES: Duration = Duration::from_secs(10);
/// The longest message of a dialog that is kept, in characters.
const LONGEST: usize = 2_000;

/// The kind of a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogKind {
    /// It tells something.
    Alert,
    /// It asks for a yes or a no.
    Confirm,
    /// It asks for a text.
    Prompt,
}

impl DialogKind {
    /// The kind's name in the web platform: `alert`, `confirm` or `prompt`.
    pub const fn name(self) -> &'static str {
        match self {
            DialogKind::Alert => "alert",
            DialogKind::Confirm => "confirm",
            DialogKind::Prompt => "prompt",
        }
    }

    fn of(name: &str) -> Option<DialogKind> {
        [DialogKind::Alert, DialogKind::Confirm, DialogKind::Prompt]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// An open dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDialog {
    /// Its kind.
    pub kind: DialogKind,
    /// Its message, in the page's words.
    pub message: String,
    /// The origin of the document that opened it; none for an opaque one.
    pub origin: Option<Origin>,
    /// The text that a prompt begins with.
    default_text: String,
    /// Its number among the dialogs of the tab.
    number: u64,
}

impl Tab {
    /// Sets whether dialogs that open from now on wait for [`Tab::answer_dialog`], a minute at most. Otherwise they are dismissed
    /// as they open. "Leave this page?" is answered with yes in either case.
    pub fn let_dialogs_wait(&self, wait: bool) {
        self.state.inner().dialogs_wait = wait;
    }

    /// The dialog that waits for an answer.
    pub fn dialog(&self) -> Option<PageDialog> {
        self.state.inner().dialog.clone()
    }

    /// Accepts or dismisses the open dialog, and waits for what the page does then, as after a click. An accepted prompt gets
    /// `words`, or its own default text without them.
    ///
    /// # Errors
    /// [`BridgeError::NotApplicable`] where no dialog is open; otherwise as for [`Tab::click`].
    pub async fn answer_dialog(&self, accept: bool, words: Option<&str>) -> Result<(), BridgeError> {
        let dialog = self.dialog().ok_or(BridgeError::NotApplicable)?;
        let page = self.state.page()?;
        let navigations = self.begin();
        self.state.answer(&page, dialog.number, accept, words);
        let is_closed =
            |open: &Option<PageDialog>| open.as_ref().is_none_or(|open| open.number != dialog.number);
        self.state.wait_until(CLOSES, |inner| is_closed(&inner.dialog)).await?;
        let gone_on = async {
            self.stop_listening().await?;
            self.settle(navigations).await?;
            self.check_arrival()
        };
        match gone_on.await {
            // The page goes on with another dialog.
            Err(BridgeError::DialogOpen) => Ok(()),
            other => other,
        }
    }

    /// Removes the listeners of a click or key that a dialog interrupted.
    async fn stop_listening(&self) -> Result<(), BridgeError> {
        for frame in self.state.frames().await?.0 {
            // A frame that is gone has no listeners.
            if let Ok(world) = self.state.world(&frame).await {
                let _gone = self.state.ask(&frame, &world, "unwatch", Vec::new()).await;
            }
        }
        Ok(())
    }
}

impl TabState {
    /// Takes the event of a dialog that opens. "Leave this page?" is answered with yes; otherwise a page could keep the agent for
    /// ever.
    pub(crate) fn on_dialog(self: &Arc<TabState>, session: &Session, params: &Value) {
        let kind = text(params, "type").and_then(DialogKind::of);
        let (number, waits) = self.update(|inner| {
            inner.dialogs += 1;
            (inner.dialogs, kind.filter(|_| inner.dialogs_wait))
        });
        let Some(kind) = waits else {
            self.update(|inner| inner.answered_dialogs.push_back(number));
            session.post("Page.handleJavaScriptDialog", json!({ "accept": kind.is_none() }));
            self.record(PageEvent::DialogDismissed);
            return;
        };
        let message: String = text(params, "message").unwrap_or_default().chars().take(LONGEST).collect();
        let origin = text(params, "url").and_then(|url| Url::parse(url).ok());
        let origin = origin.and_then(|url| Origin::of(&url).ok());
        let default_text = text(params, "defaultPrompt").unwrap_or_default().to_owned();
        self.update(|inner| {
            inner.dialog = Some(PageDialog { kind, message, origin, default_text, number });
            inner.sessions.iter().for_each(|session| session.interrupt());
        });
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let tab = Arc::downgrade(self);
            runtime.spawn(async move {
                tokio::time::sleep(WAITS).await;
                if let Some(tab) = tab.upgrade() {
                    tab.dismiss(number);
                }
            });
        }
    }

    /// Takes the event of a dialog that is closed, by its answer, by a person, or with its page.
    pub(crate) fn on_dialog_closed(&self) {
        self.update(|inner| {
            // The next dialog may open before the browser reports that the last one is closed.
            let closed = inner.answered_dialogs.pop_front();
            let is_open = |open: &PageDialog| closed.is_some_and(|closed| closed != open.number);
            inner.dialog = inner.dialog.take().filter(is_open);
            // Within the change: whoever waits for it sends the page a command at once.
            if inner.dialog.is_none() {
                inner.sessions.iter().for_each(|session| session.go_on());
            }
        });
    }

    /// Answers the dialog of this number if it is still open. Returns whether it is.
    fn answer(&self, session: &Session, number: u64, accept: bool, words: Option<&str>) -> bool {
        let open = self.update(|inner| {
            let open = inner.dialog.clone().filter(|open| open.number == number);
            inner.answered_dialogs.extend(open.as_ref().map(|open| open.number));
            open
        });
        let Some(PageDialog { default_text, .. }) = open else { return false };
        // Without a text the browser would take the empty one.
        let words = words.unwrap_or(&default_text);
        let answer = json!({ "accept": accept, "promptText": words });
        session.post("Page.handleJavaScriptDialog", answer);
        true
    }

    /// Dismisses a dialog that nobody answered.
    fn dismiss(&self, number: u64) {
        if self.page().is_ok_and(|page| self.answer(&page, number, false, None)) {
            self.record(PageEvent::DialogDismissed);
        }
    }
}
