//! The same with a browser, for an agent that sends actions.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use browser_signals::egress::{Blocked, EgressGuard, OutgoingRequest};
use browser_signals::playwright::{BridgeError, Browser, Picture, PictureSettings, Tab};
use browser_signals::text_guard::{TextGuard, TextWithheld};
use browser_signals::{Container, ElementRef, Origin, Outline, Verb};
use classifier::{Detectors, Safety};
use policy_dfa::{Millis, Reason};
use sirl::{Block, Kind, Schema};
use url::Url;

use super::observer::Observer;
use super::report::ObservationReport;
use crate::action::Action;
use crate::audit::{About, AuditEvent, Stopped, WouldHave};
use crate::egress_proxy::{EgressProxy, NoProxy};
use crate::guard::{GuardError, SystemEntropy};
use crate::placement::best_form;
use crate::safety::{PageSafety, WindowSafety};
use crate::scrub::{Scrubber, Why};
use crate::session::core::{Look, Written, look_for};
use crate::session::hands::{self, reason_of};
use crate::session::outcome::{block_refused, plan_answered, request_refused, verb_refused};
use crate::text::mask_by_form;

/// One task of an agent that nothing guards, watched.
///
/// It takes what a [`Session`](crate::Session) takes and carries everything out: pages are told as they are, the
/// container has no walls, the user is not asked. What does not work here does not work in the bridge or its proxy at
/// all: popups, downloads, file choosers and dialogs, an element that is gone or covered, a host in a private network.
pub struct UnguardedSession {
    observer: Observer,
    tab: Tab,
    _proxy: EgressProxy,
    text: Arc<PlainText>,
    way_out: Arc<WayOut>,
    started: Instant,
}

impl UnguardedSession {
    /// Opens a container for the task of an observer. Nothing is asked.
    ///
    /// # Errors
    /// [`BridgeError`] where the browser fails, [`NoProxy`] where its proxy does, [`GuardError`] where the shipped models do;
    /// none of these in a build whose tests passed.
    pub async fn begin(observer: Observer, browser: &Browser) -> Result<UnguardedSession, UnguardedError> {
        let shipped = |error: String| UnguardedError::Guard(GuardError::Policy(error));
        let scrubber = Scrubber::standard().map_err(|error| shipped(error.to_string()))?;
        let safety = match observer.wants_safety() {
            true => Some(WindowSafety::standard().map_err(|error| shipped(error.to_string()))?),
            false => None,
        };
        let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await?;
        let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await?;
        let way_out = Arc::new(WayOut { task: observer.task().origins.clone(), left: Mutex::default() });
        tab.set_egress(way_out.clone());
        let detectors = observer.detectors().clone();
        let text = Arc::new(PlainText { scrubber, detectors, safety, last: Mutex::default() });
        Ok(UnguardedSession { observer, tab, _proxy: proxy, text, way_out, started: Instant::now() })
    }

    /// The prompt, as it is.
    pub fn prompt(&self) -> &str {
        &self.observer.task().words
    }

    /// Whether the page is gone for good, with its process or with the browser. The session can only be ended then.
    pub fn is_gone(&self) -> bool {
        self.tab.is_gone()
    }

    /// A handle for the one element of the page that a CSS selector fits.
    ///
    /// # Errors
    /// [`BridgeError::Selector`] and [`BridgeError::NotOne`].
    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        self.tab.query(selector).await
    }

    /// A picture of the page.
    ///
    /// # Errors
    /// As [`Tab::picture`].
    pub async fn picture(&self, settings: PictureSettings) -> Result<Picture, BridgeError> {
        self.tab.picture(settings).await
    }

    /// Shows the page to a second program in the same browser.
    #[cfg(all(feature = "relay", unix))]
    pub fn show_to(&self, program: &browser_signals::playwright::SecondProgram) {
        program.follow(&self.tab);
    }

    /// What came together so far.
    pub fn report(&self) -> &ObservationReport {
        self.observer.report()
    }

    /// Carries one action of the agent out. The text is what the agent gets: pages as they are.
    pub async fn act(&mut self, action: Action) -> String {
        let answer = match action {
            Action::Verb(Verb::Read) => self.read().await,
            Action::Verb(verb) => self.verb(verb).await,
            Action::Request(text) => self.request(&text).await,
        };
        self.note_browser();
        answer
    }

    /// Closes the container, ends the record, and gives the report.
    pub async fn finish(mut self) -> ObservationReport {
        self.note_browser();
        self.tab.close().await;
        self.observer.finish()
    }

    async fn read(&mut self) -> String {
        match self.tab.read(self.text.as_ref()).await {
            Ok(page) => {
                let seen = self.text.last.lock().unwrap_or_else(PoisonError::into_inner).take();
                let (safety, withheld) = seen.unwrap_or_default();
                self.observer.read(page.origin.as_ref(), &page.text, safety, withheld);
                page.text
            }
            Err(error) => verb_refused(reason_of(&error)),
        }
    }

    async fn verb(&mut self, verb: Verb) -> String {
        // As in a guard's session, these two have nothing to decide.
        let seen = match &verb {
            Verb::Wait { .. } | Verb::Back => None,
            verb => match hands::look(&self.tab, look_for(verb)).await {
                Ok(pages) => pages.into_iter().next(),
                // There is nothing there to act on.
                Err(error) => return verb_refused(reason_of(&error)),
            },
        };
        if seen.is_some() {
            self.observer.verb(&verb, seen.as_ref(), self.now());
        }
        match hands::carry_out(&self.tab, verb, seen.as_ref()).await {
            Ok(()) => "ok".to_owned(),
            Err(error) => verb_refused(reason_of(&error)),
        }
    }

    async fn request(&mut self, text: &str) -> String {
        match Written::read(&Schema::default(), text) {
            Ok(Written::Block(block)) => self.block(&block).await,
            Ok(Written::Plan(_)) => plan_answered(&[]),
            Err(error) => {
                self.observer.unreadable_request(None);
                block_refused(Reason::MalformedRequest, &error.to_string())
            }
        }
    }

    /// Every line is answered with a refusal: there is no vault. That it is one that a guard would have refused too is
    /// in the report and not in the answer.
    async fn block(&mut self, block: &Block) -> String {
        let now = self.now();
        let forms = hands::look(&self.tab, Look::Forms).await.unwrap_or_default();
        let page = hands::look(&self.tab, Look::Page).await.unwrap_or_default();
        let answers = block.requests.iter().map(|request| {
            let seen = match request.kind {
                Kind::Purchase => page.first(),
                _ => best_form(&forms, request.effective_fields()),
            };
            self.observer.request(request, seen, now);
            request_refused(request.kind, Reason::DeliveryForbidden)
        });
        answers.collect::<Vec<_>>().join("\n")
    }

    fn note_browser(&mut self) {
        for origin in std::mem::take(&mut *self.way_out.left.lock().unwrap_or_else(PoisonError::into_inner)) {
            let would = Some(WouldHave::Denied(Reason::EgressBlocked));
            self.observer.other(About::Outgoing, origin.as_ref(), would);
        }
        for event in self.tab.events() {
            self.observer.record(&AuditEvent::Browser { what: Stopped::from(&event) });
        }
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// Why a session without a guard could not begin.
#[derive(Debug, thiserror::Error)]
pub enum UnguardedError {
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// The container's way out could not be opened.
    #[error(transparent)]
    Proxy(#[from] NoProxy),
    /// The shipped models failed.
    #[error(transparent)]
    Guard(GuardError),
}

/// Tells a page as it is, and keeps whether a guard would have withheld words of it.
struct PlainText {
    scrubber: Scrubber,
    detectors: Arc<Detectors>,
    safety: Option<WindowSafety>,
    last: Mutex<Option<(Option<Safety>, bool)>>,
}

impl TextGuard for PlainText {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let told = self.scrubber.scrub(outline);
        let suspicious = told.withheld.iter().any(|withheld| withheld.why == Why::Suspicious);
        let withheld = suspicious || mask_by_form(&told.text, &self.detectors) != told.text;
        let safety = self.safety.as_ref().map(|safety| safety.of(outline));
        *self.last.lock().map_err(|_| TextWithheld)? = Some((safety, withheld));
        Ok(outline.unfiltered())
    }
}

/// Lets everything out, and keeps where the page went that is not the task's.
struct WayOut {
    task: Vec<Origin>,
    left: Mutex<Vec<Option<Origin>>>,
}

impl EgressGuard for WayOut {
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        let origin = Url::parse(request.url).ok().and_then(|url| Origin::of(&url).ok());
        if request.main_navigation && !origin.as_ref().is_some_and(|origin| self.task.contains(origin)) {
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push(origin);
        }
        Ok(())
    }
}
