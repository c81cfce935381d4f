//! The thin driver over an extension: carries out the core's commands in a tab of the user's own browser.
//!
//! There is no container here and no way out of the guard's own, so less holds than in a session that has them; what,
//! stands in `SECURITY.md`. The agent reads and asks; what is clicked and typed is the user's doing.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use browser_signals::extension::{Decided, ExtensionError, ExtensionLink, View};
use browser_signals::{Container, Observed, Origin, SealedFill, Snapshot};
use policy_dfa::{Axis, Millis, Reason, Root, Valuation};
use sirl::{Kind, Schema};
use tokio::sync::watch;
use vault::StateName;

use super::core::{Command, Core, Event, Look, Told};
use super::driver::{SessionError, SessionReport};
use super::opening::{self, Place, Ready, Wording};
use super::standing::Changes;
use crate::action::Action;
use crate::audit::{AuditEvent, SessionId, Stopped};
use crate::consent::{OpenPages, book};
use crate::egress::Releases;
use crate::guard::{Guard, Kit};
use crate::scrub::Quarantine;
use crate::service::tls::TlsProbe;
use crate::text::PageTextGuard;
use crate::time::unix_ms;

/// How long an extension whose worker was stopped may take to come back.
const COMES_BACK_WITHIN: Duration = Duration::from_secs(8);

/// The extension that is there now, if one is.
pub type LinkNow = Option<Arc<ExtensionLink>>;

/// The user's browser, as far as an extension shows it.
#[derive(Clone)]
pub struct Tabs {
    /// The extension; another one after its worker was stopped.
    pub link: watch::Receiver<LinkNow>,
    /// What is known of connections.
    pub tls: Arc<TlsProbe>,
    /// What the browser's rules are to hold for the open task.
    pub rules: watch::Sender<BrowserRules>,
}

/// What the browser's rules are to hold for one task; nothing where no task was raised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrowserRules {
    /// The sites whose documents are loaded so that something may be filled into them.
    pub sealed: Vec<Origin>,
    /// What is open to pages that hold values, and nothing else; empty where nothing was released.
    pub open: Vec<Origin>,
}

impl Tabs {
    async fn link(&self) -> Result<Arc<ExtensionLink>, ExtensionError> {
        there(&self.link).await.ok_or(ExtensionError::Gone)
    }

    /// Has the documents of a raised task's sites loaded under the browser's rules. Where that fails nothing is filled into
    /// them later, and the user is told then.
    async fn seal(self, view: View) {
        if view.container == Container::T0 {
            return;
        }
        self.rules.send_modify(|rules| rules.sealed.clone_from(&view.origins));
        if let Ok(link) = self.link().await {
            let _unsealed = link.seal(&view).await;
        }
    }

    /// The task is over. An extension that is not there now is told when it comes back that nothing is narrow.
    pub async fn widen(&self) {
        // First: an extension that comes while another is told would keep its pages narrow for good.
        self.rules.send_replace(BrowserRules::default());
        let link = self.link.borrow().clone();
        if let Some(link) = link {
            let _gone = link.widen().await;
        }
    }
}

/// The extension, if one is there or comes back in time.
pub(crate) async fn there(link: &watch::Receiver<LinkNow>) -> Option<Arc<ExtensionLink>> {
    let mut link = link.clone();
    let is_there = |now: &LinkNow| now.as_ref().is_some_and(|link| !link.is_closed());
    let found = tokio::time::timeout(COMES_BACK_WITHIN, link.wait_for(is_there)).await;
    found.ok().and_then(Result::ok).and_then(|now| now.clone())
}

/// One task in tabs of the user's own browser.
pub struct TabSession {
    pub(super) id: SessionId,
    pub(super) core: Core,
    text: PageTextGuard,
    quarantine: Quarantine,
    pub(super) kit: Kit,
    prompt: String,
    ruled_out: Vec<(Kind, Reason)>,
    started: Instant,
    tabs: Tabs,
    view: View,
    /// Where values were released to, and pages that hold them may send something.
    open: Vec<Origin>,
}

/// The kinds of request that a tab of the user's own browser can serve: those that fill forms with what is no card.
pub fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Purchase | Kind::Payment))
}

/// The language, as far as it is about [`kinds`].
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
    /// Begins a task: takes the values out of the prompt, seals the task from the user's words, and asks once. The
    /// guard should have the [`schema`] of what a tab can serve. `pages` is what the user says of pages of the task's sites
    /// that were open before.
    ///
    /// # Errors
    /// [`SessionError`], with the guard.
    pub async fn begin(
        guard: Guard,
        tabs: Tabs,
        prompt: &str,
        pages: OpenPages,
    ) -> Result<TabSession, (SessionError, Box<Guard>)> {
        let Guard { decision, mut kit } = guard;
        let place = Place::OwnBrowser(pages);
        let sealed = match opening::open(&mut kit, &decision, Wording::Users(prompt), place).await {
            Ok(sealed) => sealed,
            Err(error) => return Err((error, Box::new(Guard { decision, kit }))),
        };
        let view = View {
            container: sealed.task.container(),
            origins: sealed.task.origins().to_vec(),
            trusts_open_pages: pages == OpenPages::Trusted,
        };
        let (id, prompt, ruled_out) = (sealed.id, sealed.prompt.clone(), sealed.ruled_out.clone());
        let Ready { core, text, quarantine } = sealed.ready(decision, &kit, Releases::default());
        let started = Instant::now();
        let open = Vec::new();
        let mut session =
            TabSession { id, core, text, quarantine, kit, prompt, ruled_out, started, tabs, view, open };
        session.keep_standing();
        session.kit.sign_head();
        // Made first: nothing of the session is held while it is waited for.
        let sealing = session.tabs.clone().seal(session.view.clone());
        sealing.await;
        Ok(session)
    }

    /// The prompt as the model may see it: handles in place of the values.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The kinds of request that the user's words may need and that can never be granted in this task.
    pub fn ruled_out(&self) -> &[(Kind, Reason)] {
        &self.ruled_out
    }

    /// The tier that the user raised the task to, and its sites.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Reads the tab in front, or decides a request block of the agent about it. Every other action is refused. The
    /// text is all that the agent gets. Changes of what stands are made as they come, before the next step.
    pub async fn act(&mut self, action: Action, changes: &mut Changes) -> String {
        let mut event = Event::Act(action);
        loop {
            self.heed(changes);
            let command = self.core.step(event, self.now());
            // What was answered stands from now on, however long the rest takes.
            self.keep_standing();
            event = match command {
                Command::Answer(text) => {
                    for warning in self.core.take_warnings() {
                        self.kit.answerer.warn(&warning).await;
                    }
                    return text;
                }
                Command::Record { events, sync } => Event::Recorded(self.record(&events, sync)),
                Command::Ask(prompt) => Event::Answered(self.kit.ask(&prompt).await),
                Command::AskCode { card, prompt } => {
                    self.kit.ask_code(&card, &prompt).await;
                    Event::CodeAsked
                }
                Command::HandOver(offer) => Event::HandedOver(self.kit.hand_over(&offer).await),
                Command::Read => Event::Text(self.read().await.map_err(reason_of)),
                Command::Look(Look::Forms) => Event::Seen(self.forms().await.map_err(reason_of)),
                Command::Fill(fill) => Event::Done(self.fill(fill).await.map_err(reason_of)),
                Command::Narrow(open) => Event::Done(self.narrow(&open).await.map_err(reason_of)),
                // A tab is the user's: the guard does not act in it.
                Command::Look(Look::Page | Look::Element(_)) => Event::Seen(Err(Reason::DeliveryForbidden)),
                Command::Do { .. } | Command::Wire(_) | Command::Pay(_) => {
                    Event::Done(Err(Reason::DeliveryForbidden))
                }
            };
        }
    }

    /// Ends the task: writes the last record, and gives the guard back.
    pub fn finish(mut self) -> (SessionReport, Guard) {
        self.record(&[AuditEvent::Ended], true);
        self.kit.keep_quarantine(&self.quarantine);
        self.kit.keep_guesses(&self.core.counts().guessed);
        self.kit.sign_head();
        self.kit.vault.lock().unwrap_or_else(PoisonError::into_inner).forget_task_values();
        let container: Container = self.core.task().container();
        let report = SessionReport { counts: self.core.counts().clone(), container };
        (report, Guard { decision: self.core.into_decision(), kit: self.kit })
    }

    async fn read(&mut self) -> Result<Told, ExtensionError> {
        let link = self.tabs.link().await?;
        let page = link.read(&self.view, &self.text).await?;
        Ok(Told { text: page.text, origin: page.origin, safety: self.text.take_safety() })
    }

    async fn forms(&mut self) -> Result<Vec<Observed<Snapshot>>, ExtensionError> {
        let known = self.tabs.tls.of(&self.view.origins).await;
        let link = self.tabs.link().await?;
        link.forms(&self.view, &|origin| known.of(origin)).await
    }

    /// Leaves these origins open as well, and what was open to a release before; nothing else.
    async fn narrow(&mut self, origins: &[Origin]) -> Result<(), ExtensionError> {
        let open = self.leave_open(origins);
        let narrowed = match self.tabs.link().await {
            Ok(link) => link.narrow(&self.view, &open).await,
            Err(error) => Err(error),
        };
        self.left_open(open, origins.first(), narrowed)
    }

    /// What is to be open besides what was: published before it is asked for, since an extension that comes back
    /// meanwhile opens what it hears nothing of.
    fn leave_open(&self, origins: &[Origin]) -> Vec<Origin> {
        let mut open = self.open.clone();
        for origin in origins {
            if !open.contains(origin) {
                open.push(origin.clone());
            }
        }
        self.tabs.rules.send_modify(|rules| rules.open.clone_from(&open));
        open
    }

    /// What was to be open is, where values went there, or may have. The user is told how long a page of before has to be
    /// waited for.
    fn left_open(
        &mut self,
        open: Vec<Origin>,
        to: Option<&Origin>,
        went: Result<(), ExtensionError>,
    ) -> Result<(), ExtensionError> {
        if let (Err(ExtensionError::Earlier(wait)), Some(to)) = (went, to) {
            self.core.note_wait(to.clone(), wait);
        }
        if matches!(went, Ok(()) | Err(ExtensionError::Unconfirmed)) {
            self.open = open;
        } else {
            self.tabs.rules.send_modify(|rules| rules.open.clone_from(&self.open));
        }
        went
    }

    async fn fill(&mut self, fill: SealedFill) -> Result<(), ExtensionError> {
        let decided = self.core.decided().map(shown).ok_or(ExtensionError::Disagrees)?;
        let to = fill.origin.clone();
        let open = self.leave_open(&[to.clone(), fill.destination.origin.clone()]);
        let filled = match self.tabs.link().await {
            Ok(link) => link.fill(fill, &self.view, &open, &decided).await,
            Err(error) => Err(error),
        };
        let filled = self.left_open(open, Some(&to), filled);
        if filled == Err(ExtensionError::Disagrees) {
            self.record(&[AuditEvent::Browser { what: Stopped::Preview }], true);
        }
        filled
    }

    fn record(&mut self, events: &[AuditEvent], sync: bool) -> bool {
        let time = unix_ms();
        events.iter().all(|event| self.kit.audit.append(self.id, event, time, sync).is_ok())
    }

    fn keep_standing(&mut self) {
        if let Some(standing) = self.core.take_standing() {
            self.kit.keep(StateName::Consents, &book::to_json(&standing));
        }
    }

    pub(super) fn now(&self) -> Millis {
        Millis(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// A decision by the names that a compiled policy has.
fn shown((root, valuation): (Root, Valuation)) -> Decided {
    let (event, need) = match root {
        Root::Request(kind, tier) => (kind.as_str(), tier.as_str()),
        Root::Verb(verb) => (verb.as_str(), ""),
    };
    let valuation = Axis::ALL.iter().map(|axis| (axis.as_str(), valuation.name(*axis))).collect();
    Decided { event: event.to_owned(), need: need.to_owned(), valuation }
}

/// The reason code for a failure of the extension.
fn reason_of(error: ExtensionError) -> Reason {
    match error {
        ExtensionError::Stale | ExtensionError::Disagrees => Reason::StaleDocument,
        ExtensionError::NotOfTask => Reason::OriginMismatch,
        ExtensionError::Occluded => Reason::Occluded,
        ExtensionError::Diverted => Reason::WrongDestination,
        ExtensionError::NotApplicable => Reason::NotApplicable,
        ExtensionError::TextWithheld | ExtensionError::WayOut | ExtensionError::Earlier(_) => {
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
    fn a_tab_serves_everything_but_cards() {
        let schema = schema();
        assert_eq!(schema.takes(Kind::Purchase), None);
        assert_eq!(schema.takes(Kind::Payment), None);
        assert_eq!(schema.takes(Kind::Address), Schema::default().takes(Kind::Address));
        assert_eq!(schema.field("zip"), Some(sirl::Field::PostalCode));
        assert_eq!(schema.kinds().count(), Schema::default().kinds().count() - 2);
    }
}
