//! The thin driver: carries out the core's commands in a browser, and keeps time.

use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use browser_signals::playwright::{BridgeError, Browser, PageEvent, Picture, PictureSettings, Tab, WireEnd};
use browser_signals::{Container, ElementRef, Observed, Origin, SealedFill, SealedWire, Snapshot, Verb};
use policy_dfa::{Millis, Reason, Task};
use sirl::Kind;
use vault::StateName;

use super::core::{Command, Core, Event, Payment, Told};
use super::hands::{self, reason_of};
use super::opening::{self, Place, Ready, Sealed, Wording};
use super::outcome::Counts;
use super::proposal::Proposal;
use super::way_out;
use crate::action::Action;
use crate::audit::{AuditEvent, SessionId, Stopped};
use crate::checkout::{ArmError, Outcome, Pending, PurchaseId};
use crate::consent::order::Waiting;
use crate::consent::{HandOver, HandedOver, book};
use crate::egress::{ContainerEgress, Releases};
use crate::egress_proxy::EgressProxy;
use crate::guard::{Guard, GuardError, Kit};
use crate::order::Deeds;
use crate::scrub::Quarantine;
use crate::text::PageTextGuard;
use crate::time::unix_ms;

/// How long the shop has to redeem a payment before it is voided.
const REDEEM_WITHIN: Duration = Duration::from_secs(20);

/// How long the shop has to show its receipt before the agent goes on.
const RECEIPT_WITHIN: Duration = Duration::from_secs(1);

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The prompt names no web address, so the task has no place to act.
    #[error("the prompt names no web address; say where to go, such as https://shop.example")]
    NoOrigin,
    /// The task that an agent proposes names more sites than a question can show.
    #[error("the task names more sites than the user can be asked about at once; name eight at most")]
    TooManySites,
    /// The audit record cannot be written.
    #[error("the audit record cannot be written, so nothing is begun")]
    Audit,
    /// A value of the prompt could not be moved into the vault.
    #[error("a value of the prompt could not be moved into the vault: {0}")]
    Vault(String),
    /// The container's way out could not be opened.
    #[error("the container's proxy could not be started: {0}")]
    Proxy(String),
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BridgeError),
    /// The guard failed.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

/// What a session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReport {
    /// What was counted.
    pub counts: Counts,
    /// The container that the user agreed to.
    pub container: Container,
}

/// One task in one container of the browser.
pub struct Session {
    id: SessionId,
    core: Core,
    tab: Arc<Tab>,
    proxy: EgressProxy,
    deeds: Deeds,
    text: PageTextGuard,
    quarantine: Quarantine,
    kit: Kit,
    prompt: String,
    ruled_out: Vec<(Kind, Reason)>,
    started: Instant,
}

impl Session {
    /// Begins a task: takes the values out of the prompt, seals the task from the user's words, asks once
    /// for the container and for what the task will need, and opens it.
    ///
    /// Where the user says no, the session goes on in a T0 container: it can read and release nothing.
    pub async fn begin(guard: Guard, browser: &Browser, prompt: &str) -> Result<Session, SessionError> {
        Session::begin_or_give_back(guard, browser, prompt).await.map_err(|(error, _)| error)
    }

    /// As [`Session::begin`], for a guard that has to outlive a task that could not be begun.
    ///
    /// # Errors
    /// [`SessionError`], with the guard.
    pub async fn begin_or_give_back(
        guard: Guard,
        browser: &Browser,
        prompt: &str,
    ) -> Result<Session, (SessionError, Box<Guard>)> {
        Session::begin_task(guard, browser, Wording::Users(prompt)).await
    }

    /// Begins a task that the agent proposes, where the user's own words do not reach the guard: the user is asked for
    /// its sites and its kinds of request, and told that the agent chose them. See [`Proposal`].
    ///
    /// # Errors
    /// [`SessionError`], with the guard: an agent must not be able to end it with a task that cannot be begun.
    pub async fn begin_proposed(
        guard: Guard,
        browser: &Browser,
        proposal: Proposal,
    ) -> Result<Session, (SessionError, Box<Guard>)> {
        Session::begin_task(guard, browser, Wording::Agents(proposal)).await
    }

    async fn begin_task(
        guard: Guard,
        browser: &Browser,
        wording: Wording<'_>,
    ) -> Result<Session, (SessionError, Box<Guard>)> {
        let Guard { decision, mut kit } = guard;
        let sealed = match opening::open(&mut kit, &decision, wording, Place::Container).await {
            Ok(sealed) => sealed,
            Err(error) => return Err((error, Box::new(Guard { decision, kit }))),
        };
        let (releases, deeds) = (Releases::default(), Deeds::default());
        let (tab, proxy) = match container(&mut kit, browser, &sealed.task, &releases, &deeds).await {
            Ok(opened) => opened,
            Err(error) => {
                let _unrecorded = kit.audit.append(sealed.id, &AuditEvent::Ended, unix_ms(), true);
                kit.vault.lock().unwrap_or_else(PoisonError::into_inner).forget_task_values();
                return Err((error, Box::new(Guard { decision, kit })));
            }
        };
        let Sealed { id, prompt, ruled_out, .. } = &sealed;
        let (id, prompt, ruled_out) = (*id, prompt.clone(), ruled_out.clone());
        let Ready { core, text, quarantine } = sealed.ready(decision, &kit, releases);
        let (core, started) = (core.with_deeds(deeds.clone()), Instant::now());
        let tab = Arc::new(tab);
        let mut session =
            Session { id, core, tab, proxy, deeds, text, quarantine, kit, prompt, ruled_out, started };
        session.keep_standing();
        session.kit.sign_head();
        Ok(session)
    }

    /// The prompt as the model may see it: handles in place of the values.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The task as it was sealed: where it may go, what it may ask for, in which container.
    pub fn task(&self) -> &Task {
        self.core.task()
    }

    /// How often the user was asked something in this session so far.
    pub fn prompts(&self) -> u32 {
        self.core.counts().prompts
    }

    /// Whether values of the user's are in the container: from then on the model sees no picture of it, and nothing of it
    /// that did not come through the guard, until it is closed.
    pub fn has_released(&self) -> bool {
        self.text.has_released()
    }

    /// Whether something of the user's may be in the container: a released value, or what they typed by hand, which no
    /// mask knows. From then on nothing may look at it but what the guard itself tells.
    pub fn is_private(&self) -> bool {
        self.has_released() || self.core.was_by_hand()
    }

    /// Whether the page is gone for good, with its process or with the browser. The session can only be ended then.
    pub fn is_gone(&self) -> bool {
        self.tab.is_gone()
    }

    /// Whether the user went on by hand: the agent has no part in the page any more.
    pub fn is_taken_over(&self) -> bool {
        self.core.is_taken_over()
    }

    /// A handle for the one element of the page that a CSS selector fits.
    ///
    /// # Errors
    /// [`BridgeError::Selector`] and [`BridgeError::NotOne`]; [`BridgeError::TextWithheld`] once something of the user's
    /// may be in the container: whether a selector fits would tell of it, letter by letter.
    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        if self.is_private() {
            return Err(BridgeError::TextWithheld);
        }
        self.tab.query(selector).await
    }

    /// A picture of the page, for a model that sees. Nothing is covered in it.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once something of the user's may be in the container, which a picture would show;
    /// otherwise as [`Tab::picture`].
    pub async fn picture(&self, settings: PictureSettings) -> Result<Picture, BridgeError> {
        if self.is_private() {
            return Err(BridgeError::TextWithheld);
        }
        self.tab.picture(settings).await
    }

    /// Shows the session's page to a second program in the same browser.
    #[cfg(all(feature = "relay", unix))]
    pub fn show_to(&self, program: &browser_signals::playwright::SecondProgram) {
        program.follow(&self.tab);
    }

    /// What the model may be told of a text that comes out of the page by another way than reading: what it wrote to the
    /// console, what a tool says of it. All of it is the page's word.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] where the vault is locked.
    pub fn tell(&mut self, text: &str) -> Result<String, BridgeError> {
        let told = self.text.tell(text).map_err(|_| BridgeError::TextWithheld)?;
        self.core.note_said(&told);
        Ok(told)
    }

    /// The kinds of request that the user's words may need and the policy can never grant in this task, with
    /// the reason: to be told to the user. They were not asked about, and are not part of the task.
    pub fn ruled_out(&self) -> &[(Kind, Reason)] {
        &self.ruled_out
    }

    /// What was withheld from the model as suspicious: for the user, never for the model.
    pub fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// The tab the session acts in, for inspection by tests.
    #[cfg(feature = "inspection")]
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// The container's proxy, for inspection by tests.
    #[cfg(feature = "inspection")]
    pub fn proxy(&self) -> &EgressProxy {
        &self.proxy
    }

    /// Carries out one action of the agent, or refuses it. The text is all that the agent gets.
    pub async fn act(&mut self, action: Action) -> String {
        self.answer_waiting().await;
        self.read_filled_back(&action).await;
        self.judge_unread(&action).await;
        let mut event = Event::Act(action);
        loop {
            event = match self.core.step(event, self.now()) {
                Command::Answer(text) => {
                    self.keep_standing();
                    self.warn().await;
                    self.note_browser_events();
                    return text;
                }
                Command::Record { events, sync } => Event::Recorded(self.record(&events, sync)),
                Command::Ask(prompt) => Event::Answered(self.kit.ask(&prompt).await),
                Command::AskCode { card, prompt } => {
                    self.kit.ask_code(&card, &prompt).await;
                    Event::CodeAsked
                }
                Command::HandOver(offer) => Event::HandedOver(self.hand_over(&offer).await),
                Command::Read => {
                    let text = self.tab.read(&self.text).await;
                    self.deeds.note_on_page(self.text.take_shown());
                    let safety = self.text.take_safety();
                    let told = text.map(|page| Told { text: page.text, origin: page.origin, safety });
                    Event::Text(told.map_err(|e| reason_of(&e)))
                }
                Command::Look(look) => {
                    Event::Seen(hands::look(&self.tab, look).await.map_err(|e| reason_of(&e)))
                }
                Command::Do { verb, decided } => Event::Done(self.carry_out(verb, decided).await),
                Command::Narrow(open) => {
                    Event::Done(way_out::narrowed(&self.proxy, &open, async || ()).await)
                }
                Command::Fill(fill) => Event::Done(self.fill(fill).await),
                Command::Wire(wire) => Event::Done(self.wire(wire).await),
                Command::Pay(payment) => Event::Done(self.pay(*payment).await),
            };
        }
    }

    /// Carries a verb out. A request that has to wait for the user, and the page with it, waits until the user answered.
    async fn carry_out(
        &mut self,
        verb: Verb,
        decided: Option<Box<Observed<Snapshot>>>,
    ) -> Result<(), Reason> {
        let tab = Arc::clone(&self.tab);
        let done = async { hands::carry_out(&tab, verb, decided.as_deref()).await };
        let mut done = pin!(done);
        loop {
            tokio::select! {
                biased;
                Ok(()) = tab.wait_for_held() => {
                    if !self.answer_waiting().await {
                        let _ended = done.await;
                        return Err(Reason::ConsentDenied);
                    }
                }
                done = &mut done => return done.map_err(|e| reason_of(&e)),
            }
        }
    }

    /// Asks about the requests that wait, if any do, and lets them go or stops them. Says whether nothing was stopped.
    async fn answer_waiting(&mut self) -> bool {
        let held = self.tab.held();
        if held.is_empty() {
            return true;
        }
        // Chromium asks nothing of a page whose navigation waits, for as long as it waits. What was filled there was read back
        // before the verb.
        if !held.iter().any(|it| it.main_navigation) {
            self.note_changed().await;
        }
        let waiting = held.into_iter().map(|it| Waiting { to: it.to, path: it.path }).collect();
        let agreed = match self.core.ask_about_waiting(waiting, self.now()) {
            Some(prompt) => {
                let answered = self.kit.ask(&prompt).await;
                let (agreed, events) = self.core.answered_about_waiting(&prompt, &answered, self.now());
                self.record(&events, true) && agreed
            }
            None => false,
        };
        if !agreed {
            self.core.note_denial(Reason::ConsentDenied);
        }
        // Who is gone waits for nothing.
        let _gone = self.tab.let_go(agreed).await;
        agreed
    }

    /// Before a form is sent or something is paid: reads back what the guard filled. What changed is told to the user.
    async fn read_filled_back(&self, action: &Action) {
        let sends =
            matches!(action, Action::Verb(Verb::Submit { .. } | Verb::Click { .. }) | Action::Request(_));
        if sends && self.text.has_released() {
            self.note_changed().await;
        }
    }

    /// Before a request under a policy that asks how safe the page is: judges it as it is now, also where the agent asked
    /// without having read it.
    async fn judge_unread(&mut self, action: &Action) {
        if !self.core.asks_for_safety() || !matches!(action, Action::Request(_)) {
            return;
        }
        // Where it cannot be read, it stays unjudged, and the policy denies.
        if let Ok(page) = self.tab.read(&self.text).await
            && let Some(origin) = page.origin
        {
            self.core.note_safety(&origin, self.text.take_safety());
        }
    }

    async fn note_changed(&self) {
        // Where the page is gone, nothing of it is sent.
        for (site, labels) in self.tab.changed_since_filled().await.unwrap_or_default() {
            self.deeds.note_changed(&site, labels);
        }
    }

    /// Ends the task: closes the container, writes the last record, and gives the guard back.
    pub async fn finish(mut self) -> (SessionReport, Guard) {
        self.tab.withdraw_wires();
        self.note_browser_events();
        self.tab.close().await;
        self.record(&[AuditEvent::Ended], true);
        self.kit.keep_quarantine(&self.quarantine);
        self.kit.keep_guesses(&self.core.counts().guessed);
        let was_private = self.is_private();
        if let Some(memory) = &mut self.kit.memory {
            memory.take_in(&mut self.core, was_private);
        }
        self.kit.sign_head();
        self.kit.vault.lock().unwrap_or_else(PoisonError::into_inner).forget_task_values();
        let report =
            SessionReport { counts: self.core.counts().clone(), container: self.core.task().container() };
        (report, Guard { decision: self.core.into_decision(), kit: self.kit })
    }

    /// Keeps what the user answered for longer than this task. Where that fails, it holds for the task.
    fn keep_standing(&mut self) {
        if let Some(standing) = self.core.take_standing() {
            self.kit.keep(StateName::Consents, &book::to_json(&standing));
        }
    }

    /// Tells the user, in plain words, what was refused because the page looks unsafe.
    async fn warn(&mut self) {
        for warning in self.core.take_warnings() {
            self.kit.answerer.warn(&warning).await;
        }
    }

    /// Offers the user to go on by hand. What stands in forms for values is withdrawn first: a person would send it
    /// as it is.
    async fn hand_over(&mut self, offer: &HandOver) -> HandedOver {
        self.tab.withdraw_wires();
        self.kit.hand_over(offer).await
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn record(&mut self, events: &[AuditEvent], sync: bool) -> bool {
        let time = unix_ms();
        events.iter().all(|event| self.kit.audit.append(self.id, event, time, sync).is_ok())
    }

    fn note_browser_events(&mut self) {
        for event in self.tab.events() {
            if let PageEvent::WireEnded { request, end } = event {
                let ended = self.core.end_wire(request, not_delivered(end));
                self.record(ended.as_slice(), true);
                continue;
            }
            let what = Stopped::from(&event);
            if what == Stopped::Request {
                self.core.note_denial(Reason::EgressBlocked);
            }
            self.record(&[AuditEvent::Browser { what }], false);
        }
        for _ in 0..way_out::refused(&self.proxy) {
            self.core.note_denial(Reason::EgressBlocked);
            self.record(&[AuditEvent::Browser { what: Stopped::Request }], false);
        }
    }

    /// Fills, once the container has no way to anywhere else.
    async fn fill(&self, fill: SealedFill) -> Result<(), Reason> {
        let open = [fill.origin.clone(), fill.destination.origin.clone()];
        let filled = way_out::narrowed(&self.proxy, &open, || self.tab.fill(fill)).await?;
        filled.map(|_| ()).map_err(|e| reason_of(&e))
    }

    /// Placeholders for values that go out later: what else is open then is cut now.
    async fn wire(&self, wire: SealedWire) -> Result<(), Reason> {
        let open = [wire.origin.clone(), wire.destination.origin.clone()];
        let filled = way_out::narrowed(&self.proxy, &open, || self.tab.fill_wire(wire)).await?;
        filled.map(|_| ()).map_err(|e| wire_reason(&e))
    }

    /// One purchase: the handler is armed for exactly this payee and amount, the browser is allowed to use
    /// it, the shop's button is pressed, and everything is closed again whatever happens.
    async fn pay(&mut self, payment: Payment) -> Result<(), Reason> {
        let Payment { card, payee, amount, button, decided } = payment;
        let Some(handler) = self.kit.payments.clone() else { return Err(Reason::DeliveryForbidden) };
        let mut id = [0; 16];
        self.kit.entropy.fill(&mut id);
        let pending = Pending::new(payee.clone(), payee, amount);
        let armed = handler.arm(pending, card, PurchaseId(id)).map_err(|error| match error {
            ArmError::AlreadyPending => Reason::BudgetSpent,
            ArmError::Mismatch => Reason::ClaimMismatch,
            ArmError::Unsettled => Reason::PaymentDeclined,
            ArmError::JournalUnavailable => Reason::AuditUnavailable,
        })?;
        let origin = handler.origin();
        let started = match self.tab.payment_permission(&origin, true).await {
            Ok(()) => self.tab.click(&button, &decided).await,
            Err(error) => Err(error),
        };
        // A shop can start the payment as soon as the mouse is down. What the bank says counts, also where the
        // click then failed: a payment that went through is never reported as refused.
        let within = if started.is_ok() { REDEEM_WITHIN } else { Duration::ZERO };
        let outcome = armed.outcome(within).await;
        self.close_payments(&origin).await;
        match outcome {
            Outcome::Paid { .. } => {
                // The shop shows its receipt; the agent should read that and not the form that is gone.
                let _lost_after_payment = self.tab.wait_for_navigation(&decided, RECEIPT_WITHIN).await;
                Ok(())
            }
            Outcome::Unasked => {
                Err(started.err().map_or(Reason::NoPaymentInterface, |error| reason_of(&error)))
            }
            Outcome::Declined(_) | Outcome::Expired | Outcome::Unsettled => {
                Err(started.err().map_or(Reason::PaymentDeclined, |error| reason_of(&error)))
            }
        }
    }

    /// Closes the browser to the payment handler. Where the browser does not answer, the container is closed:
    /// the handler itself is disarmed either way.
    async fn close_payments(&self, handler: &Origin) {
        if self.tab.payment_permission(handler, false).await.is_err() {
            self.tab.close().await;
        }
    }
}

/// Opens the task's container, with a way out of its own.
async fn container(
    kit: &mut Kit,
    browser: &Browser,
    task: &Task,
    releases: &Releases,
    deeds: &Deeds,
) -> Result<(Tab, EgressProxy), SessionError> {
    let payment_origins: Vec<Origin> = kit.payments.iter().map(|payments| payments.origin()).collect();
    let proxy = way_out::open(browser, &payment_origins, kit.entropy.as_mut()).await?;
    let tab = browser.container_through(proxy.for_container(), task.container(), task.origins()).await?;
    let egress = ContainerEgress::new(
        task.container(),
        task.origins().to_vec(),
        payment_origins,
        releases.clone(),
        kit.vault.clone(),
        kit.detectors.clone(),
    );
    tab.set_egress(Arc::new(egress.watching(deeds.clone())));
    Ok((tab, proxy))
}

/// Why the values of a wire did not go; none if they went.
fn not_delivered(end: WireEnd) -> Option<Reason> {
    match end {
        WireEnd::Sent => None,
        WireEnd::Expired => Some(Reason::ConsentExpired),
        WireEnd::DocumentGone | WireEnd::Replaced => Some(Reason::StaleDocument),
    }
}

/// The reason code where placeholders could not be put in: a control that takes none is the page's, not the
/// browser's, failure.
fn wire_reason(error: &BridgeError) -> Reason {
    match error {
        BridgeError::NotApplicable => Reason::FieldNotAllowed,
        error => reason_of(error),
    }
}
