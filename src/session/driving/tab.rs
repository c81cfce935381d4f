//! The driver of a session in tabs of the user's own browser: carries out the state machine's commands over the
//! extension.
//!
//! There is no container and no proxy of the guard, so fewer properties hold than in a container; `SECURITY.md` lists
//! them. The agent reads pages and requests values. The user clicks and types.

use std::sync::Arc;
use std::time::Duration;

use browser_signals::extension::{Decided, ExtensionError, ExtensionLink, View};
use browser_signals::{Container, Observed, Origin, SealedFill, Snapshot};
use policy_dfa::{Axis, Reason, Root, Valuation};
use sirl::{Kind, Schema};
use tokio::sync::watch;

use super::driver::Driver;
use super::opening::{self, TaskSurface};
use super::task_source::TaskSource;
use super::tls::TlsProbe;
use crate::audit::{AuditEvent, BlockedByBrowser};
use crate::consent::{Change, OpenPages};
use crate::egress::Releases;
use crate::guard::Guard;
use crate::session::core::Action;
use crate::session::core::{Command, Event, Look, RenderedPage};
use crate::session::prompts::changes::{ChangeQueue, ChangeRequest, ChangeStatus};
use crate::session::{ActionOutcome, SessionError, SessionReport};

/// The time for an extension whose worker was stopped to connect again.
const RECONNECT_WITHIN: Duration = Duration::from_secs(8);

/// The extension that is connected now, if one is.
pub type CurrentLink = Option<Arc<ExtensionLink>>;

/// The user's browser, as the extension shows it.
#[derive(Clone)]
pub struct Tabs {
    /// The link to the extension. It changes when the extension's worker is stopped and connects again.
    pub link: watch::Receiver<CurrentLink>,
    /// The probe of connections to the task's sites.
    pub tls: Arc<TlsProbe>,
    /// The browser's rules for the open task.
    pub rules: watch::Sender<BrowserRules>,
}

/// The browser's rules for one task. They are empty without a raised task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrowserRules {
    /// The sites whose documents are loaded under rules, so that the guard may fill their forms.
    pub sealed: Vec<Origin>,
    /// The only origins that pages with values may reach; empty while nothing is released.
    pub open: Vec<Origin>,
}

impl Tabs {
    async fn link(&self) -> Result<Arc<ExtensionLink>, ExtensionError> {
        connected_link(&self.link).await.ok_or(ExtensionError::Gone)
    }

    /// Has the documents of a raised task's sites loaded under the browser's rules. If that fails, their forms are not
    /// filled later, and the user is warned then.
    async fn seal(self, view: View) {
        if view.container == Container::T0 {
            return;
        }
        self.rules.send_modify(|rules| rules.sealed.clone_from(&view.origins));
        if let Ok(link) = self.link().await {
            let _unsealed = link.seal(&view).await;
        }
    }

    /// Lifts the browser's rules at the end of a task. An extension that is not connected now gets the empty rules when it
    /// connects again.
    pub async fn widen(&self) {
        // The rules change first: an extension that connects during the next step would otherwise keep them for good.
        self.rules.send_replace(BrowserRules::default());
        let link = self.link.borrow().clone();
        if let Some(link) = link {
            let _gone = link.widen().await;
        }
    }
}

/// The link to the extension, if one is connected or connects again in time.
pub(crate) async fn connected_link(link: &watch::Receiver<CurrentLink>) -> Option<Arc<ExtensionLink>> {
    let mut link = link.clone();
    let is_open = |now: &CurrentLink| now.as_ref().is_some_and(|link| !link.is_closed());
    let found = tokio::time::timeout(RECONNECT_WITHIN, link.wait_for(is_open)).await;
    found.ok().and_then(Result::ok).and_then(|now| now.clone())
}

/// One task in tabs of the user's own browser.
pub struct TabSession {
    driver: Driver,
    tabs: Tabs,
    view: View,
    /// The origins that values were released to, and that pages with values may reach.
    open: Vec<Origin>,
}

/// The kinds of request that a tab of the user's own browser supports: those that fill forms, without cards.
pub fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Purchase | Kind::Payment))
}

/// The request language restricted to [`kinds`].
pub fn schema() -> Schema {
    let built_in = Schema::default();
    let kinds = kinds().filter(|kind| built_in.takes(*kind).is_some());
    let line = |kind: Kind| {
        let fields = built_in.takes(kind).unwrap_or_default();
        let fields: Vec<&str> = fields.iter().map(sirl::Field::as_str).collect();
        format!("kind {} {{ {} }}\n", kind.as_str(), fields.join(" "))
    };
    let text: String = kinds.map(line).collect();
    Schema::parse(&(text + "alias zip for postal_code\n")).unwrap_or(built_in)
}

impl TabSession {
    /// Begins a task: moves the values of the prompt into the vault, seals the task from the user's words, and asks the
    /// user once. The guard should have the [`schema`] of a tab. `pages` is the user's statement about pages of the task's
    /// sites that were open before.
    ///
    /// # Errors
    /// [`SessionError`], with the guard.
    pub async fn begin(
        guard: Guard,
        tabs: Tabs,
        prompt: &str,
        pages: OpenPages,
    ) -> Result<TabSession, (SessionError, Box<Guard>)> {
        let Guard { decision, mut dependencies } = guard;
        if decision.values_keep_to_path() {
            return Err((SessionError::PathsOpen, Box::new(Guard { decision, dependencies })));
        }
        let surface = TaskSurface::OwnBrowser(pages);
        let sealed =
            match opening::open(&mut dependencies, &decision, TaskSource::User(prompt), surface, &[]).await {
                Ok(sealed) => sealed,
                Err(error) => return Err((error, Box::new(Guard { decision, dependencies }))),
            };
        let view = View {
            container: sealed.task.container(),
            origins: sealed.task.origins().to_vec(),
            trusts_open_pages: pages == OpenPages::Trusted,
        };
        let driver = sealed.ready(decision, dependencies, Releases::default());
        let session = TabSession { driver, tabs, view, open: Vec::new() };
        // The future is made first, so that it borrows nothing of the session while it runs.
        let sealing = session.tabs.clone().seal(session.view.clone());
        sealing.await;
        Ok(session)
    }

    /// The prompt as it is shown to the model, with handles in place of the values.
    pub fn prompt(&self) -> &str {
        &self.driver.prompt
    }

    /// The kinds of request that the user's words may need and that the policy can never grant in this task.
    pub fn ruled_out(&self) -> &[(Kind, Reason)] {
        &self.driver.ruled_out
    }

    /// The task's container tier, and its sites.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Reads the front tab, or decides a request block of the agent about it. Every other action is refused. The agent gets
    /// only the text of the outcome. Waiting changes of standing consents are made before each step.
    pub async fn act(&mut self, action: Action, changes: &mut ChangeQueue) -> ActionOutcome {
        self.driver.dependencies.reopen(false).await;
        let mut event = Event::Act(action);
        loop {
            self.apply_changes(changes);
            let command = self.driver.core.step(event, self.driver.now());
            // The user's answer is stored now, however long the rest takes.
            self.driver.save_standing();
            event = match command {
                Command::Answer(outcome) => {
                    self.driver.show_warnings().await;
                    return outcome;
                }
                Command::Guard(command) => self.driver.carry_out(command).await,
                Command::HandOver(offer) => {
                    Event::HandedOver(self.driver.dependencies.hand_over(&offer).await)
                }
                Command::Read => Event::PageRead(self.read().await.map_err(reason_of)),
                Command::Look(Look::Forms) => Event::Seen(self.forms().await.map_err(reason_of)),
                Command::Fill(fill) => Event::Done(self.fill(fill).await.map_err(reason_of)),
                Command::Narrow(open) => Event::Done(self.narrow(&open).await.map_err(reason_of)),
                // The guard does not act in the user's own tab.
                Command::Look(Look::Page | Look::Focus | Look::Element(_)) => {
                    Event::Seen(Err(Reason::DeliveryForbidden))
                }
                Command::Look(Look::Key(_)) => Event::KeySeen(Err(Reason::DeliveryForbidden)),
                Command::Do { .. } | Command::Wire(_) | Command::Pay(_) => {
                    Event::Done(Err(Reason::DeliveryForbidden))
                }
                // An order needs a container's proxy.
                Command::Order(_) => Event::Discovered(Err(Reason::DeliveryForbidden)),
            };
        }
    }

    /// Ends the task: writes the last record, and returns the guard.
    pub fn finish(self) -> (SessionReport, Guard) {
        let is_private = self.driver.text.has_released();
        self.driver.finish(is_private)
    }

    async fn read(&mut self) -> Result<RenderedPage, ExtensionError> {
        let link = self.tabs.link().await?;
        let page = link.read(&self.view, &self.driver.text).await?;
        let (safety, pay_button) = (self.driver.text.take_safety(), self.driver.text.take_pay_button());
        Ok(RenderedPage { text: page.text, typed: Vec::new(), origin: page.origin, safety, pay_button })
    }

    async fn forms(&mut self) -> Result<Vec<Observed<Snapshot>>, ExtensionError> {
        let known = self.tabs.tls.of(&self.view.origins).await;
        let link = self.tabs.link().await?;
        link.forms(&self.view, &|origin| known.of(origin)).await
    }

    /// Restricts the pages to these origins and to those of earlier releases.
    async fn narrow(&mut self, origins: &[Origin]) -> Result<(), ExtensionError> {
        let open = self.publish_open(origins);
        let narrowed = match self.tabs.link().await {
            Ok(link) => link.narrow(&self.view, &open).await,
            Err(error) => Err(error),
        };
        self.settle_open(open, origins.first(), narrowed)
    }

    /// The open origins with these added. They are published before the extension applies them, because an extension that
    /// connects again meanwhile opens every origin that no rule covers.
    fn publish_open(&self, origins: &[Origin]) -> Vec<Origin> {
        let mut open = self.open.clone();
        for origin in origins {
            if !open.contains(origin) {
                open.push(origin.clone());
            }
        }
        self.tabs.rules.send_modify(|rules| rules.open.clone_from(&open));
        open
    }

    /// Keeps the published origins open if values were delivered or may have been, and restores the earlier ones otherwise.
    /// Records the wait for a page that was open before the task.
    fn settle_open(
        &mut self,
        open: Vec<Origin>,
        to: Option<&Origin>,
        delivered: Result<(), ExtensionError>,
    ) -> Result<(), ExtensionError> {
        if let (Err(ExtensionError::EarlierPage(wait)), Some(to)) = (delivered, to) {
            self.driver.core.note_wait(to.clone(), wait);
        }
        if matches!(delivered, Ok(()) | Err(ExtensionError::Unconfirmed)) {
            self.open = open;
        } else {
            self.tabs.rules.send_modify(|rules| rules.open.clone_from(&self.open));
        }
        delivered
    }

    async fn fill(&mut self, fill: SealedFill) -> Result<(), ExtensionError> {
        let decided = self.driver.core.decided().map(named_decision).ok_or(ExtensionError::Disagrees)?;
        let to = fill.origin.clone();
        let open = self.publish_open(&[to.clone(), fill.destination.origin.clone()]);
        let filled = match self.tabs.link().await {
            Ok(link) => link.fill(fill, &self.view, &open, &decided).await,
            Err(error) => Err(error),
        };
        let filled = self.settle_open(open, Some(&to), filled);
        if filled == Err(ExtensionError::Disagrees) {
            self.driver.record(&[AuditEvent::Browser { what: BlockedByBrowser::Preview }], true);
        }
        filled
    }

    /// Makes a change of the standing consents. It holds from the next step on, also for a release that is decided and not
    /// delivered yet.
    pub fn change(&mut self, change: &Change) -> ChangeStatus {
        let now = self.driver.now();
        let made = self.driver.core.change(change, now);
        let changes = self.driver.core.take_standing();
        let status = self.driver.dependencies.settle_change(self.driver.id, change, made, changes.as_ref());
        if let Some(changes) = changes.filter(|_| status == ChangeStatus::Kept) {
            self.driver.core.note_stored(&changes);
        }
        status
    }

    /// Makes the waiting changes.
    fn apply_changes(&mut self, changes: &mut ChangeQueue) {
        while let Ok(ChangeRequest { change, done }) = changes.try_recv() {
            let _gone = done.send(self.change(&change));
        }
    }
}

/// A decision in the names of a compiled policy.
fn named_decision((root, valuation): (Root, Valuation)) -> Decided {
    let (event, need) = (root.event_name(), root.need().map_or("", |need| need.as_str()));
    let valuation = Axis::ALL.iter().map(|axis| (axis.as_str(), valuation.name(*axis))).collect();
    Decided { event: event.to_owned(), need: need.to_owned(), valuation }
}

/// The reason of a failure of the extension.
fn reason_of(error: ExtensionError) -> Reason {
    match error {
        ExtensionError::Stale | ExtensionError::Disagrees => Reason::StaleDocument,
        ExtensionError::NotOfTask => Reason::OriginMismatch,
        ExtensionError::Occluded => Reason::Occluded,
        ExtensionError::Diverted => Reason::WrongDestination,
        ExtensionError::NotApplicable => Reason::NotApplicable,
        ExtensionError::TextWithheld | ExtensionError::Egress | ExtensionError::EarlierPage(_) => {
            Reason::EgressBlocked
        }
        ExtensionError::Unconfirmed => Reason::Unconfirmed,
        ExtensionError::Gone
        | ExtensionError::Slow
        | ExtensionError::Malformed
        | ExtensionError::NoWindow => Reason::BrowserLost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_supports_every_kind_except_cards() {
        let schema = schema();
        assert_eq!(schema.takes(Kind::Purchase), None);
        assert_eq!(schema.takes(Kind::Payment), None);
        assert_eq!(schema.takes(Kind::Address), Schema::default().takes(Kind::Address));
        assert_eq!(schema.field("zip"), Some(sirl::Field::PostalCode));
        assert_eq!(schema.kinds().count(), Schema::default().kinds().count() - 2);
    }
}
