//! The requests to the extension: looking at the tab in front, filling it, restricting its egress, asking the user.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ExtensionError;
use super::filling::{self, FillTerms};
use super::link::{ExtensionLink, outcome};
use super::wire::{self, Acted, Request, Word};
use super::{forms, text};
use crate::{Container, Fact, Observed, Origin, SealedFill, Snapshot, TextGuard, TlsState};

/// The time within which a fill may begin after its request, so that its answer arrives in time.
const FILL_WITHIN: Duration = Duration::from_secs(7);

/// The longest time that an extension may ask to wait for a page that was open earlier.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The task's view of the user's browser: which tab it may see.
#[derive(Debug, Clone)]
pub struct View {
    /// The tier that the user raised the task to.
    pub container: Container,
    /// The origins of the task: a tab in front of another origin is not read.
    pub origins: Vec<Origin>,
    /// Whether the user trusts the pages of these sites that were open before the task. Otherwise nothing is released until
    /// a worker that such a page may have left running has ended by itself.
    pub trusts_open_pages: bool,
}

/// The decision about a fill, for the extension to evaluate the policy on its own observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// The event.
    pub event: String,
    /// The tier that it requires; empty for none.
    pub need: String,
    /// The symbol of each signal.
    #[serde(serialize_with = "wire::valuation")]
    pub valuation: Vec<(&'static str, &'static str)>,
}

/// The text of a tab, after the guard's filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabText {
    /// The text.
    pub text: String,
    /// The top frame's origin.
    pub origin: Option<Origin>,
}

impl ExtensionLink {
    /// Every form of every frame of the tab in front. `tls` gives the TLS state of the connection to an origin.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn forms(
        &self,
        view: &View,
        tls: &(dyn Fn(&Origin) -> Fact<TlsState> + Sync),
    ) -> Result<Vec<Observed<Snapshot>>, ExtensionError> {
        let report = self.ask(&Request::Forms { origins: &view.origins }).await?;
        let seen = forms::snapshots(&report, view.container, tls)?;
        let of_task = |seen: &Snapshot| seen.top_origin.known().is_some_and(|top| view.origins.contains(top));
        if !seen.iter().all(of_task) {
            return Err(ExtensionError::NotOfTask);
        }
        Ok(seen
            .into_iter()
            .map(|seen| Observed::new(seen, self.observed.fetch_add(1, Ordering::AcqRel)))
            .collect())
    }

    /// The text of the tab in front, after the guard's filter.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn read(&self, view: &View, guard: &dyn TextGuard) -> Result<TabText, ExtensionError> {
        let report = self.ask(&Request::Text { origins: &view.origins }).await?;
        let (outline, origin) = text::outline(&report)?;
        if !origin.as_ref().is_some_and(|origin| view.origins.contains(origin)) {
            return Err(ExtensionError::NotOfTask);
        }
        let text = guard.guard(&outline).map_err(|_| ExtensionError::TextWithheld)?;
        Ok(TabText { text, origin })
    }

    /// Carries out a sealed fill: the values go to the one document that it names, once the egress of its pages is
    /// restricted to the origins in `open`.
    ///
    /// # Errors
    /// [`ExtensionError::Unconfirmed`] where the values were sent and the outcome is unknown: the connection ended, or no
    /// answer states it. With every other [`ExtensionError`] no page has them.
    pub async fn fill(
        &self,
        fill: SealedFill,
        view: &View,
        open: &[Origin],
        decided: &Decided,
    ) -> Result<(), ExtensionError> {
        let (id, answer) = self.expect()?;
        let terms = FillTerms { id, within: millis(FILL_WITHIN), view, open, decided };
        let message = filling::message(&fill, &terms).ok_or(ExtensionError::Stale)?;
        self.send(&message.0).await?;
        drop((message, fill));
        // From here on the outcome is unknown unless an answer states it.
        let answer = self.within(id, answer).await.and_then(outcome).map_err(|error| match error {
            ExtensionError::Stale | ExtensionError::NotOfTask => error,
            _ => ExtensionError::Unconfirmed,
        })?;
        match acted(&answer) {
            Some(Acted::Earlier { earlier }) => Err(earlier_page(earlier)),
            Some(Acted::Word(Word::Done)) => Ok(()),
            Some(Acted::Word(Word::Gone)) => Err(ExtensionError::Stale),
            Some(Acted::Word(Word::Hidden)) => Err(ExtensionError::Occluded),
            Some(Acted::Word(Word::Unfit)) => Err(ExtensionError::NotApplicable),
            Some(Acted::Word(Word::Disagrees)) => Err(ExtensionError::Disagrees),
            Some(Acted::Word(Word::Open)) => Err(ExtensionError::Egress),
            Some(Acted::Word(Word::Diverted)) => Err(ExtensionError::Diverted),
            Some(Acted::Word(Word::Late)) => Err(ExtensionError::Slow),
            Some(Acted::Word(Word::Unconfirmed | Word::Opened | Word::NoWindow)) | None => {
                Err(ExtensionError::Unconfirmed)
            }
        }
    }

    /// Begins a task about these sites: from now on their documents are loaded under the rules that a fill requires, and
    /// those that are open already are reloaded.
    ///
    /// # Errors
    /// [`ExtensionError`]; then a document may be open that nothing is filled into.
    pub async fn seal(&self, view: &View) -> Result<(), ExtensionError> {
        self.done(&Request::Seal { origins: &view.origins }).await
    }

    /// Restricts the egress of the pages of `open` and of the tab in front to the origins in `open`, until the task is over.
    ///
    /// # Errors
    /// [`ExtensionError`]; then nothing may be released.
    pub async fn narrow(&self, view: &View, open: &[Origin]) -> Result<(), ExtensionError> {
        let trusted = view.trusts_open_pages;
        self.done(&Request::Narrow { origins: &view.origins, open, trusted }).await
    }

    /// Ends the task: its egress restrictions are removed.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn widen(&self) -> Result<(), ExtensionError> {
        self.done(&Request::Widen).await
    }

    async fn done(&self, request: &Request<'_>) -> Result<(), ExtensionError> {
        match acted(&self.ask(request).await?) {
            Some(Acted::Word(Word::Done)) => Ok(()),
            Some(Acted::Earlier { earlier }) => Err(earlier_page(earlier)),
            Some(Acted::Word(_)) | None => Err(ExtensionError::Egress),
        }
    }

    /// Has the extension open its consent page for the question of this number, in place of any other. Messages of that
    /// page arrive as requests of the extension.
    ///
    /// # Errors
    /// [`ExtensionError`]: the user was not asked.
    pub async fn open_question(&self, nonce: &str) -> Result<(), ExtensionError> {
        match acted(&self.ask(&Request::Consent { nonce }).await?) {
            Some(Acted::Word(Word::Opened)) => Ok(()),
            Some(Acted::Word(Word::NoWindow)) => Err(ExtensionError::NoWindow),
            Some(_) | None => Err(ExtensionError::Malformed),
        }
    }

    /// Has the extension close the window of this question, since it is over.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub async fn close_question(&self, nonce: &str) -> Result<(), ExtensionError> {
        self.done(&Request::Over { question: nonce }).await
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn acted(answer: &Value) -> Option<Acted> {
    Acted::deserialize(answer).ok()
}

/// The error of an answer which says that a page was open earlier, and for how many seconds to wait.
fn earlier_page(seconds: u64) -> ExtensionError {
    ExtensionError::EarlierPage(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[cfg(test)]
#[path = "tab_tests.rs"]
mod tests;
