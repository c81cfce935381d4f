//! The session's state machine: events in, commands out, no I/O and no clock.
//!
//! Every action of the agent begins with [`Event::Act`] and ends with [`Command::Answer`]. In between, the
//! driver carries out one command at a time and reports with one event. An event that does not fit ends
//! the action with a denial: nothing is released by accident.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use browser_signals::{Container, Observed, Origin, Snapshot, Verb};
use classifier::{Detectors, Safety};
use policy_dfa::{
    Consent, ConsentScope, DecisionPoint, Granted, Happened, History, Millis, Reason, Root, Task, Valuation,
    VerbKind, Verdict,
};
use sirl::{Block, Field, ParseError, Plan, Schema};
use vault::Vault;

pub use super::asking::MOST_PROMPTS;
use super::asking::{Nonces, on_record};
use super::judge::{effect_of, kind_of};
use super::outcome::{Counts, block_refused, verb_refused};
pub use super::turn::{Command, Event, Look, Payment, Told};
use super::work::{Page, Phase, Work};
use crate::action::Action;
use crate::audit::AuditEvent;
use crate::consent::{Asked, ConsentBook, ConsentPrompt, HandOver, Notice, Warning};
use crate::egress::{AgentEgress, Releases};
use crate::flow::Readings;
use crate::order::{self, Deeds};

/// What follows when a record is written.
pub(super) enum After {
    /// The answer, and the one if the record cannot be written.
    Answer {
        text: String,
        unrecorded: String,
    },
    Do {
        verb: Verb,
        decided: Option<Box<Observed<Snapshot>>>,
    },
    AskedVerb {
        verb: Verb,
        consent: Consent,
        asked_on: Box<(Page, VerbKind)>,
    },
}

pub(super) enum State {
    Idle,
    Reading,
    Aiming { verb: Verb, consent: Consent, asked_on: Option<Box<(Page, VerbKind)>> },
    AskingVerb { verb: Verb, prompt: Box<ConsentPrompt>, asked_on: Box<(Page, VerbKind)> },
    Recording(After),
    Doing,
    Block(Box<(Work, Phase)>),
}

/// What a session works with beside its task.
pub struct Tools {
    /// The user's values.
    pub vault: Arc<Mutex<Vault>>,
    /// What finds values by their form.
    pub detectors: Arc<Detectors>,
    /// What was released, shared with the container's egress.
    pub releases: Releases,
    /// Answers that stand.
    pub book: ConsentBook,
    /// Whether answers can be kept beyond the session.
    pub lasting: bool,
    /// 32 random bytes, from which the numbers of the prompts are made.
    pub seed: [u8; 32],
}

/// The state machine of one session.
pub struct Core {
    pub(super) task: Task,
    pub(super) decision: DecisionPoint,
    /// What the model may ask for.
    pub(super) schema: Schema,
    pub(super) vault: Arc<Mutex<Vault>>,
    pub(super) detectors: Arc<Detectors>,
    pub(super) releases: Releases,
    pub(super) readings: Readings,
    /// What the agent set, shared with the container's way out.
    pub(super) deeds: Deeds,
    pub(super) book: ConsentBook,
    pub(super) history: History,
    pub(super) counts: Counts,
    /// How often agents guessed a value in earlier sessions.
    pub(super) guessed_before: u64,
    pub(super) requests: u64,
    /// What the agent typed and opened.
    pub(super) sent: AgentEgress,
    pub(super) nonces: Nonces,
    /// The requests whose placeholders stand and whose outcome is not on record.
    pub(super) wires: Vec<u64>,
    /// Whether answers can be kept beyond the session.
    pub(super) lasting: bool,
    pub(super) last_text: String,
    pub(super) page: Option<Origin>,
    /// How safe the least safe page was that was read of each origin.
    pub(super) safeties: BTreeMap<Origin, Safety>,
    /// What the user was warned of, and what of that nobody was told yet.
    pub(super) warned: Vec<Warning>,
    pub(super) warnings: Vec<Warning>,
    /// For how long nothing can be released to a site whose page was open before the task, as it was said last.
    pub(super) wait: Option<(Origin, Duration)>,
    /// What the user was offered to finish by hand, once each.
    pub(super) offered: BTreeSet<HandOver>,
    /// Whether a policy's `deliver model` is carried out.
    pub(super) tells_model: bool,
    /// What the model was told, and of which origin's pages it was granted for.
    pub(super) told: Vec<(String, Field, Origin)>,
    /// Whether the user can go on by hand.
    pub(super) by_hand: bool,
    /// Whether the user went on by hand: the agent's part is over.
    pub(super) taken_over: bool,
    /// Refusals of the current block, to be recorded before it is answered.
    pub(super) unrecorded: Vec<AuditEvent>,
    /// What the user should know with every question.
    pub(super) always_noticed: Option<Notice>,
    /// What was decided last.
    pub(super) decided: Option<(Root, Valuation)>,
    /// Whether the user changed what stands since a line was decided.
    pub(super) overtaken: bool,
    pub(super) state: State,
}

impl Core {
    /// A session for a sealed task. `prompt` is the prompt as the model sees it.
    pub fn new(task: Task, decision: DecisionPoint, tools: Tools, prompt: &str) -> Core {
        let Tools { vault, detectors, releases, book, lasting, seed } = tools;
        Core {
            task,
            decision,
            schema: Schema::default(),
            vault,
            detectors,
            releases,
            readings: Readings::new(prompt),
            deeds: Deeds::default(),
            book,
            history: History::default(),
            counts: Counts::default(),
            guessed_before: 0,
            requests: 0,
            sent: AgentEgress::default(),
            nonces: Nonces::new(seed),
            wires: Vec::new(),
            lasting,
            last_text: String::new(),
            page: None,
            safeties: BTreeMap::new(),
            warned: Vec::new(),
            warnings: Vec::new(),
            wait: None,
            offered: BTreeSet::new(),
            tells_model: false,
            told: Vec::new(),
            by_hand: false,
            taken_over: false,
            unrecorded: Vec::new(),
            always_noticed: None,
            decided: None,
            overtaken: false,
            state: State::Idle,
        }
    }

    /// Keeps what the agent sets where the container's way out sees it.
    #[must_use]
    pub fn with_deeds(mut self, deeds: Deeds) -> Core {
        self.deeds = deeds;
        self
    }

    /// Narrows what the model may ask for to what a schema declares.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Core {
        self.schema = schema;
        self
    }

    /// Carries out a policy's `deliver model`.
    #[must_use]
    pub fn with_values_told_to_the_model(mut self, told: bool) -> Core {
        self.tells_model = told;
        self
    }

    /// Offers the user to go on by hand where the agent comes no further.
    #[must_use]
    pub fn with_hand_over(mut self, offered: bool) -> Core {
        self.by_hand = offered;
        self
    }

    /// Tells the user this with every question.
    #[must_use]
    pub fn noticing(mut self, notice: Option<Notice>) -> Core {
        self.always_noticed = notice;
        self
    }

    /// The event that was decided last, and by which signals: for whoever walks the same policy to check it.
    pub fn decided(&self) -> Option<(Root, Valuation)> {
        self.decided
    }

    /// Tells the user with every question how often agents guessed a value in earlier sessions.
    #[must_use]
    pub fn with_earlier_guesses(mut self, times: u64) -> Core {
        self.guessed_before = times;
        self
    }

    /// Goes on with what the agent read and guessed in earlier tasks.
    #[must_use]
    pub(super) fn with_earlier_readings(mut self, earlier: &Readings, has_guessed: bool) -> Core {
        self.readings.remember(earlier);
        if has_guessed {
            self.happened(Happened::Suspected);
        }
        self
    }

    /// Notes that the model was told words of a page in another way than by reading it.
    pub fn note_said(&mut self, text: &str) {
        self.readings.said(text);
    }

    /// Whether the user was offered to go on by hand: what they may have typed since is in no list of values.
    pub fn was_by_hand(&self) -> bool {
        !self.offered.is_empty()
    }

    /// Whether the user went on by hand, and the agent has no part in the page any more.
    pub fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// What was counted so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether the policy asks how safe a page is.
    pub(super) fn asks_for_safety(&self) -> bool {
        self.decision.thresholds().is_some()
    }

    /// Goes on in the policy's history.
    pub(super) fn happened(&mut self, happened: Happened) {
        self.history = self.decision.after(self.history, happened);
    }

    /// Counts a denial that happened below the policy, at the container's egress.
    pub fn note_denial(&mut self, reason: Reason) {
        self.counts.denied(reason);
    }

    /// What the user is to be told, once.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Gives the decision point back.
    pub fn into_decision(self) -> DecisionPoint {
        self.decision
    }

    /// One step.
    pub fn step(&mut self, event: Event, now: Millis) -> Command {
        let state = std::mem::replace(&mut self.state, State::Idle);
        match (state, event) {
            (State::Idle, Event::Act(action)) => self.act(action),
            (State::Reading, Event::Text(text)) => self.text(text),
            (State::Aiming { verb, consent, asked_on }, Event::Seen(seen)) => {
                self.aimed(verb, (consent, asked_on), seen, now)
            }
            (State::AskingVerb { verb, prompt, asked_on }, Event::Answered(answered)) => {
                let answer = prompt.ticket().settle(&answered, now);
                let agreed = answer.agrees();
                let events = on_record(&prompt, answer);
                let consent = if agreed { Consent::Given } else { Consent::Refused };
                self.note_prompt();
                self.note_answer(answer);
                self.record(events, After::AskedVerb { verb, consent, asked_on })
            }
            (State::Recording(after), Event::Recorded(true)) => self.after(after),
            (State::Recording(after), Event::Recorded(false)) => {
                self.counts.denied(Reason::AuditUnavailable);
                Command::Answer(match after {
                    After::Answer { unrecorded, .. } => unrecorded,
                    _ => verb_refused(Reason::AuditUnavailable),
                })
            }
            (State::Doing, Event::Done(Ok(()))) => Command::Answer("ok".to_owned()),
            (State::Doing, Event::Done(Err(reason))) => {
                self.counts.denied(reason);
                Command::Answer(verb_refused(reason))
            }
            (State::Block(block), event) => {
                let (work, phase) = *block;
                self.block(work, phase, event, now)
            }
            (_, _) => {
                self.counts.denied(Reason::BrowserLost);
                Command::Answer(verb_refused(Reason::BrowserLost))
            }
        }
    }

    pub(super) fn enter(&mut self, state: State, command: Command) -> Command {
        self.state = state;
        command
    }

    pub(super) fn record(&mut self, events: Vec<AuditEvent>, after: After) -> Command {
        self.enter(State::Recording(after), Command::Record { events, sync: false })
    }

    fn act(&mut self, action: Action) -> Command {
        self.counts.actions += 1;
        match action {
            Action::Verb(verb) if self.taken_over => self.refuse_verb(&verb, None, Reason::TakenOver),
            Action::Request(_) if self.taken_over => self.refuse_block(Reason::TakenOver, ""),
            Action::Verb(Verb::Read) => self.enter(State::Reading, Command::Read),
            Action::Verb(verb @ (Verb::Wait { .. } | Verb::Back)) => {
                self.enter(State::Doing, Command::Do { verb, decided: None })
            }
            Action::Verb(verb) => {
                let look = look_for(&verb);
                let consent = Consent::None;
                self.enter(State::Aiming { verb, consent, asked_on: None }, Command::Look(look))
            }
            Action::Request(text) => match Written::read(&self.schema, &text) {
                Ok(Written::Block(block)) => self.begin_block(block),
                Ok(Written::Plan(plan)) => Command::Answer(self.foresee(&plan)),
                Err(error) => self.refuse_block(Reason::MalformedRequest, &error.to_string()),
            },
        }
    }

    /// Refuses a block as a whole; `place` says where it went wrong.
    fn refuse_block(&mut self, reason: Reason, place: &str) -> Command {
        self.counts.denied(reason);
        self.requests += 1;
        let refused = AuditEvent::Refused {
            request: self.requests,
            kind: None,
            fields: sirl::FieldSet::EMPTY,
            origin: self.page.clone(),
            reason,
        };
        let unrecorded = block_refused(Reason::AuditUnavailable, "");
        self.record(vec![refused], After::Answer { text: block_refused(reason, place), unrecorded })
    }

    fn text(&mut self, text: Result<Told, Reason>) -> Command {
        match text {
            Ok(Told { text, origin, safety }) => {
                if let Some(origin) = &origin {
                    self.readings.read_at(origin, &text);
                    self.note_safety(origin, safety);
                }
                self.page = origin;
                self.last_text.clone_from(&text);
                Command::Answer(text)
            }
            Err(reason) => {
                self.last_text.clear();
                self.counts.denied(reason);
                Command::Answer(verb_refused(reason))
            }
        }
    }

    fn aimed(
        &mut self,
        verb: Verb,
        (consent, asked_on): (Consent, Option<Box<(Page, VerbKind)>>),
        seen: Result<Vec<Observed<Snapshot>>, Reason>,
        now: Millis,
    ) -> Command {
        let page = match seen.map(|pages| pages.into_iter().next()) {
            Ok(Some(page)) => page,
            Ok(None) => return self.refuse_verb(&verb, None, Reason::StaleDocument),
            Err(reason) => return self.refuse_verb(&verb, None, reason),
        };
        let origin = page.origin.known().cloned();
        let here = (Page::of(page.value()), effect_of(&verb, Some(&page)));
        // A yes is for the page and the effect that the user was asked about.
        if asked_on.is_some_and(|asked_on| *asked_on != here) {
            return self.refuse_verb(&verb, origin, Reason::StaleDocument);
        }
        match self.decide_verb(&verb, Some(&page), consent, now) {
            Verdict::Grant(_) | Verdict::Ask(_) if self.changes_what_was_filled(&verb, &page) => {
                self.refuse_verb(&verb, origin, Reason::UnplannedEffect)
            }
            Verdict::Grant(Granted::Verb) => {
                self.note_deed(&verb, &page);
                // Counted now: what was begun may have had its effect however it ends.
                self.happened(Happened::Done(effect_of(&verb, Some(&page))));
                let event = AuditEvent::Verb { verb: kind_of(&verb), origin, refused: None };
                self.record(vec![event], After::Do { verb, decided: Some(Box::new(page)) })
            }
            Verdict::Grant(_) => self.refuse_verb(&verb, origin, Reason::DeliveryForbidden),
            Verdict::Deny(reason) => self.refuse_verb(&verb, origin, reason),
            Verdict::Ask(_) if self.asked_enough() => self.refuse_verb(&verb, origin, Reason::BudgetSpent),
            Verdict::Ask(_) => {
                let goes_to = match &verb {
                    Verb::Open { url } => Origin::parse(url).ok(),
                    _ if here.1 == VerbKind::Submit => page.destination.known().map(|to| to.origin.clone()),
                    _ => None,
                };
                let asked = vec![Asked::Verb { verb: here.1, page: origin, goes_to }];
                let prompt = self.prompt(asked, &[page.value()], ConsentScope::EveryTime, now);
                let prompt = Box::new(prompt);
                let asked_on = Box::new(here);
                let state = State::AskingVerb { verb, prompt: prompt.clone(), asked_on };
                self.enter(state, Command::Ask(prompt))
            }
        }
    }

    /// Controls that the guard filled change by grants only.
    fn changes_what_was_filled(&self, verb: &Verb, page: &Observed<Snapshot>) -> bool {
        let sets = matches!(verb, Verb::Type { .. } | Verb::Select { .. } | Verb::Check { .. });
        sets && page.target.as_ref().is_some_and(|target| self.deeds.is_filled(page.value(), target.node))
    }

    /// Notes what a verb sets. A container that is not raised holds nothing of the user's.
    fn note_deed(&self, verb: &Verb, page: &Observed<Snapshot>) {
        if page.container.known() == Some(&Container::T0) {
            return;
        }
        let around = |text: &str| order::Around {
            is_own: self.readings.is_own(text),
            is_filled: self.deeds.is_filled_form(page.value()),
            is_unseen: self.deeds.is_unseen_in(page.form),
        };
        if let Some(weighed) = order::weigh(verb, page, &around) {
            let node = page.target.as_ref().map(|target| target.node);
            self.deeds.note(page.value(), node, weighed);
        }
    }

    fn refuse_verb(&mut self, verb: &Verb, origin: Option<Origin>, reason: Reason) -> Command {
        self.counts.denied(reason);
        let event = AuditEvent::Verb { verb: kind_of(verb), origin, refused: Some(reason) };
        let unrecorded = verb_refused(Reason::AuditUnavailable);
        self.record(vec![event], After::Answer { text: verb_refused(reason), unrecorded })
    }

    fn after(&mut self, after: After) -> Command {
        match after {
            After::Answer { text, .. } => Command::Answer(text),
            After::Do { verb, decided } => self.enter(State::Doing, Command::Do { verb, decided }),
            After::AskedVerb { verb, consent, asked_on } => {
                let look = look_for(&verb);
                let asked_on = Some(asked_on);
                self.enter(State::Aiming { verb, consent, asked_on }, Command::Look(look))
            }
        }
    }
}

/// What a model writes to the guard.
pub(crate) enum Written {
    Block(Block),
    Plan(Plan),
}

impl Written {
    pub(crate) fn read(schema: &Schema, text: &str) -> Result<Written, ParseError> {
        if text.trim_start().starts_with("PLAN.") {
            return sirl::parse_plan_with(schema, text).map(Written::Plan);
        }
        sirl::parse_block_with(schema, text).map(Written::Block)
    }
}

/// What a verb is aimed at.
pub(crate) fn look_for(verb: &Verb) -> Look {
    match verb {
        Verb::Click { target }
        | Verb::Hover { target }
        | Verb::Type { target, .. }
        | Verb::Select { target, .. }
        | Verb::Check { target, .. }
        | Verb::Submit { target } => Look::Element(target.clone()),
        _ => Look::Page,
    }
}
