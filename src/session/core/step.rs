//! One step of the state machine, and the walk of a verb: look, decide, ask, record, carry out.

use browser_signals::key::selects_all;
use browser_signals::rendered::as_seen;
use browser_signals::{Container, Observed, Origin, Snapshot, Verb, WritingKey};
use policy_dfa::{Consent, ConsentScope, Granted, Millis, Reason, SessionEvent, VerbKind, Verdict};

use super::agent_messages::AgentMessage;
use super::block_state::VerbIdentity;
use super::messages::{
    Command, Event, GuardCommand, KeyTarget, Look, RenderedPage, Seen, first_of, without_typed,
};
use super::state::{AfterRecord, Core, State};
use super::subjects::LastRead;
use crate::action::Action;
use crate::audit::AuditEvent;
use crate::consent::Asked;
use crate::consent::order::{ActionKind, RecordedAction};
use crate::guard::agent_actions::{self, effect_of, kind_of};
use crate::guard::pointing::PointedForm;
use crate::guard::purpose::reaches_the_account;
use crate::session::outcome::{ActionOutcome, ActionResult};
use crate::session::prompts::consent_events;

impl Core {
    /// Takes one event and returns the next command.
    pub fn step(&mut self, event: Event, now: Millis) -> Command {
        let state = std::mem::replace(&mut self.state, State::Idle);
        match (state, event) {
            (State::Idle, Event::Act(action)) => self.act(action),
            (State::Reading, Event::PageRead(page)) => self.page_read(page),
            (State::Aiming { verb, consent, asked_on }, Event::Seen(seen)) => {
                self.aimed(verb, (consent, asked_on), seen, now)
            }
            (State::Aiming { verb, .. }, Event::KeySeen(seen)) => {
                self.key_aimed(verb, seen.map(|it| *it), now)
            }
            (State::AskingVerb { verb, prompt, asked_on }, Event::Answered(answered)) => {
                let answer = self.settle_answer(&prompt, &answered, now);
                let events = consent_events(&prompt, answer);
                let consent = if answer.agrees() { Consent::Given } else { Consent::Refused };
                self.record(events, AfterRecord::AskedVerb { verb, consent, asked_on })
            }
            (State::ShowingPage { verb }, Event::PageRead(page)) => self.page_shown(verb, page),
            (State::AimingToAsk { verb, lines }, Event::Seen(seen)) => {
                self.ask_at_provider(verb, lines, seen, now)
            }
            (State::Recording(after), Event::Recorded(true)) => self.after_record(after),
            (State::Recording(after), Event::Recorded(false)) => {
                self.counts.denied(Reason::AuditUnavailable);
                Command::Answer(match after {
                    AfterRecord::Answer { unrecorded, .. } => unrecorded,
                    _ => ActionOutcome::refused(Reason::AuditUnavailable),
                })
            }
            (State::Doing(..), Event::Done(Ok(()))) => Command::Answer(ActionOutcome::done()),
            (State::Doing(verb, origin), Event::Done(Err(reason))) => self.failed(verb, origin, reason),
            (State::Block(block), event) => {
                let (block, phase) = *block;
                self.step_block(block, phase, event, now)
            }
            (State::Order(order), event) => {
                let (order, phase) = *order;
                self.step_order(order, phase, event, now)
            }
            (_, _) => {
                self.counts.denied(Reason::BrowserLost);
                Command::Answer(ActionOutcome::refused(Reason::BrowserLost))
            }
        }
    }

    fn act(&mut self, action: Action) -> Command {
        self.counts.actions += 1;
        self.agent.login_goes_on = false;
        match action {
            Action::Verb(verb) if self.user.taken_over => self.refuse_verb(&verb, None, Reason::TakenOver),
            Action::Request(_) if self.user.taken_over => self.refuse_block(Reason::TakenOver, ""),
            Action::Verb(Verb::Read) => self.enter(State::Reading, Command::Read),
            Action::Verb(verb @ (Verb::Wait { .. } | Verb::Back)) => {
                self.read.is_acted_on = true;
                let doing = State::Doing(kind_of(&verb), self.read.origin.clone());
                self.enter(doing, Command::Do { verb, decided: None })
            }
            Action::Verb(verb) => {
                let look = Look::for_verb(&verb);
                let consent = Consent::None;
                self.enter(State::Aiming { verb, consent, asked_on: None }, Command::Look(look))
            }
            Action::Request(text) => match AgentMessage::read(&self.policy.schema, &text) {
                Ok(AgentMessage::Block(block)) => self.begin_block(block),
                Ok(AgentMessage::Plan(plan)) => {
                    Command::Answer(ActionOutcome::new(ActionResult::Planned(self.preflight(&plan))))
                }
                Err(error) => self.refuse_block(Reason::MalformedRequest, &error.to_string()),
            },
        }
    }

    /// Whether a text is a request for values, and no plan.
    pub(in crate::session) fn is_block(&self, text: &str) -> bool {
        matches!(AgentMessage::read(&self.policy.schema, text), Ok(AgentMessage::Block(_)))
    }

    /// Forgets what the agent read of the page, since it acts on another one from now on.
    pub(in crate::session) fn turn_to_another_page(&mut self) {
        self.read = LastRead::default();
    }

    /// Refuses a block as a whole. `detail` says where the error is.
    pub(in crate::session) fn refuse_block(&mut self, reason: Reason, detail: &str) -> Command {
        self.counts.denied(reason);
        self.requests += 1;
        let refused = AuditEvent::Refused {
            request: self.requests,
            kind: None,
            fields: sirl::FieldSet::EMPTY,
            origin: self.read.origin.clone(),
            reason,
        };
        let unrecorded = ActionOutcome::block_refused(Reason::AuditUnavailable, "");
        self.record(
            vec![refused],
            AfterRecord::Answer { outcome: ActionOutcome::block_refused(reason, detail), unrecorded },
        )
    }

    fn page_read(&mut self, page: Result<RenderedPage, Reason>) -> Command {
        match page {
            Ok(RenderedPage { text, typed, origin, safety, pay_button }) => {
                if let Some(origin) = &origin {
                    self.agent.taint.lock().read_at(origin, &without_typed(&text, &typed));
                    if let Some(mandate) = &mut self.agent.mandate {
                        mandate.told(origin, &as_seen(&text));
                    }
                }
                self.note_told(origin.as_ref(), safety);
                self.read.origin = origin;
                // What a question quotes is what a person sees.
                self.read.text = as_seen(&text).into_owned();
                self.read.untyped = as_seen(&without_typed(&text, &typed)).into_owned();
                self.read.is_acted_on = false;
                self.read.pay_button = pay_button;
                Command::Answer(ActionOutcome::page(text))
            }
            Err(reason) => {
                self.read.text.clear();
                self.read.untyped.clear();
                self.read.pay_button = None;
                self.failed(VerbKind::Read, None, reason)
            }
        }
    }

    /// Goes on with a key that changes the text of a box as with the typing of the text that it leads to.
    fn key_aimed(&mut self, verb: Verb, seen: Result<KeyTarget, Reason>, now: Millis) -> Command {
        let key = if let Verb::Press { key } = &verb { WritingKey::named(key) } else { None };
        match (key, seen) {
            (Some(key), Ok(target)) => {
                let (typing, page) = target.typing(key);
                self.aimed(typing, (Consent::None, None), Ok(vec![page]), now)
            }
            (_, Err(reason)) => self.refuse_verb(&verb, None, reason),
            (None, Ok(_)) => self.refuse_verb(&verb, None, Reason::NotApplicable),
        }
    }

    fn aimed(
        &mut self,
        verb: Verb,
        (consent, asked_on): (Consent, Option<Box<VerbIdentity>>),
        seen: Seen,
        now: Millis,
    ) -> Command {
        let page = match first_of(seen) {
            Ok(page) => page,
            Err(reason) => return self.refuse_verb(&verb, None, reason),
        };
        let origin = page.origin.known().cloned();
        // Such a key is decided as the typing of a text, which a look at the page alone does not tell.
        if matches!(&verb, Verb::Press { key } if WritingKey::named(key).is_some()) {
            return self.refuse_verb(&verb, origin, Reason::NotApplicable);
        }
        // What a page drags may be the text of a filled control, and may be dropped into one whose form was not decided.
        if matches!(verb, Verb::Drag { .. }) && !self.values.releases.all().is_empty() {
            return self.refuse_verb(&verb, origin, Reason::DragAfterRelease);
        }
        let here = VerbIdentity::of(&verb, &page);
        // Consent covers the page, the effect and the target that the user was asked about, and nothing else.
        if asked_on.is_some_and(|asked_on| *asked_on != here) {
            return self.refuse_verb(&verb, origin, Reason::StaleDocument);
        }
        if consent == Consent::Refused {
            return self.refuse_verb(&verb, origin, Reason::ConsentDenied);
        }
        match self.decide_verb(&verb, Some(&page), consent, now) {
            Verdict::Grant(_) | Verdict::Ask(_) if self.changes_what_was_filled(&verb, &page) => {
                self.refuse_verb(&verb, origin, Reason::ControlFilled)
            }
            Verdict::Grant(_) | Verdict::Ask(_) if self.changes_the_account(&verb, &page) => {
                self.refuse_verb(&verb, origin, Reason::FormProtected)
            }
            Verdict::Grant(Granted::Verb) | Verdict::Ask(_)
                if !Core::was_shown(consent) && self.must_show_page(&verb, &page) =>
            {
                self.show_page(verb, origin)
            }
            Verdict::Grant(Granted::Verb) => {
                // At a provider the user saw the page in the question about the verb, or agreed to the login that it sends.
                if !self.is_at_provider(&page)
                    && let Err(reason) = self.note_agent_action(&verb, &page)
                {
                    return self.refuse_verb(&verb, origin, reason);
                }
                if let Some(mandate) = &mut self.agent.mandate {
                    mandate.acted(&verb, &page, self.agent.actions.is_filled_form(page.value()));
                }
                self.read.pointed = PointedForm::of(page.value());
                self.read.is_acted_on = true;
                // The history counts the verb before it is carried out: it may have its effect even if it fails.
                self.happened(SessionEvent::Done(effect_of(&verb, Some(&page))));
                let event = AuditEvent::Verb { verb: kind_of(&verb), origin, refused: None };
                self.record(vec![event], AfterRecord::Do { verb, decided: Some(Box::new(page)) })
            }
            Verdict::Grant(_) => self.refuse_verb(&verb, origin, Reason::DeliveryForbidden),
            Verdict::Deny(reason) => self.refuse_verb(&verb, origin, reason),
            Verdict::Ask(_) if self.prompts_are_spent() => {
                self.refuse_verb(&verb, origin, Reason::QuestionsSpent)
            }
            Verdict::Ask(_) => {
                let goes_to = match &verb {
                    Verb::Open { url } => Origin::parse(url).ok(),
                    _ if here.effect == VerbKind::Submit => {
                        page.destination.known().map(|to| to.origin.clone())
                    }
                    _ => None,
                };
                let asked = vec![Asked::Verb { verb: here.effect, page: origin, goes_to }];
                let prompt = self.prompt(asked, &[page.value()], ConsentScope::EveryTime, now);
                let prompt = Box::new(prompt);
                let asked_on = Box::new(here);
                let state = State::AskingVerb { verb, prompt: prompt.clone(), asked_on };
                self.enter(state, Command::Guard(GuardCommand::Ask(prompt)))
            }
        }
    }

    /// Whether a verb changes a control that the guard filled. Such controls change by grants only.
    fn changes_what_was_filled(&self, verb: &Verb, page: &Observed<Snapshot>) -> bool {
        let sets = match verb {
            Verb::Type { .. } | Verb::Select { .. } | Verb::Check { .. } => true,
            Verb::Press { key } => selects_all(key),
            _ => false,
        };
        sets && page
            .target
            .as_ref()
            .is_some_and(|target| self.agent.actions.is_filled(page.value(), target.node))
    }

    /// Whether a verb sets a control by which the account of a saved login is reached or paid. Such controls change by grants only.
    fn changes_the_account(&self, verb: &Verb, page: &Observed<Snapshot>) -> bool {
        // A click, or the space bar, ticks a box too.
        let is_tick =
            page.target.as_ref().is_some_and(|target| ["checkbox", "radio"].contains(&&*target.input_type));
        let sets = match verb {
            Verb::Type { .. } | Verb::Select { .. } | Verb::Check { .. } => true,
            Verb::Click { .. } | Verb::Press { .. } => is_tick,
            _ => false,
        };
        let is_there =
            self.settings.logged_in.is_some() && page.origin.known() == self.settings.logged_in.as_ref();
        sets && is_there && reaches_the_account(page.value())
    }

    /// Records the agent action of a verb, or says why no prompt can show it. In a container that is not raised there is
    /// nothing of the user's that a click could reach, so only text and forms count, which others may read.
    fn note_agent_action(&self, verb: &Verb, page: &Observed<Snapshot>) -> Result<(), Reason> {
        let is_raised = page.container.known() != Some(&Container::T0);
        let context = |text: &str| agent_actions::FormContext {
            is_own: self.agent.taint.lock().is_own(text),
            is_filled: self.agent.actions.is_filled_form(page.value()),
            is_unseen: self.agent.actions.is_unseen_in(page.form),
        };
        let weighed = agent_actions::weigh(verb, page, &context);
        if let Some(mut weighed) = weighed.filter(|weighed| is_raised || weighed.reaches_others()) {
            weighed.action.read_at = self.sites_of(&weighed.action.act);
            let node = page.target.as_ref().map(|target| target.node);
            self.agent.actions.note(page.value(), node, weighed)?;
        }
        Ok(())
    }

    /// The agent action of accepting a dialog of a page, with words of the agent's or without.
    pub(in crate::session) fn answered_dialog(
        &self,
        site: &Origin,
        message: &str,
        words: Option<&str>,
    ) -> RecordedAction {
        let act = words.map_or(ActionKind::Clicked, |words| ActionKind::Typed(words.to_owned()));
        let read_at = self.sites_of(&act);
        RecordedAction { read_at, ..RecordedAction::new(site.clone(), message.to_owned(), act) }
    }

    /// The sites where the agent read what its text repeats.
    fn sites_of(&self, act: &ActionKind) -> Vec<Origin> {
        match act {
            ActionKind::Typed(text) | ActionKind::Opened(text) => self.agent.taint.lock().sites_of(text),
            _ => Vec::new(),
        }
    }

    /// Answers that a verb was granted and failed, once the reason is recorded.
    fn failed(&mut self, verb: VerbKind, origin: Option<Origin>, reason: Reason) -> Command {
        let reason = self.for_want_of_a_user(reason);
        self.counts.denied(reason);
        let event = AuditEvent::VerbFailed { verb, origin, reason };
        let unrecorded = ActionOutcome::refused(Reason::AuditUnavailable);
        self.record(vec![event], AfterRecord::Answer { outcome: ActionOutcome::refused(reason), unrecorded })
    }

    pub(super) fn refuse_verb(&mut self, verb: &Verb, origin: Option<Origin>, reason: Reason) -> Command {
        let reason = self.for_want_of_a_user(reason);
        self.counts.denied(reason);
        let event = AuditEvent::Verb { verb: kind_of(verb), origin, refused: Some(reason) };
        let unrecorded = ActionOutcome::refused(Reason::AuditUnavailable);
        self.record(vec![event], AfterRecord::Answer { outcome: ActionOutcome::refused(reason), unrecorded })
    }

    fn after_record(&mut self, after: AfterRecord) -> Command {
        match after {
            AfterRecord::Answer { outcome, .. } => Command::Answer(outcome),
            AfterRecord::Do { verb, decided } => {
                let origin = decided.as_ref().and_then(|page| page.origin.known().cloned());
                self.enter(State::Doing(kind_of(&verb), origin), Command::Do { verb, decided })
            }
            AfterRecord::AskedVerb { verb, consent, asked_on } => {
                let look = Look::for_verb(&verb);
                let asked_on = Some(asked_on);
                self.enter(State::Aiming { verb, consent, asked_on }, Command::Look(look))
            }
        }
    }
}
