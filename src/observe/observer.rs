//! The prompts and refusals that a guard would have caused. Nothing here can grant or release.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use browser_signals::{Container, Fact, Observed, Origin, Snapshot, Verb};
use classifier::{Detectors, Safety, SensitiveKind};
use policy_dfa::{
    Carried, Checked, Compiled, Consent, ConsentScope, Event, Goal, History, Millis, Outcome, Policy,
    Question, Reason, SessionEvent, Task, symbol,
};
use sirl::{FieldSet, Kind, Money, Request};
use vault::Entropy;
use zeroize::Zeroizing;

use super::report::{ObservationReport, ReportRow};
use crate::audit::{AuditEvent, AuditLog, AuditSubject, SessionId, WouldHave};
use crate::egress::{AgentEgress, AgentText};
use crate::guard::GuardError;
use crate::guard::agent_actions::{effect_of, kind_of};
use crate::guard::placement::place;
use crate::guard::taint::TaintTracker;
use crate::intake;
use crate::safety::TaskSafety;
use crate::session::core::MAX_PROMPTS;
use crate::session::decisions::{fit_fields, parse_target};
use crate::system::unix_ms;

/// The task of an observed agent, as far as it is known. A guard seals it from the user's own words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedTask {
    /// The origins that the agent may act on.
    pub origins: Vec<Origin>,
    /// The kinds of request that it may make.
    pub kinds: Vec<Kind>,
    /// The budget.
    pub budget: Option<Money>,
    /// The user's own words, which are not tainted by any page; empty if they are unknown.
    pub words: String,
}

impl ObservedTask {
    /// Reads the user's prompt as a guard does. The prompt itself stays unchanged.
    ///
    /// # Errors
    /// [`GuardError::Part`] where the detectors cannot be made; none in a build whose tests passed.
    pub fn of_prompt(prompt: &str) -> Result<ObservedTask, GuardError> {
        let intake = intake::read(prompt, &detectors()?);
        Ok(ObservedTask {
            origins: intake.origins,
            kinds: intake.kinds,
            budget: intake.budget,
            words: prompt.to_owned(),
        })
    }

    /// The task as a guard seals it if the user agrees to the container.
    fn sealed(&self, on_this_machine: &[Origin]) -> Task {
        let task = Task::new(self.origins.clone(), self.kinds.clone(), self.budget, Container::T2);
        task.with_sites_on_this_machine(on_this_machine.iter().cloned())
    }
}

/// The standard detectors of values.
fn detectors() -> Result<Detectors, GuardError> {
    Detectors::standard().map_err(|error| GuardError::Part(error.to_string()))
}

/// The minimum length in bytes of a value that is recognised inside a host name. Shorter ones occur by chance.
const MIN_RECOGNISED: usize = 6;

/// Only the letters and digits of a text, in lower case.
fn letters(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect())
}

/// Decides and records, and blocks nothing: see the module `observe`.
///
/// ```
/// use portcullis::audit::MemoryLog;
/// use portcullis::guard::SystemEntropy;
/// use portcullis::observe::{ObservedTask, Observer, WouldHave};
/// use portcullis::policy::{Millis, Reason};
/// use portcullis::signals::Verb;
///
/// let task = ObservedTask::of_prompt("Buy tea at https://shop.example")?;
/// let log = Box::new(MemoryLog::default());
/// let mut observer = Observer::that_blocks_nothing(portcullis::DEFAULT_POLICY, task, log, &mut SystemEntropy)?;
/// let elsewhere = Verb::Open { url: "https://other.example/?card=4111+1111+1111+1111".to_owned() };
/// let would = observer.verb(&elsewhere, None, Millis(0));
/// assert_eq!(would, Some(WouldHave::Denied(Reason::OutsideTask)));
/// // It is the caller that carries the verb out.
/// println!("{}", observer.finish());
/// # Ok::<(), portcullis::GuardError>(())
/// ```
pub struct Observer {
    /// A checked policy without an authority: it can decide, and cannot grant.
    policy: Compiled<Checked>,
    task: ObservedTask,
    /// The sites of this machine without TLS that the user listed.
    on_this_machine: Vec<Origin>,
    detectors: Arc<Detectors>,
    history: History,
    taint: TaintTracker,
    safety: TaskSafety,
    typed: AgentEgress,
    /// The releases that the user is assumed to have agreed to, for the task.
    agreed: BTreeMap<(Kind, Origin), FieldSet>,
    /// Behind a lock, so that what the session does can move between threads.
    log: Arc<Mutex<Box<dyn AuditLog>>>,
    id: SessionId,
    report: ObservationReport,
    /// The values in the user's words, reduced to letters and digits.
    users_values: Vec<Zeroizing<String>>,
}

impl Observer {
    /// Notes the sites of this machine without TLS that the user listed for the browser.
    pub(super) fn note_sites_on_this_machine(&mut self, sites: Vec<Origin>) {
        self.on_this_machine = sites;
    }

    /// Begins to observe a task. Nothing is blocked, and nothing can be released.
    ///
    /// # Errors
    /// [`GuardError::Policy`] and [`GuardError::Refused`] as for a guard, since the decisions of an unproved policy
    /// are of no use.
    pub fn that_blocks_nothing(
        policy: &str,
        task: ObservedTask,
        log: Box<dyn AuditLog>,
        entropy: &mut dyn Entropy,
    ) -> Result<Observer, GuardError> {
        let policy = Policy::parse(policy)?.compile()?.check()?;
        let mut observer = Observer {
            detectors: Arc::new(detectors()?),
            history: History::default(),
            taint: TaintTracker::new(&task.words),
            safety: TaskSafety::default(),
            typed: AgentEgress::default(),
            agreed: BTreeMap::new(),
            log: Arc::new(Mutex::new(log)),
            id: SessionId::random(entropy),
            report: ObservationReport::default(),
            users_values: Vec::new(),
            policy,
            task,
            on_this_machine: Vec::new(),
        };
        observer.record(&AuditEvent::Observing { policy: observer.policy.policy_hash() });
        observer.record(&AuditEvent::Sealed {
            origins: observer.task.origins.clone(),
            kinds: observer.task.kinds.clone(),
            budget: observer.task.budget,
            container: Container::T2,
        });
        // A guard asks about a container before the task, and moves the prompt's values into the vault.
        let needs = |kind: &&Kind| **kind == Kind::Purchase || !kind.default_fields().is_empty();
        if observer.task.kinds.iter().any(|kind| needs(&kind)) {
            observer.prompted();
            observer.note(AuditSubject::Container, FieldSet::EMPTY, None, WouldHave::Asked, true);
        }
        let found = intake::read(&observer.task.words, &observer.detectors).found;
        let values =
            found.iter().filter_map(|found| observer.task.words.get(found.span.clone())).map(letters);
        observer.users_values = values.filter(|value| value.len() >= MIN_RECOGNISED).collect();
        if !found.is_empty() {
            observer.note(AuditSubject::Words, FieldSet::EMPTY, None, WouldHave::Withheld, true);
        }
        Ok(observer)
    }

    /// Adds origins and kinds that the user named on their own channel while the agent was at work. Pages and the agent
    /// must not call this.
    pub fn widen(&mut self, origins: &[Origin], kinds: &[Kind]) {
        let task = &mut self.task;
        task.origins
            .extend(origins.iter().filter(|one| !task.origins.contains(one)).cloned().collect::<Vec<_>>());
        task.kinds.extend(kinds.iter().filter(|one| !task.kinds.contains(one)).copied().collect::<Vec<_>>());
    }

    /// Decides a verb that the caller is about to carry out. Returns a guard's reaction, if it would not just carry it out.
    pub fn verb(&mut self, verb: &Verb, page: Option<&Observed<Snapshot>>, now: Millis) -> Option<WouldHave> {
        let origin = self.on_record(page.and_then(|page| page.origin.known().cloned()));
        let would = self.judge_verb(verb, page, now);
        if would == Some(WouldHave::Asked) {
            self.prompted();
        }
        self.happened(SessionEvent::Done(effect_of(verb, page)));
        let about = AuditSubject::Verb(effect_of(verb, page));
        match would {
            Some(would) => self.note(about, FieldSet::EMPTY, origin.clone(), would, true),
            None => self.passed(about),
        }
        self.record(&AuditEvent::Verb { verb: kind_of(verb), origin, refused: None });
        would
    }

    fn judge_verb(
        &mut self,
        verb: &Verb,
        page: Option<&Observed<Snapshot>>,
        now: Millis,
    ) -> Option<WouldHave> {
        let here = page.and_then(|page| page.origin.known().cloned());
        let denied = |reason| Some(WouldHave::Denied(reason));
        let (to, text) = match verb {
            Verb::Open { url } => {
                let Some(target) = parse_target(url, true) else { return denied(Reason::AddressRefused) };
                (Some((target.origin, target.path)), Some((url.as_str(), target.carried)))
            }
            Verb::Type { text, .. } => (None, Some((text.as_str(), text.clone()))),
            _ => (None, None),
        };
        let carries = match (&text, to.as_ref().map(|(origin, _)| origin).or(here.as_ref())) {
            (None, _) => Fact::Known(Carried::Own),
            (Some((_, carried)), Some(goal)) => Fact::Known(self.taint.carries(carried, goal)),
            (Some(_), None) => Fact::Unknown,
        };
        let goal = to.as_ref().map(|(origin, path)| Goal { origin, path });
        let event = Event::Verb { verb: effect_of(verb, page), to: goal, carries };
        let formed = AgentText::of(verb).is_some_and(|text| self.typed.has_form(text, &self.detectors));
        match self.outcome(event, page, Consent::None, now) {
            Outcome::Deny(_, reason) => denied(reason),
            _ if formed => denied(Reason::EgressBlocked),
            Outcome::Ask(_) => self.asked_or_spent(),
            Outcome::Grant(_) => None,
        }
    }

    /// Decides a request of the agent, on the form that fits it best or, for a purchase, at the shop's button. It is never
    /// carried out, since there is nothing to release.
    pub fn request(
        &mut self,
        request: &Request,
        page: Option<&Observed<Snapshot>>,
        now: Millis,
    ) -> Option<WouldHave> {
        let mut request = request.clone();
        if let Some(page) = page {
            fit_fields(&mut request, page.value(), &[]);
        }
        let (kind, fields) = (request.kind, request.effective_fields());
        let origin = page.and_then(|page| page.origin.known().cloned());
        let would = match page {
            None => Some(WouldHave::Denied(Reason::NoForm)),
            Some(page) => self.judge_request(&request, page, now),
        };
        if would == Some(WouldHave::Asked) {
            self.prompted();
        }
        match would {
            Some(would) => self.note(AuditSubject::Request(kind), fields, origin, would, false),
            None => self.passed(AuditSubject::Request(kind)),
        }
        would
    }

    fn judge_request(
        &mut self,
        request: &Request,
        page: &Observed<Snapshot>,
        now: Millis,
    ) -> Option<WouldHave> {
        let fields = request.effective_fields();
        let placements = place(page.value(), fields);
        let event = Event::Request { request, placements: &placements, amount: request.claim.total };
        match self.outcome(event, Some(page), Consent::None, now) {
            Outcome::Deny(_, reason) => Some(WouldHave::Denied(reason)),
            Outcome::Grant(_) => None,
            Outcome::Ask(ConsentScope::EveryTime) => self.asked_or_spent(),
            Outcome::Ask(_) => {
                let key = (request.kind, page.origin.known().cloned()?);
                let before = self.agreed.entry(key).or_insert(FieldSet::EMPTY);
                if !fields.is_empty() && fields.is_subset_of(*before) {
                    return None;
                }
                *before = fields.iter().fold(*before, FieldSet::with);
                self.asked_or_spent()
            }
        }
    }

    /// Records a text of the agent that is no request of the language.
    pub fn unreadable_request(&mut self, page: Option<&Origin>) -> WouldHave {
        let would = WouldHave::Denied(Reason::MalformedRequest);
        // The kind of the intended request is unknown.
        self.note(AuditSubject::Tool, FieldSet::EMPTY, page.cloned(), would, false);
        would
    }

    /// Records a page that the model was shown unchanged. `safety` is that of the part that a guard would have told, and
    /// `withheld` is whether it would have withheld text of the page.
    pub fn read(&mut self, origin: Option<&Origin>, text: &str, safety: Option<Safety>, withheld: bool) {
        if let Some(origin) = origin {
            self.taint.read_at(origin, text);
        }
        self.safety.told(origin, safety);
        if withheld {
            self.note(AuditSubject::PageText, FieldSet::EMPTY, origin.cloned(), WouldHave::Withheld, true);
        } else {
            self.passed(AuditSubject::PageText);
        }
    }

    /// Records another event with the caller's decision, such as a tool that a guard would not have offered, or a request
    /// of a page. `would` is `None` if a guard would have let it pass.
    pub fn other(&mut self, about: AuditSubject, origin: Option<&Origin>, would: Option<WouldHave>) {
        match would {
            Some(would) => self.note(about, FieldSet::EMPTY, origin.cloned(), would, true),
            None => self.passed(about),
        }
    }

    /// The report so far.
    pub fn report(&self) -> &ObservationReport {
        &self.report
    }

    /// The task with all additions so far.
    pub fn task(&self) -> &ObservedTask {
        &self.task
    }

    /// Whether the policy has safety thresholds.
    pub fn wants_safety(&self) -> bool {
        self.policy.thresholds().is_some()
    }

    pub(super) fn detectors(&self) -> &Arc<Detectors> {
        &self.detectors
    }

    /// An origin for the record; `None` if its host name has the form of a protected value or contains a value of the
    /// user's words. Pages choose host names, and nothing keeps values from pages here.
    fn on_record(&self, origin: Option<Origin>) -> Option<Origin> {
        let formed = |text: &str| {
            self.detectors.detect_doubtful(text).iter().any(|found| found.kind != SensitiveKind::Phone)
        };
        origin.filter(|origin| {
            let host = origin.to_string();
            let plain = letters(&host);
            !self.users_values.iter().any(|value| plain.contains(value.as_str()))
                && !formed(&host)
                && !formed(&host.replace(['-', '.'], " "))
        })
    }

    pub(super) fn record(&mut self, event: &AuditEvent) {
        if self.log.append(self.id, event, unix_ms(), false).is_err() {
            self.report.unrecorded += 1;
        }
    }

    /// Ends the record.
    pub fn finish(mut self) -> ObservationReport {
        if self.log.append(self.id, &AuditEvent::Ended, unix_ms(), true).is_err() {
            self.report.unrecorded += 1;
        }
        self.report
    }

    /// The policy's outcome on a page, in a container that the user is assumed to have raised.
    fn outcome(
        &self,
        event: Event<'_>,
        page: Option<&Observed<Snapshot>>,
        consent: Consent,
        now: Millis,
    ) -> Outcome {
        let task = self.task.sealed(&self.on_this_machine);
        let safety = self.safety.band(self.policy.thresholds());
        let question = Question { event, page, task: &task, consent, history: self.history, safety, now };
        let valuation = self.policy.valuation(&question).with(symbol::Container::T2);
        self.policy.outcome(self.policy.root(&event), &valuation)
    }

    /// A prompt, or the refusal of a session whose prompts are used up.
    fn asked_or_spent(&self) -> Option<WouldHave> {
        let spent = self.report.prompts >= MAX_PROMPTS;
        Some(if spent { WouldHave::Denied(Reason::QuestionsSpent) } else { WouldHave::Asked })
    }

    fn prompted(&mut self) {
        self.report.prompts += 1;
        self.happened(SessionEvent::Prompted);
    }

    fn happened(&mut self, happened: SessionEvent) {
        self.history = self.policy.after(self.history, happened);
    }

    fn passed(&mut self, about: AuditSubject) {
        *self.report.passed.entry(about).or_default() += 1;
    }

    fn note(
        &mut self,
        about: AuditSubject,
        fields: FieldSet,
        origin: Option<Origin>,
        would: WouldHave,
        done: bool,
    ) {
        let origin = self.on_record(origin);
        *self.report.rows.entry(ReportRow { about, origin: origin.clone(), would }).or_default() += 1;
        self.record(&AuditEvent::Observed { about, fields, origin, would, done });
    }
}
