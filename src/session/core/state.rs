//! The state of a session: its task, its dependencies, and its history so far.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use browser_signals::{ElementRef, Observed, Origin, Snapshot, Verb};
use classifier::{Detectors, Safety};
use policy_dfa::{Consent, DecisionPoint, History, Reason, Root, SessionEvent, Task, Valuation, VerbKind};
use sha2::{Digest, Sha256};
use sirl::{Field, Schema};

use super::block_state::{BlockPhase, BlockState, VerbIdentity};
use super::messages::Command;
use crate::audit::AuditEvent;
use crate::consent::{Answered, ChosenBy, ConsentBook, ConsentPrompt, HandOver, Notice, Warning};
use crate::egress::{AgentEgress, AgreedSignOn, Releases};
use crate::guard::agent_actions::AgentActions;
use crate::guard::pointing::PointedForm;
use crate::guard::shared_vault::SharedVault;
use crate::guard::taint::{SharedTaint, TaintTracker};
use crate::safety::TaskSafety;
use crate::session::outcome::ActionOutcome;
use crate::session::report::SessionCounts;

/// The maximum number of prompts of one task, whatever the policy allows. After them the answer is no, because a user
/// who is asked without end says yes in the end.
pub const MAX_PROMPTS: u32 = 12;

/// The continuation after a record is written.
pub(in crate::session) enum AfterRecord {
    /// Answers the agent: with `outcome`, or with `unrecorded` if the record cannot be written.
    Answer { outcome: ActionOutcome, unrecorded: ActionOutcome },
    /// Carries the verb out.
    Do { verb: Verb, decided: Option<Box<Observed<Snapshot>>> },
    /// Decides the verb again, with the user's answer.
    AskedVerb { verb: Verb, consent: Consent, asked_on: Box<VerbIdentity> },
}

/// The step that the session waits for.
pub(in crate::session) enum State {
    /// The agent's next action.
    Idle,
    /// The text of the page.
    Reading,
    /// The look at a verb's target. `asked_on` is what the user was asked about.
    Aiming { verb: Verb, consent: Consent, asked_on: Option<Box<VerbIdentity>> },
    /// The user's answer about a verb.
    AskingVerb { verb: Verb, prompt: Box<ConsentPrompt>, asked_on: Box<VerbIdentity> },
    /// The text of a provider's page, for the question about a verb.
    ShowingPage { verb: Verb },
    /// The look at the target of a verb at a provider, before the question; with lines of the page.
    AimingToAsk { verb: Verb, lines: Vec<String> },
    /// The record.
    Recording(AfterRecord),
    /// The end of a verb, which was aimed at the page of this origin.
    Doing(VerbKind, Option<Origin>),
    /// A step of a request block.
    Block(Box<(BlockState, BlockPhase)>),
}

/// The dependencies of a session's state machine.
pub struct CoreDependencies {
    /// The user's values.
    pub vault: SharedVault,
    /// The detectors of values by their form.
    pub detectors: Arc<Detectors>,
    /// The released values, shared with the container's egress.
    pub releases: Releases,
    /// The standing consents.
    pub book: ConsentBook,
    /// Whether the vault has a file, so that consents and new passwords outlive the session.
    pub has_vault_file: bool,
    /// 32 random bytes, from which the nonces of the prompts are derived.
    pub seed: [u8; 32],
}

/// Why the container of a task that would need it was not raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRaised {
    /// The user said no.
    Refused,
    /// Nobody could be asked.
    NobodyAsked,
}

/// The state machine of one session.
pub struct Core {
    pub(in crate::session) task: Task,
    pub(in crate::session) decision: DecisionPoint,
    /// The kinds and fields that the model may ask for.
    pub(in crate::session) schema: Schema,
    pub(in crate::session) vault: SharedVault,
    pub(in crate::session) detectors: Arc<Detectors>,
    pub(in crate::session) releases: Releases,
    pub(in crate::session) taint: SharedTaint,
    /// The agent's recorded actions, shared with the container's egress.
    pub(in crate::session) agent_actions: AgentActions,
    pub(in crate::session) book: ConsentBook,
    pub(in crate::session) history: History,
    pub(in crate::session) counts: SessionCounts,
    /// How often agents guessed a value in earlier sessions.
    pub(in crate::session) earlier_guesses: u64,
    pub(in crate::session) requests: u64,
    /// The texts that the agent typed and the addresses that it opened.
    pub(in crate::session) sent: AgentEgress,
    pub(in crate::session) nonces: Nonces,
    /// The requests whose placeholders are in a form and whose outcome is not recorded yet.
    pub(in crate::session) wires: Vec<u64>,
    /// Whether the vault has a file, so that consents and new passwords outlive the session.
    pub(in crate::session) has_vault_file: bool,
    pub(in crate::session) last_text: String,
    /// The button that starts a payment on the page that the agent read last.
    pub(in crate::session) pay_button: Option<ElementRef>,
    /// The form that the agent pointed at last.
    pub(in crate::session) pointed: Option<PointedForm>,
    pub(in crate::session) page: Option<Origin>,
    /// The safety of what the agent was told.
    pub(in crate::session) safety: TaskSafety,
    /// All warnings of the session.
    pub(in crate::session) warned: Vec<Warning>,
    /// The warnings that the user has not been shown yet.
    pub(in crate::session) warnings: Vec<Warning>,
    /// The last reported wait before a release to a site whose page was open before the task.
    pub(in crate::session) wait: Option<(Origin, Duration)>,
    /// The hand-overs that the user was offered, once each.
    pub(in crate::session) offered: BTreeSet<HandOver>,
    /// Whether a policy's `deliver model` is carried out.
    pub(in crate::session) shows_values_to_model: bool,
    /// Whether the last action filled a step of a login that asks for the password later.
    pub(in crate::session) login_goes_on: bool,
    /// The values that the model was shown, with the origin that each was granted for.
    pub(in crate::session) shown_to_model: Vec<(String, Field, Origin)>,
    /// Whether the user can be offered a hand-over.
    pub(in crate::session) offers_hand_over: bool,
    /// Whether the user took over, which ends the agent's part.
    pub(in crate::session) taken_over: bool,
    /// Whether purchases can be carried out.
    pub(in crate::session) has_payment_handler: bool,
    /// The sign-on that the user agreed to, shared with the container's egress.
    pub(in crate::session) sign_on: AgreedSignOn,
    /// The providers that the user was asked about.
    pub(in crate::session) asked_providers: BTreeSet<Origin>,
    /// The author of the task.
    pub(in crate::session) chosen_by: ChosenBy,
    /// Why the container was not raised, if the task would need it.
    pub(in crate::session) not_raised: Option<NotRaised>,
    /// Whether the last question reached nobody.
    pub(in crate::session) reached_nobody: bool,
    /// The refusals for which a hand-over was not offered at once, since the agent may mend its request.
    pub(in crate::session) first_refusals: BTreeSet<HandOver>,
    /// Refusals of the current block that must be recorded before it is answered.
    pub(in crate::session) unrecorded: Vec<AuditEvent>,
    /// A notice that every prompt shows.
    pub(in crate::session) always_noticed: Option<Notice>,
    /// The last decision's event and signals.
    pub(in crate::session) decided: Option<(Root, Valuation)>,
    /// Whether the user changed a standing consent since the current request was decided.
    pub(in crate::session) overtaken: bool,
    pub(in crate::session) state: State,
}

impl Core {
    /// A session for a sealed task. `prompt` is the prompt as it is shown to the model.
    pub fn new(task: Task, decision: DecisionPoint, tools: CoreDependencies, prompt: &str) -> Core {
        let CoreDependencies { vault, detectors, releases, book, has_vault_file, seed } = tools;
        Core {
            task,
            decision,
            schema: Schema::default(),
            vault,
            detectors,
            releases,
            taint: SharedTaint::new(TaintTracker::new(prompt)),
            agent_actions: AgentActions::default(),
            book,
            history: History::default(),
            counts: SessionCounts::default(),
            earlier_guesses: 0,
            requests: 0,
            sent: AgentEgress::default(),
            nonces: Nonces::new(seed),
            wires: Vec::new(),
            has_vault_file,
            last_text: String::new(),
            pay_button: None,
            pointed: None,
            page: None,
            safety: TaskSafety::default(),
            warned: Vec::new(),
            warnings: Vec::new(),
            wait: None,
            offered: BTreeSet::new(),
            shows_values_to_model: false,
            login_goes_on: false,
            shown_to_model: Vec::new(),
            offers_hand_over: false,
            taken_over: false,
            has_payment_handler: true,
            sign_on: AgreedSignOn::default(),
            asked_providers: BTreeSet::new(),
            chosen_by: ChosenBy::Agent,
            not_raised: None,
            reached_nobody: false,
            first_refusals: BTreeSet::new(),
            unrecorded: Vec::new(),
            always_noticed: None,
            decided: None,
            overtaken: false,
            state: State::Idle,
        }
    }

    /// Records the agent's actions where the container's egress sees them.
    #[must_use]
    pub fn with_agent_actions(mut self, agent_actions: AgentActions) -> Core {
        self.agent_actions = agent_actions;
        self
    }

    /// Restricts requests to the kinds and fields that a schema declares.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Core {
        self.schema = schema;
        self
    }

    /// Carries out a policy's `deliver model`.
    #[must_use]
    pub fn with_values_shown_to_the_model(mut self, shown: bool) -> Core {
        self.shows_values_to_model = shown;
        self
    }

    /// Offers the user a hand-over where the agent's request is refused.
    #[must_use]
    pub fn with_hand_over(mut self, offered: bool) -> Core {
        self.offers_hand_over = offered;
        self
    }

    /// Whether purchases can be carried out. Without a handler the user is not asked about them.
    #[must_use]
    pub fn with_payment_handler(mut self, there: bool) -> Core {
        self.has_payment_handler = there;
        self
    }

    /// Why the container of a task that would need it was not raised.
    #[must_use]
    pub fn not_raised(mut self, why: Option<NotRaised>) -> Core {
        self.not_raised = why;
        self
    }

    /// The author of the task; without this call it counts as the agent's.
    #[must_use]
    pub fn chosen_by(mut self, author: ChosenBy) -> Core {
        self.chosen_by = author;
        self
    }

    /// Adds a notice to every prompt.
    #[must_use]
    pub fn with_notice(mut self, notice: Option<Notice>) -> Core {
        self.always_noticed = notice;
        self
    }

    /// The event and the signals of the last decision, so that another walk of the same policy can check it.
    pub fn decided(&self) -> Option<(Root, Valuation)> {
        self.decided
    }

    /// Shows with every prompt how often agents guessed a value in earlier sessions.
    #[must_use]
    pub fn with_earlier_guesses(mut self, times: u64) -> Core {
        self.earlier_guesses = times;
        self
    }

    /// Records text of a page that the model was shown in another way than by reading it.
    pub fn note_unattributed(&mut self, text: &str) {
        self.taint.lock().add_unattributed(text);
    }

    /// Records the safety of something that the agent was told; none where nobody judged it. `page` is the origin that it
    /// was read at, if it was.
    pub fn note_told(&mut self, page: Option<&Origin>, safety: Option<Safety>) {
        self.safety.told(page, safety);
    }

    /// Records the safety of a page that was judged and not told, for warnings.
    pub fn note_judged(&mut self, page: &Origin, safety: Option<Safety>) {
        self.safety.judged(page, safety);
    }

    /// Whether the user took over, and the agent has no part in the page any more.
    pub fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// The counts so far.
    pub fn counts(&self) -> &SessionCounts {
        &self.counts
    }

    /// Whether the policy has safety thresholds.
    pub(in crate::session) fn asks_for_safety(&self) -> bool {
        self.decision.thresholds().is_some()
    }

    /// Advances the policy's history.
    pub(in crate::session) fn happened(&mut self, happened: SessionEvent) {
        self.history = self.decision.after(self.history, happened);
    }

    /// Counts something that was stopped below the policy, such as a request that a page sends on its own. It is no
    /// refusal of the agent.
    pub fn note_denial(&mut self, reason: Reason) {
        self.counts.stopped(reason);
    }

    /// Records whether a question reached anybody.
    pub(in crate::session) fn note_reached(&mut self, answered: &Answered) {
        self.reached_nobody = answered.reached_nobody();
    }

    /// The reason of a refusal: where nobody could be asked, that is the reason, and not a no; and where the user said no to the
    /// container, that is the reason, and not the container.
    pub(in crate::session) fn for_want_of_a_user(&self, reason: Reason) -> Reason {
        match reason {
            Reason::ConsentDenied if self.reached_nobody => Reason::NobodyToAsk,
            Reason::InvalidContainer => match self.not_raised {
                Some(NotRaised::NobodyAsked) => Reason::NobodyToAsk,
                Some(NotRaised::Refused) => Reason::ConsentDenied,
                None => reason,
            },
            reason => reason,
        }
    }

    /// The warnings that the user has not been shown yet. Each is returned once.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Keeps a warning that could not be shown, for the next time.
    pub(in crate::session) fn keep_warning(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the decision point.
    pub fn into_decision(self) -> DecisionPoint {
        self.decision
    }

    /// The taint of the session.
    pub(in crate::session) fn taint(&self) -> SharedTaint {
        self.taint.clone()
    }

    pub(in crate::session) fn enter(&mut self, state: State, command: Command) -> Command {
        self.state = state;
        command
    }

    pub(in crate::session) fn record(&mut self, events: Vec<AuditEvent>, after: AfterRecord) -> Command {
        self.enter(State::Recording(after), Command::Record { events, sync: false })
    }
}

/// Random numbers for prompts and placeholders. Each is used once: a hash of the seed and a counter.
pub(in crate::session) struct Nonces {
    seed: [u8; 32],
    used: u64,
}

impl Nonces {
    pub(super) fn new(seed: [u8; 32]) -> Nonces {
        Nonces { seed, used: 0 }
    }

    pub(in crate::session) fn next(&mut self) -> [u8; 16] {
        self.used += 1;
        let hash = Sha256::new().chain_update(self.seed).chain_update(self.used.to_le_bytes()).finalize();
        let mut nonce = [0; 16];
        nonce.iter_mut().zip(hash).for_each(|(out, byte)| *out = byte);
        nonce
    }

    /// Random bytes for the vault's placeholders, independent of every other number.
    pub(super) fn entropy(&mut self) -> impl FnMut(&mut [u8]) + use<> {
        let seed = self.next();
        let mut used = 0_u64;
        move |out: &mut [u8]| {
            for chunk in out.chunks_mut(32) {
                used += 1;
                let hash = Sha256::new().chain_update(b"placeholders").chain_update(seed);
                let hash = hash.chain_update(used.to_le_bytes()).finalize();
                chunk.iter_mut().zip(hash).for_each(|(byte, random)| *byte = random);
            }
        }
    }
}
