//! An observed session in a browser, for an agent that sends actions.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use browser_signals::egress::{Blocked, EgressGuard, OutgoingRequest};
use browser_signals::playwright::{BridgeError, Browser, Tab};
use browser_signals::text_guard::{TextGuard, TextWithheld};
use browser_signals::this_machine;
use browser_signals::{Container, ElementRef, Origin, Outline, Verb};
use classifier::{Detectors, Safety};
use policy_dfa::{Millis, Reason};
use sirl::{Block, Kind, Schema};
use url::Url;

use super::observer::Observer;
use super::report::ObservationReport;
use crate::audit::{AuditEvent, AuditSubject, BlockedByBrowser, WouldHave};
use crate::egress::proxy::{EgressProxy, ProxyError};
use crate::guard::GuardError;
use crate::guard::pointing::best_form;
use crate::page_text::mask_page;
use crate::page_text::{Scrubber, WithholdReason};
use crate::safety::{PageSafety, WindowSafety};
use crate::session::core::{Action, AgentMessage, Look};
use crate::session::driving::container_actions::{carry_out, look, look_for_key, reason_of};
use crate::session::{ActionOutcome, ActionResult, RequestResult};
use crate::system::SystemEntropy;

/// One observed task of an unguarded agent.
///
/// It takes the actions of a [`Session`](crate::Session) and carries all of them out: the model sees pages unchanged, the
/// container's egress is open, and the user is not asked. The limits of the bridge and its proxy remain: popups,
/// downloads, file choosers and dialogs, elements that are gone or covered, hosts in a private network.
pub struct UnguardedSession {
    observer: Observer,
    tab: Tab,
    _proxy: EgressProxy,
    text: Arc<UnfilteredText>,
    egress: Arc<PassThroughEgress>,
    started: Instant,
}

impl UnguardedSession {
    /// Opens a container for the task of an observer, without any prompt.
    ///
    /// # Errors
    /// [`BridgeError`] where the browser fails, [`ProxyError`] where its proxy does, [`GuardError`] where the shipped models do;
    /// none of these in a build whose tests passed.
    pub async fn begin(
        mut observer: Observer,
        browser: &Browser,
    ) -> Result<UnguardedSession, UnguardedError> {
        observer.note_sites_on_this_machine(this_machine::sites(&browser.settings().private_hosts));
        let shipped = |error: String| UnguardedError::Guard(GuardError::Part(error));
        let scrubber = Scrubber::standard().map_err(|error| shipped(error.to_string()))?;
        let safety = match observer.wants_safety() {
            true => Some(WindowSafety::standard().map_err(|error| shipped(error.to_string()))?),
            false => None,
        };
        let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await?;
        let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await?;
        let egress =
            Arc::new(PassThroughEgress { task: observer.task().origins.clone(), left: Mutex::default() });
        tab.set_egress(egress.clone());
        let detectors = observer.detectors().clone();
        let text = Arc::new(UnfilteredText { scrubber, detectors, safety, last: Mutex::default() });
        Ok(UnguardedSession { observer, tab, _proxy: proxy, text, egress, started: Instant::now() })
    }

    /// The unchanged prompt.
    pub fn prompt(&self) -> &str {
        &self.observer.task().words
    }

    /// Whether the page, its process or the browser ended. The session can then only be finished.
    pub fn is_gone(&self) -> bool {
        self.tab.is_gone()
    }

    /// The ref of the one element that a CSS selector matches.
    ///
    /// # Errors
    /// [`BridgeError::Selector`] and [`BridgeError::NotOne`].
    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        self.tab.query(selector).await
    }

    /// The page. Nothing guards what is done with it.
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// The report so far.
    pub fn report(&self) -> &ObservationReport {
        self.observer.report()
    }

    /// Carries out one action of the agent. Pages are unchanged in the outcome.
    pub async fn act(&mut self, action: Action) -> ActionOutcome {
        let answer = match action {
            Action::Verb(Verb::Read) => self.read().await,
            Action::Verb(verb) => self.verb(verb).await,
            Action::Request(text) => self.request(&text).await,
        };
        self.note_browser();
        answer
    }

    /// Closes the container, ends the record, and returns the report.
    pub async fn finish(mut self) -> ObservationReport {
        self.note_browser();
        self.tab.close().await;
        self.observer.finish()
    }

    async fn read(&mut self) -> ActionOutcome {
        match self.tab.read(self.text.as_ref()).await {
            Ok(page) => {
                let seen = self.text.last.lock().unwrap_or_else(PoisonError::into_inner).take();
                let (safety, withheld) = seen.unwrap_or_default();
                self.observer.read(page.origin.as_ref(), &page.text, safety, withheld);
                ActionOutcome::page(page.text)
            }
            Err(error) => ActionOutcome::refused(reason_of(&error)),
        }
    }

    async fn verb(&mut self, verb: Verb) -> ActionOutcome {
        let (verb, seen) = match Look::for_verb(&verb) {
            Look::Key(key) => match look_for_key(&self.tab, key).await {
                Ok(target) => {
                    let (typing, page) = target.typing(key);
                    (typing, Some(page))
                }
                Err(error) => return ActionOutcome::refused(reason_of(&error)),
            },
            _ => (verb, None),
        };
        // As in a guard's session, these two verbs need no decision.
        let seen = match &verb {
            _ if seen.is_some() => seen,
            Verb::Wait { .. } | Verb::Back => None,
            verb => match look(&self.tab, Look::for_verb(verb)).await {
                Ok(pages) => pages.into_iter().next(),
                // The verb has no target.
                Err(error) => return ActionOutcome::refused(reason_of(&error)),
            },
        };
        if seen.is_some() {
            self.observer.verb(&verb, seen.as_ref(), self.now());
        }
        match carry_out(&self.tab, verb, seen.as_ref()).await {
            Ok(()) => ActionOutcome::done(),
            Err(error) => ActionOutcome::refused(reason_of(&error)),
        }
    }

    async fn request(&mut self, text: &str) -> ActionOutcome {
        match AgentMessage::read(&Schema::default(), text) {
            Ok(AgentMessage::Block(block)) => self.block(&block).await,
            Ok(AgentMessage::Plan(_)) => ActionOutcome::new(ActionResult::Planned(Vec::new())),
            Err(error) => {
                self.observer.unreadable_request(None);
                ActionOutcome::block_refused(Reason::MalformedRequest, &error.to_string())
            }
        }
    }

    /// Refuses every request, since there is no vault. The report and not the reply says whether a guard would have refused
    /// it too.
    async fn block(&mut self, block: &Block) -> ActionOutcome {
        let now = self.now();
        let forms = look(&self.tab, Look::Forms).await.unwrap_or_default();
        let page = look(&self.tab, Look::Page).await.unwrap_or_default();
        let answers = block.requests.iter().map(|request| {
            let seen = match request.kind {
                Kind::Purchase => page.first(),
                _ => best_form(&forms, request.effective_fields(), None),
            };
            self.observer.request(request, seen, now);
            RequestResult::denied(request.kind, Reason::DeliveryForbidden)
        });
        ActionOutcome::of_requests(answers.collect())
    }

    fn note_browser(&mut self) {
        for origin in std::mem::take(&mut *self.egress.left.lock().unwrap_or_else(PoisonError::into_inner)) {
            let would = Some(WouldHave::Denied(Reason::EgressBlocked));
            self.observer.other(AuditSubject::Outgoing, origin.as_ref(), would);
        }
        for event in self.tab.events() {
            self.observer.record(&AuditEvent::Browser { what: BlockedByBrowser::from(&event) });
        }
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// Why an observed session could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnguardedError {
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// The container's proxy could not be started.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The shipped models failed.
    #[error(transparent)]
    Guard(GuardError),
}

/// Shows a page unchanged, and records whether a guard would have withheld text of it.
struct UnfilteredText {
    scrubber: Scrubber,
    detectors: Arc<Detectors>,
    safety: Option<WindowSafety>,
    last: Mutex<Option<(Option<Safety>, bool)>>,
}

impl TextGuard for UnfilteredText {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let (scrubbed, told) = self.scrubber.scrub_and_tell(outline);
        let suspicious = scrubbed.withheld.iter().any(|withheld| withheld.why == WithholdReason::Suspicious);
        let withheld = suspicious || mask_page(&scrubbed, &self.detectors) != scrubbed.text;
        // What a guard would have told counts, as in a guarded session.
        let safety = self.safety.as_ref().map(|safety| safety.of(&told));
        *self.last.lock().map_err(|_| TextWithheld)? = Some((safety, withheld));
        Ok(outline.unfiltered())
    }
}

/// Lets every request out, and records navigations to origins outside the task.
struct PassThroughEgress {
    task: Vec<Origin>,
    left: Mutex<Vec<Option<Origin>>>,
}

impl EgressGuard for PassThroughEgress {
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        let origin = Url::parse(request.url).ok().and_then(|url| Origin::of(&url).ok());
        if request.main_navigation && !origin.as_ref().is_some_and(|origin| self.task.contains(origin)) {
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push(origin);
        }
        Ok(())
    }
}
