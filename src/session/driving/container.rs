//! The driver of a session in a container of the guard's browser: carries out the state machine's commands, and keeps
//! time.

use std::pin::Pin;
use std::sync::Arc;

use browser_signals::playwright::developer_tools::Recording;
use browser_signals::playwright::{Browser, PageEvent, Tab, WireEnd};
use browser_signals::{Observed, Origin, SealedFill, SealedWire, Snapshot, TextGuard, Verb};
use policy_dfa::{Reason, Task};
use sirl::Kind;

use super::container_actions::{
    SharedChecks, carry_out, look, look_for_key, opening_reason, pay, reason_of, release_within,
    sites_on_this_machine, take_refusals, wire_reason,
};
use super::downloads::ToldDownload;
use super::driver::Driver;
use super::opening::{self, TaskSurface};
use super::ordering::SessionOrder;
use super::restoring::RestoredLogin;
use super::task_source::TaskSource;
use crate::audit::{AuditEvent, AuditLog, BlockedByBrowser, SessionId};
use crate::consent::{HandOver, HandedOver, SavedLoginProblem, Warning, WarningCause};
use crate::egress::proxy::EgressProxy;
use crate::guard::Guard;
use crate::guard::agent_actions::AgentActions;
#[cfg(unix)]
use crate::guard::upload_folder::CopiedFiles;
use crate::page_text::Quarantine;
use crate::session::core::Action;
use crate::session::core::{Command, Event, Look, RenderedPage};
use crate::session::{ActionOutcome, Proposal, SessionError, SessionReport, UserTask};
use crate::system::unix_ms;

/// One task in one container of the guard's browser.
pub struct Session {
    pub(super) driver: Driver,
    /// The page that the agent acts on.
    pub(super) tab: Arc<Tab>,
    /// All pages of the container, in the order in which they opened.
    pub(super) pages: Vec<Arc<Tab>>,
    /// Whether further pages may open, and whether they changed since the caller asked.
    pub(super) pages_open: bool,
    pub(super) pages_changed: bool,
    /// Downloads that ended, and that the agent is not told of yet.
    pub(super) downloads: Vec<ToldDownload>,
    /// The copies of the user's files that pages of the container got, which may be read until it ends.
    #[cfg(unix)]
    pub(super) uploaded: Vec<CopiedFiles>,
    /// What the pages record for developers.
    pub(super) recording: Recording,
    /// Whether a script of the agent's ran in the container.
    pub(super) ran_script: bool,
    pub(super) proxy: EgressProxy,
    pub(super) agent_actions: AgentActions,
    /// The origins of payment providers that the policy names, if the task may pay in their frames. They stay open.
    pub(super) providers: Vec<Origin>,
    /// Whether dialogs of the page wait for the agent.
    pub(super) dialogs_wait: bool,
    /// The saved login that the container has.
    pub(super) login: Option<RestoredLogin>,
    /// The order by a shop's own protocol that is being placed.
    pub(super) order: Option<SessionOrder>,
}

/// A future that is boxed where it is made: it is compiled once, with this crate, and not again in each program that awaits it.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Session {
    /// Begins a task: moves the values of the prompt into the vault, seals the task from the user's words, asks the user
    /// once about the container and the task's releases, and opens the container.
    ///
    /// If the user says no, the session goes on in a T0 container, where it can read pages and release nothing.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn begin(guard: Guard, browser: &Browser, prompt: &str) -> Result<Session, SessionError> {
        Session::begin_or_give_back(guard, browser, prompt).await.map_err(|(error, _)| error)
    }

    /// As [`Session::begin`], but returns the guard if the task cannot begin.
    ///
    /// # Errors
    /// [`SessionError`], with the guard.
    pub async fn begin_or_give_back(
        guard: Guard,
        browser: &Browser,
        prompt: &str,
    ) -> Result<Session, (SessionError, Box<Guard>)> {
        Session::begin_from(guard, browser, TaskSource::User(prompt)).await
    }

    /// Begins a task that the agent proposes, where the user's own words do not reach the guard. The prompt asks the user
    /// about its sites and its kinds of request, and says that the agent chose them. See [`Proposal`].
    ///
    /// # Errors
    /// [`SessionError`], with the guard, so that an agent cannot end the guard with a task that cannot begin.
    pub async fn begin_proposed(
        guard: Guard,
        browser: &Browser,
        proposal: Proposal,
    ) -> Result<Session, (SessionError, Box<Guard>)> {
        Session::begin_from(guard, browser, TaskSource::Agent(proposal)).await
    }

    /// Begins a task that the user set in a program's own interface, and not in a prompt. See [`UserTask`].
    ///
    /// # Errors
    /// [`SessionError`], with the guard.
    pub async fn begin_task(
        guard: Guard,
        browser: &Browser,
        task: UserTask,
    ) -> Result<Session, (SessionError, Box<Guard>)> {
        Session::begin_from(guard, browser, TaskSource::Typed(task)).await
    }

    fn begin_from<'a>(
        guard: Guard,
        browser: &'a Browser,
        wording: TaskSource<'a>,
    ) -> Boxed<'a, Result<Session, (SessionError, Box<Guard>)>> {
        Box::pin(async move {
            let Guard { decision, mut dependencies } = guard;
            let sites = sites_on_this_machine(&dependencies, browser);
            let surface = TaskSurface::Container;
            let opened = opening::open(&mut dependencies, &decision, wording, surface, &sites).await;
            let mut sealed = match opened {
                Ok(sealed) => sealed,
                Err(error) => return Err((error, Box::new(Guard { decision, dependencies }))),
            };
            let mut decision = decision;
            let opened = match sealed.ask_about_login(&mut dependencies, &decision).await {
                Ok(agreed) => sealed.open_container(&mut dependencies, browser, &mut decision, agreed).await,
                Err(error) => Err(error),
            };
            let (tab, proxy, shared, login) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    let _unrecorded =
                        dependencies.audit.append(sealed.id, &AuditEvent::Ended, unix_ms(), true);
                    dependencies.vault().forget_task_values();
                    return Err((error, Box::new(Guard { decision, dependencies })));
                }
            };
            let providers = opening::reachable_providers(&decision, &sealed.task);
            let SharedChecks { releases, agent_actions, sign_on } = shared;
            let mut driver = sealed.ready(decision, dependencies, releases);
            let logged_in = login.as_ref().map(|login| login.origin().clone());
            driver.core = driver
                .core
                .with_agent_actions(agent_actions.clone())
                .with_sign_on(sign_on)
                .with_saved_login(logged_in);
            let tab = Arc::new(tab);
            Ok(Session {
                driver,
                pages: vec![Arc::clone(&tab)],
                tab,
                pages_open: false,
                pages_changed: false,
                downloads: Vec::new(),
                #[cfg(unix)]
                uploaded: Vec::new(),
                recording: Recording::default(),
                ran_script: false,
                proxy,
                agent_actions,
                providers,
                dialogs_wait: false,
                login,
                order: None,
            })
        })
    }

    /// The session's name in the log: each [`crate::audit::AuditLog::append`] of it has this one.
    pub fn id(&self) -> SessionId {
        self.driver.id
    }

    /// The prompt as it is shown to the model, with handles in place of the values.
    pub fn prompt(&self) -> &str {
        &self.driver.prompt
    }

    /// The sealed task: its sites, its kinds of request, its container.
    pub fn task(&self) -> &Task {
        self.driver.core.task()
    }

    /// The number of questions to the user in this session so far.
    pub fn questions(&self) -> u32 {
        self.driver.core.counts().prompts
    }

    /// Whether the container has values of the user's. From then on until it closes, the model gets no picture of it, and
    /// no text that did not pass the guard.
    pub fn has_released(&self) -> bool {
        self.driver.text.has_released()
    }

    /// Whether the container may have private data: a released value, or text that the user typed by hand, which cannot be
    /// masked. From then on only text that passed the guard may leave the container.
    pub fn is_private(&self) -> bool {
        !self.driver.text.tells_paths()
    }

    /// Returns true if the user's vault is locked, so that nothing is released until the user unlocks it.
    pub fn is_vault_locked(&self) -> bool {
        self.driver.dependencies.vault().is_locked()
    }

    /// What the agent can do next after an outcome with refusals, a sentence each ([`Reason::next_step`]), and where the user could
    /// finish by hand.
    pub fn next_steps(&self, outcome: &ActionOutcome) -> Vec<&'static str> {
        self.driver.core.next_steps(outcome)
    }

    /// The text of an outcome for the agent, with a line for each of the next steps.
    pub fn with_next_steps(&self, outcome: &ActionOutcome) -> String {
        self.driver.core.with_next_steps(outcome)
    }

    /// Whether the last page, its process or the browser ended. The session can then only be finished.
    pub fn is_gone(&self) -> bool {
        self.pages.iter().all(|page| page.is_gone())
    }

    /// Whether the user took over. The agent then has no part in the page any more.
    pub fn is_taken_over(&self) -> bool {
        self.driver.core.is_taken_over()
    }

    /// The kinds of request that the user's words may need and the policy can never grant in this task, with the reason,
    /// for the user. The prompt leaves them out, and they are not part of the task.
    pub fn ruled_out(&self) -> &[(Kind, Reason)] {
        &self.driver.ruled_out
    }

    /// The texts that were withheld from the model as suspicious. They are for the user, never for the model.
    pub fn quarantine(&self) -> &Quarantine {
        &self.driver.quarantine
    }

    /// The session's tab, for tests.
    #[cfg(feature = "inspection")]
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// The container's proxy, for tests.
    #[cfg(feature = "inspection")]
    pub fn proxy(&self) -> &EgressProxy {
        &self.proxy
    }

    /// Carries out or refuses one action of the agent. The agent gets only the text of the outcome.
    pub async fn act(&mut self, action: Action) -> ActionOutcome {
        self.decide_and_carry_out(action).await
    }

    fn decide_and_carry_out(&mut self, action: Action) -> Boxed<'_, ActionOutcome> {
        Box::pin(async move {
            if let Some(refusal) = self.refuse_at_a_dialog(&action).await {
                return refusal;
            }
            self.driver.dependencies.reopen(false).await;
            self.driver.learn_of_other_tasks();
            let prepared = self.prepare_pages(&action).await;
            // What was blocked is counted; it is no answer to this action.
            let _blocked = self.answer_waiting().await;
            // A page may lead on a little after the action that made it do so.
            let _not_the_answer = self.sign_on(Ok(())).await;
            self.read_filled_back(&action).await;
            self.judge_safety(&action).await;
            let mut command = match prepared {
                Ok(()) => self.driver.core.step(Event::Act(action), self.driver.now()),
                Err(reason) => self.driver.core.refuse_block(reason, ""),
            };
            loop {
                let event = match command {
                    Command::Answer(mut outcome) => {
                        outcome.form_asks_for = self.words_of_the_form();
                        self.driver.save_standing();
                        self.after_action().await;
                        return outcome;
                    }
                    Command::Guard(command) => self.driver.carry_out(command).await,
                    Command::HandOver(offer) => Event::HandedOver(self.hand_over(&offer).await),
                    Command::Read => {
                        let text = self.tab.read(&self.driver.text).await;
                        self.agent_actions.note_on_page(self.driver.text.take_shown());
                        let (safety, pay_button) =
                            (self.driver.text.take_safety(), self.driver.text.take_pay_button());
                        let page = text.map(|page| RenderedPage {
                            text: page.text,
                            typed: page.typed,
                            origin: page.origin,
                            safety,
                            pay_button,
                        });
                        Event::PageRead(page.map_err(|e| reason_of(&e)))
                    }
                    Command::Look(Look::Key(key)) => {
                        let seen = look_for_key(&self.tab, key).await;
                        Event::KeySeen(seen.map(Box::new).map_err(|e| reason_of(&e)))
                    }
                    Command::Look(target) => {
                        Event::Seen(look(&self.tab, target).await.map_err(|e| reason_of(&e)))
                    }
                    Command::Do { verb, decided } => {
                        let done = self.carry_out(verb, decided).await;
                        Event::Done(self.sign_on(done).await)
                    }
                    Command::Narrow(open) => {
                        let narrowed = match self.open_to(open) {
                            Ok(open) => release_within(&self.proxy, &open, async || ()).await,
                            Err(reason) => Err(reason),
                        };
                        Event::Done(narrowed)
                    }
                    Command::Fill(fill) => Event::Done(self.fill(fill).await),
                    Command::Wire(wire) => Event::Done(self.wire(wire).await),
                    Command::Pay(payment) => {
                        Event::Done(pay(&self.tab, &mut self.driver.dependencies, *payment).await)
                    }
                    Command::Order(command) => self.order(*command).await,
                };
                command = self.driver.core.step(event, self.driver.now());
            }
        })
    }

    /// What follows each action of the agent: the user's warnings, and what the browser did meanwhile.
    pub(super) async fn after_action(&mut self) {
        self.driver.note_for_other_tasks(self.is_private());
        self.driver.show_warnings().await;
        self.note_browser_events();
        self.tab.let_dialogs_wait(self.dialogs_wait);
        self.reopen_window().await;
        self.note_pages();
        self.allow_pages();
        self.record_again();
    }

    /// Carries a verb out. If a request of the page must wait for the user, the page waits with it until the user answers.
    async fn carry_out(
        &mut self,
        verb: Verb,
        decided: Option<Box<Observed<Snapshot>>>,
    ) -> Result<(), Reason> {
        self.agent_actions.set_sending(self.may_send_another_form(&verb, decided.as_deref()));
        let done = self.carry_out_and_answer(verb, decided).await;
        self.agent_actions.set_sending(false);
        done
    }

    async fn carry_out_and_answer(
        &mut self,
        verb: Verb,
        decided: Option<Box<Observed<Snapshot>>>,
    ) -> Result<(), Reason> {
        let tab = Arc::clone(&self.tab);
        if let Some(login) = &mut self.login {
            login.note(&verb, decided.as_deref().map(|page| page.value()));
        }
        let opened = if let Verb::Open { url } = &verb { Some(url.clone()) } else { None };
        self.proxy.forget_failures();
        let done = self.while_asking(async { carry_out(&tab, verb, decided.as_deref()).await }).await?;
        if done.is_err() && self.has_closed_itself() {
            return Ok(());
        }
        done.map_err(|error| match &opened {
            Some(url) => opening_reason(&self.proxy, url, &error),
            None => reason_of(&error),
        })
    }

    /// Judges the page's present safety before a request, if the policy has safety thresholds. The agent may not have read
    /// the page, so this score is for the warnings of a question alone.
    async fn judge_safety(&mut self, action: &Action) {
        if !self.driver.core.asks_for_safety() || !matches!(action, Action::Request(_)) {
            return;
        }
        let page = self.tab.read(&self.driver.text).await;
        let safety = self.driver.text.take_safety();
        // Where neither this page nor anything else could be judged, the policy denies.
        if let Ok(page) = page
            && let Some(origin) = page.origin
        {
            self.driver.core.note_judged(&origin, safety);
        }
    }

    /// Ends the task: closes the container, writes the last record, and returns the guard.
    pub async fn finish(self) -> (SessionReport, Guard) {
        self.close_and_report().await
    }

    fn close_and_report(mut self) -> Boxed<'static, (SessionReport, Guard)> {
        Box::pin(async move {
            self.tab.withdraw_wires();
            self.tab.end_downloads();
            self.note_browser_events();
            self.renew_login().await;
            self.tab.close().await;
            // Only now may another container use the login.
            self.login = None;
            let is_private = self.is_private();
            self.driver.finish(is_private)
        })
    }

    /// The origin in which the container is logged in by a saved login.
    pub fn logged_in(&self) -> Option<&Origin> {
        self.login.as_ref().map(RestoredLogin::origin)
    }

    async fn renew_login(&mut self) {
        let Some(login) = &self.login else { return };
        let Some(event) = login.renew(&self.tab, &mut self.driver.dependencies).await else { return };
        self.driver.record(std::slice::from_ref(&event), true);
        if let AuditEvent::LoginRenewed { origin, failed: Some(reason) } = event {
            let cause = WarningCause::SavedLogin(SavedLoginProblem::NotRenewed(reason));
            self.driver.core.warn(Warning { kind: Kind::Login, origin, cause });
            self.driver.show_warnings().await;
        }
    }

    /// Offers the user a hand-over. Placeholders are withdrawn from forms first, since the user would send them as they
    /// are.
    async fn hand_over(&mut self, offer: &HandOver) -> HandedOver {
        self.stop_renewing();
        self.tab.withdraw_wires();
        self.tab.end_typed();
        self.driver.text.note_unknown_values();
        let before = self.tab.present_cookies().await.ok();
        let ended = self.driver.dependencies.hand_over(offer).await;
        self.offer_to_keep_login(offer, &ended, before).await;
        ended
    }

    pub(super) fn note_browser_events(&mut self) {
        let events: Vec<PageEvent> = self.pages.iter().flat_map(|page| page.events()).collect();
        for event in events {
            if let PageEvent::WireEnded { request, end } = event {
                let ended = self.driver.core.end_wire(request, not_delivered(end));
                self.driver.record(ended.as_slice(), true);
                continue;
            }
            let what = BlockedByBrowser::from(&event);
            if what == BlockedByBrowser::Request {
                self.driver.core.note_denial(Reason::EgressBlocked);
            }
            self.driver.record(&[AuditEvent::Browser { what }], false);
        }
        self.note_downloads();
        for _ in 0..take_refusals(&self.proxy) {
            self.driver.core.note_denial(Reason::EgressBlocked);
            self.driver.record(&[AuditEvent::Browser { what: BlockedByBrowser::Request }], false);
        }
    }

    /// After a step in which somebody may log in, what the site sets may belong to another login.
    fn stop_renewing(&mut self) {
        if let Some(login) = &mut self.login {
            login.stop_renewing();
        }
    }

    /// Fills a form, once the container's egress is restricted to its origins.
    async fn fill(&mut self, fill: SealedFill) -> Result<(), Reason> {
        self.stop_renewing();
        let around = fill.embedded.iter().map(|around| around.top_origin.clone());
        let to = [fill.origin.clone(), fill.destination.origin.clone()];
        let open = self.open_to(to.into_iter().chain(around).collect())?;
        let filled = release_within(&self.proxy, &open, || self.tab.fill(fill)).await?;
        filled.map(|_| ()).map_err(|e| reason_of(&e))
    }

    /// Puts placeholders into a form, once the container's egress is restricted to its origins.
    async fn wire(&mut self, wire: SealedWire) -> Result<(), Reason> {
        self.stop_renewing();
        let open = self.open_to(vec![wire.origin.clone(), wire.destination.origin.clone()])?;
        let filled = release_within(&self.proxy, &open, || self.tab.fill_wire(wire)).await?;
        filled.map(|_| ()).map_err(|e| wire_reason(&e))
    }
}

/// Why the values of a wire were not delivered; `None` if they were.
fn not_delivered(end: WireEnd) -> Option<Reason> {
    match end {
        WireEnd::Sent => None,
        WireEnd::Expired => Some(Reason::ConsentExpired),
        WireEnd::DocumentGone | WireEnd::Replaced => Some(Reason::StaleDocument),
    }
}
