//! Going to a page, back, and waiting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use super::Tab;
use super::state::{Inner, LastAction, Leaving, Session, TabState};
use crate::address::{self, AddressRefused};
use crate::json::text;
use crate::playwright::error::{BridgeError, LoadFailure};
use crate::{Container, FrameId, Observed, Origin, Snapshot};

/// The longest time that a page may take until it is parsed.
const LOAD: Duration = Duration::from_secs(30);
/// The longest time that the pictures and frames of a parsed page are waited for: some pages never finish loading. It is what
/// playwright-mcp waits.
const REST: Duration = Duration::from_secs(5);
/// The longest wait that a caller may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long after an action a navigation may begin and still be waited for before the page is looked at.
const QUIET: Duration = Duration::from_millis(30);
/// How long a navigation that the page asked the browser for may take to begin. Only one that never begins costs all of it.
const BEGINS: Duration = Duration::from_secs(3);
/// How long the current turn of the page's event loop may take. The next observation has to wait for its end anyway.
const TURN_ENDS: Duration = Duration::from_secs(5);
/// A promise that resolves once all tasks that were queued before it have run.
const NEXT_TURN: &str = "new Promise(done => setTimeout(done))";

impl Tab {
    /// Goes to an address and waits until the page has loaded, or is parsed and loads on for five seconds.
    ///
    /// # Errors
    /// [`BridgeError::Refused`] before any request is sent where an agent may not open the address, and at
    /// the redirect that led to a refused one; [`BridgeError::Unreachable`] where the browser
    /// could not load it.
    pub async fn open(&self, url: &Url) -> Result<(), BridgeError> {
        address::judge(url, &self.state.private_hosts).map_err(BridgeError::Refused)?;
        let origin = Origin::of(url).map_err(|_| BridgeError::Refused(AddressRefused::PrivateHost))?;
        if self.state.container != Container::T0 && !self.state.task.contains(&origin) {
            return Err(BridgeError::Refused(AddressRefused::OutsideTask));
        }
        self.go(json!({ "url": url.as_str() })).await
    }

    /// Goes where the page was about to lead when it was stopped. The address is judged again as the browser asks for it.
    ///
    /// # Errors
    /// As for [`Tab::open`].
    pub async fn follow(&self, leaving: &Leaving) -> Result<(), BridgeError> {
        let referrer = format!("{}/", leaving.from);
        self.go(json!({ "url": leaving.to.as_str(), "referrer": referrer, "transitionType": "link" })).await
    }

    /// Goes to an address of the bridge's own choice, which nobody judges.
    pub(crate) async fn show(&self, url: &Url) -> Result<(), BridgeError> {
        self.go(json!({ "url": url.as_str() })).await
    }

    async fn go(&self, params: Value) -> Result<(), BridgeError> {
        let page = self.state.page()?;
        let top = self.state.top_frame()?;
        let before = self.state.update(|inner| {
            inner.stopped = None;
            inner.last_action = None;
            inner.elements.clear();
            inner.documents.get(&top).cloned()
        });
        let answer = page.call("Page.navigate", params).await?;
        // The page stays, and the download is told by itself.
        if answer.get("isDownload") == Some(&Value::Bool(true)) {
            return Ok(());
        }
        if let Some(error) = text(&answer, "errorText").filter(|error| !error.is_empty()) {
            let stopped = self.state.inner().stopped;
            let failed = || BridgeError::Unreachable(LoadFailure::of(error));
            return Err(stopped.map_or_else(failed, BridgeError::Refused));
        }
        if text(&answer, "loaderId").is_some() {
            let is_loaded = |inner: &Inner| {
                let now = inner.documents.get(&top);
                // A page that tried to leave and was stopped, or that waits for a dialog, may never fire its load event.
                let given_up = inner.stopped.is_some() && !inner.loading.contains(&top);
                let given_up = given_up || inner.dialog.is_some();
                now != before.as_ref() && now.is_some_and(|now| given_up || inner.loaded.contains(now))
            };
            let is_parsed = |inner: &Inner| {
                let now = inner.documents.get(&top);
                now != before.as_ref() && now.is_some_and(|now| inner.parsed.contains(now))
                    || is_loaded(inner)
            };
            self.state.wait_until(LOAD, is_parsed).await?;
            self.state.wait_for_the_rest(is_loaded).await?;
        }
        // A navigation that the page then tried is in the events; the address itself was opened.
        Ok(())
    }

    /// Goes back one page, if there is one.
    ///
    /// # Errors
    /// As for [`Tab::open`]; [`BridgeError::NotApplicable`] where there is no page to go back to.
    pub async fn back(&self) -> Result<(), BridgeError> {
        let page = self.state.page()?;
        let history = page.call("Page.getNavigationHistory", json!({})).await?;
        let at = history.get("currentIndex").and_then(Value::as_u64).unwrap_or_default();
        let entries = history.get("entries").and_then(Value::as_array).cloned().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|index| entries.get(usize::try_from(index).ok()?));
        let entry = before.filter(|entry| text(entry, "url").is_some_and(|url| url.starts_with("http")));
        let id = entry.and_then(|entry| entry.get("id")).ok_or(BridgeError::NotApplicable)?;
        let navigations = self.begin();
        self.state.update(|inner| inner.goes_back = true);
        let gone = async {
            page.call("Page.navigateToHistoryEntry", json!({ "entryId": id })).await?;
            self.state.follow(navigations, QUIET).await?;
            self.settle(navigations).await
        };
        let gone = gone.await;
        self.state.update(|inner| inner.goes_back = false);
        gone?;
        self.check_arrival()
    }

    /// The status of the HTTP response that the page came from. It is returned once for each document.
    pub fn take_http_status(&self) -> Option<u16> {
        let top = self.state.top_frame().ok()?;
        self.state.update(|inner| {
            let document = inner.documents.get(&top)?;
            let status = inner.responses.get(document)?.status;
            let is_new = inner.told_status_of.as_ref() != Some(document);
            inner.told_status_of = Some(document.clone());
            status.filter(|_| is_new)
        })
    }

    /// Waits, ten seconds at most.
    pub async fn wait(&self, milliseconds: u32) {
        tokio::time::sleep(Duration::from_millis(u64::from(milliseconds)).min(LONGEST_WAIT)).await;
    }

    /// Begins an action: forgets what the last one led to, and returns the number of navigations so far.
    pub(crate) fn begin(&self) -> u64 {
        self.state.update(|inner| {
            inner.stopped = None;
            inner.requested = false;
            inner.refused_window = None;
            inner.answers.begin();
            inner.navigations
        })
    }

    /// Waits until the top frame has loaded another document than the one in `from`, at most `within`. Where the page
    /// does not navigate, the whole time passes.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn wait_for_navigation(
        &self,
        from: &Observed<Snapshot>,
        within: Duration,
    ) -> Result<(), BridgeError> {
        let top = self.state.top_frame()?;
        let old = from.top_document.known().map(|document| document.as_str().to_owned());
        let arrived = self.state.wait_until(within, |inner| {
            inner.documents.get(&top) != old.as_ref() && !inner.loading.contains(&top)
        });
        match arrived.await {
            Ok(()) | Err(BridgeError::Timeout) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits, after an action, for a navigation that it led to, and for the answers to requests that it began. The immediate
    /// effects of its event (handlers, tasks that they queued for the next turn, a form that is sent) have happened when this
    /// ends. Later effects are waited for by [`TabState::at_rest`] before the next observation, which costs nothing where the
    /// agent thinks in between.
    pub(crate) async fn settle(&self, navigations: u64) -> Result<(), BridgeError> {
        self.state.finish_turn().await;
        self.state.await_requested().await;
        self.state.inner().answers.begin_waiting();
        let mut action = LastAction { navigations, until: Instant::now(), rounds: 0 };
        while self.state.await_answers(&mut action).await? {
            action.until = Instant::now();
        }
        self.state.follow(navigations, Duration::ZERO).await?;
        action.until = Instant::now() + QUIET;
        self.state.inner().last_action = Some(action);
        Ok(())
    }

    /// Waits until the last action can no longer lead away from the page, and its requests have their answers. An observation
    /// does so by itself; this is for what the page shows beside its text, such as a dialog.
    ///
    /// # Errors
    /// [`BridgeError::Refused`] where the page tried to go to a refused address; [`BridgeError::Lost`] where it is gone.
    pub async fn rest(&self) -> Result<(), BridgeError> {
        self.state.at_rest().await
    }

    /// Returns the error of an action that led to a refused address.
    pub(crate) fn check_arrival(&self) -> Result<(), BridgeError> {
        self.state.check_arrival()
    }
}

impl TabState {
    /// Waits, before an observation, until the last action can no longer lead away from the page, so that no document is
    /// observed that is about to be replaced, or whose content is on its way.
    pub(crate) async fn at_rest(&self) -> Result<(), BridgeError> {
        let Some(mut action) = self.inner().last_action.take() else { return Ok(()) };
        let navigations = action.navigations;
        let mut is_over = action.until <= Instant::now();
        loop {
            let left = action.until.saturating_duration_since(Instant::now());
            let goes_on = |inner: &Inner| {
                let leaves = inner.navigations > navigations || inner.dialog.is_some();
                leaves || inner.answers.runs(action.until)
            };
            match self.wait_until(left, goes_on).await {
                Ok(()) | Err(BridgeError::Timeout) => {}
                Err(error) => return Err(error),
            }
            if !self.await_answers(&mut action).await? {
                break;
            }
            // What the page does with an answer is a consequence too.
            is_over = false;
            action.until = Instant::now() + QUIET;
        }
        let left = action.until.saturating_duration_since(Instant::now());
        let left = if self.inner().dialog.is_some() { Duration::ZERO } else { left };
        self.follow(navigations, left).await?;
        // A navigation that began later was not caused by the action.
        if is_over { Ok(()) } else { self.check_arrival() }
    }

    /// Whether a navigation began after the given count. Waits for it.
    pub(crate) async fn leaves(&self, navigations: u64) -> Result<bool, BridgeError> {
        self.await_requested().await;
        let leaves = self.inner().navigations > navigations;
        if leaves {
            self.follow(navigations, Duration::ZERO).await?;
        }
        Ok(leaves)
    }

    /// Waits until a navigation that the page asked for has begun, or was called off.
    pub(super) async fn await_requested(&self) {
        if self.wait_until(BEGINS, |inner| !inner.requested).await == Err(BridgeError::Timeout) {
            self.inner().requested = false;
        }
    }

    /// Lets every process of the page finish the current turn of its event loop, within limits. A process reports a
    /// navigation before it answers this.
    pub(super) async fn finish_turn(&self) {
        let sessions = {
            let inner = self.inner();
            let of = |session: &Arc<Session>| {
                let own = inner.worlds.get(&FrameId::new(session.target.as_str()));
                own.filter(|world| world.session == session.id).map(|world| world.context)
            };
            inner.sessions.iter().map(|session| (Arc::clone(session), of(session))).collect::<Vec<_>>()
        };
        let mut turns = tokio::task::JoinSet::new();
        for (session, world) in sessions {
            // In a world of the guard's own, since a page can replace its own `setTimeout`.
            turns.spawn(async move {
                let params = json!({ "expression": NEXT_TURN, "contextId": world, "awaitPromise": true });
                match world {
                    Some(_) => session.call("Runtime.evaluate", params).await,
                    None => session.call("Page.getFrameTree", json!({})).await,
                }
            });
        }
        // An error means that the document is gone, and its turn with it.
        let _longer = tokio::time::timeout(TURN_ENDS, turns.join_all()).await;
    }

    /// Waits for a navigation that begins `within`, until it has loaded.
    async fn follow(&self, navigations: u64, within: Duration) -> Result<(), BridgeError> {
        let top = self.top_frame()?;
        match self.wait_until(within, |inner| inner.navigations > navigations).await {
            Err(BridgeError::Timeout) => return Ok(()),
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        let is_loaded = |inner: &Inner| !inner.loading.contains(&top) || inner.dialog.is_some();
        match self.wait_until(LOAD, |inner| is_loaded(inner) || inner.is_readable(&top)).await {
            Ok(()) | Err(BridgeError::Timeout) => self.wait_for_the_rest(is_loaded).await,
            Err(error) => Err(error),
        }
    }

    /// Waits for the end of a load, but not long: a page that never finishes can be read all the same.
    async fn wait_for_the_rest(&self, is_loaded: impl Fn(&Inner) -> bool) -> Result<(), BridgeError> {
        match self.wait_until(REST, is_loaded).await {
            Ok(()) | Err(BridgeError::Timeout) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn check_arrival(&self) -> Result<(), BridgeError> {
        // It is reported once.
        let stopped = self.inner().stopped.take();
        stopped.map_or(Ok(()), |refused| Err(BridgeError::Refused(refused)))
    }
}
