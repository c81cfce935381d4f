//! The session: its state by subject, and the step that it waits for.

use std::sync::Arc;

use browser_signals::{Observed, Origin, Snapshot, Verb};
use classifier::{Detectors, Safety};
use policy_dfa::{Consent, DecisionPoint, Reason, Root, SessionEvent, Task, Valuation, VerbKind};
use sirl::Schema;

use super::block_state::{BlockPhase, BlockState, VerbIdentity};
use super::messages::{Command, GuardCommand};
use super::nonces::Nonces;
use super::order_state::{OrderPhase, OrderState};
use super::subjects::{AgentTrace, CoreSettings, LastRead, NotRaised, PolicyState, UserContact, UserValues};
use crate::audit::AuditEvent;
use crate::consent::{Answered, ChosenBy, ConsentBook, ConsentPrompt, Notice, Warning};
use crate::egress::{AgreedSignOn, EgressChecks, Releases};
use crate::guard::agent_actions::AgentActions;
use crate::guard::mandate::Mandate;
use crate::guard::shared_vault::SharedVault;
use crate::guard::taint::SharedTaint;
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
    /// A step of an order by the shop's own protocol.
    Order(Box<(OrderState, OrderPhase)>),
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

/// The state machine of one session.
pub struct Core {
    pub(in crate::session) task: Task,
    pub(in crate::session) policy: PolicyState,
    pub(in crate::session) values: UserValues,
    pub(in crate::session) settings: CoreSettings,
    pub(in crate::session) agent: AgentTrace,
    pub(in crate::session) read: LastRead,
    pub(in crate::session) user: UserContact,
    pub(in crate::session) counts: SessionCounts,
    pub(in crate::session) requests: u64,
    pub(in crate::session) nonces: Nonces,
    /// The requests whose placeholders are in a form and whose outcome is not recorded yet.
    pub(in crate::session) wires: Vec<u64>,
    /// Refusals of the current block that must be recorded before it is answered.
    pub(in crate::session) unrecorded: Vec<AuditEvent>,
    /// The sign-on that the user agreed to, shared with the container's egress.
    pub(in crate::session) sign_on: AgreedSignOn,
    pub(in crate::session) state: State,
}

impl Core {
    /// A session for a sealed task. `prompt` is the prompt as it is shown to the model.
    pub fn new(task: Task, decision: DecisionPoint, tools: CoreDependencies, prompt: &str) -> Core {
        let CoreDependencies { vault, detectors, releases, book, has_vault_file, seed } = tools;
        Core {
            task,
            policy: PolicyState::new(decision),
            values: UserValues {
                vault,
                detectors,
                releases,
                book,
                has_vault_file,
                card_fills: Vec::new(),
                shown_to_model: Vec::new(),
            },
            settings: CoreSettings::default(),
            agent: AgentTrace::new(prompt),
            read: LastRead::default(),
            user: UserContact::default(),
            counts: SessionCounts::default(),
            requests: 0,
            nonces: Nonces::new(seed),
            wires: Vec::new(),
            unrecorded: Vec::new(),
            sign_on: AgreedSignOn::default(),
            state: State::Idle,
        }
    }

    /// Records the agent's actions where the container's egress sees them.
    #[must_use]
    pub fn with_agent_actions(mut self, agent_actions: AgentActions) -> Core {
        self.agent.actions = agent_actions;
        self
    }

    /// Restricts requests to the kinds and fields that a schema declares.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Core {
        self.policy.schema = schema;
        self
    }

    /// Carries out a policy's `deliver model`.
    #[must_use]
    pub fn with_values_shown_to_the_model(mut self, shown: bool) -> Core {
        self.settings.shows_values_to_model = shown;
        self
    }

    /// Whether the agent's text is checked.
    #[must_use]
    pub(crate) fn with_egress_checks(mut self, egress: EgressChecks) -> Core {
        self.settings.egress = egress;
        self
    }

    /// Offers the user a hand-over where the agent's request is refused.
    #[must_use]
    pub fn with_hand_over(mut self, offered: bool) -> Core {
        self.settings.offers_hand_over = offered;
        self
    }

    /// Orders by the shops' own protocol are placed, and paid from this account.
    #[must_use]
    pub fn with_orders(mut self, account: Option<String>) -> Core {
        self.settings.order_account = account;
        self
    }

    /// Whether purchases can be carried out. Without a handler the user is not asked about them.
    #[must_use]
    pub fn with_payment_handler(mut self, there: bool) -> Core {
        self.settings.has_payment_handler = there;
        self
    }

    /// Why the container of a task that would need it was not raised.
    #[must_use]
    pub fn not_raised(mut self, why: Option<NotRaised>) -> Core {
        self.settings.not_raised = why;
        self
    }

    /// The container is logged in at this origin, by a saved login.
    #[must_use]
    pub fn with_saved_login(mut self, origin: Option<Origin>) -> Core {
        self.settings.logged_in = origin;
        self
    }

    /// The author of the task; without this call it counts as the agent's.
    #[must_use]
    pub fn chosen_by(mut self, author: ChosenBy) -> Core {
        self.settings.chosen_by = author;
        self
    }

    /// The user's yes to one purchase, given with the task.
    #[must_use]
    pub fn with_mandate(mut self, mandate: Option<Mandate>) -> Core {
        self.agent.mandate = mandate;
        self
    }

    /// Adds a notice to every prompt.
    #[must_use]
    pub fn with_notice(mut self, notice: Option<Notice>) -> Core {
        self.settings.notice = notice;
        self
    }

    /// The event and the signals of the last decision, so that another walk of the same policy can check it.
    pub fn decided(&self) -> Option<(Root, Valuation)> {
        self.policy.decided
    }

    /// Shows with every prompt how often agents guessed a value in earlier sessions.
    #[must_use]
    pub fn with_earlier_guesses(mut self, times: u64) -> Core {
        self.settings.earlier_guesses = times;
        self
    }

    /// Records text of a page that the model was shown in another way than by reading it.
    pub fn note_unattributed(&mut self, text: &str) {
        self.agent.taint.lock().add_unattributed(text);
    }

    /// Records the safety of something that the agent was told; none where nobody judged it. `page` is the origin that it
    /// was read at, if it was.
    pub fn note_told(&mut self, page: Option<&Origin>, safety: Option<Safety>) {
        self.agent.safety.told(page, safety);
    }

    /// Records the safety of a page that was judged and not told, for warnings.
    pub fn note_judged(&mut self, page: &Origin, safety: Option<Safety>) {
        self.agent.safety.judged(page, safety);
    }

    /// Whether the user took over, and the agent has no part in the page any more.
    pub fn is_taken_over(&self) -> bool {
        self.user.taken_over
    }

    /// The counts so far.
    pub fn counts(&self) -> &SessionCounts {
        &self.counts
    }

    /// Whether the policy has safety thresholds.
    pub(in crate::session) fn asks_for_safety(&self) -> bool {
        self.policy.decision.thresholds().is_some()
    }

    /// Advances the policy's history.
    pub(in crate::session) fn happened(&mut self, happened: SessionEvent) {
        self.policy.history = self.policy.decision.after(self.policy.history, happened);
    }

    /// Counts something that was stopped below the policy, such as a request that a page sends on its own. It is no
    /// refusal of the agent.
    pub fn note_denial(&mut self, reason: Reason) {
        self.counts.stopped(reason);
    }

    /// Records whether a question reached anybody.
    pub(in crate::session) fn note_reached(&mut self, answered: &Answered) {
        self.user.reached_nobody = answered.reached_nobody();
    }

    /// The reason of a refusal: where nobody could be asked, that is the reason, and not a no; and where the user said no to the
    /// container, that is the reason, and not the container.
    pub(in crate::session) fn for_want_of_a_user(&self, reason: Reason) -> Reason {
        match reason {
            Reason::ConsentDenied if self.user.reached_nobody => Reason::NobodyToAsk,
            Reason::InvalidContainer => match self.settings.not_raised {
                Some(NotRaised::NobodyAsked) => Reason::NobodyToAsk,
                Some(NotRaised::Refused) => Reason::ConsentDenied,
                None => reason,
            },
            reason => reason,
        }
    }

    /// The warnings that the user has not been shown yet. Each is returned once.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.user.warnings)
    }

    /// Keeps a warning that could not be shown, for the next time.
    pub(in crate::session) fn keep_warning(&mut self, warning: Warning) {
        self.user.warnings.push(warning);
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the decision point.
    pub fn into_decision(self) -> DecisionPoint {
        self.policy.decision
    }

    /// The taint of the session.
    pub(in crate::session) fn taint(&self) -> SharedTaint {
        self.agent.taint.clone()
    }

    pub(in crate::session) fn enter(&mut self, state: State, command: Command) -> Command {
        self.state = state;
        command
    }

    pub(in crate::session) fn record(&mut self, events: Vec<AuditEvent>, after: AfterRecord) -> Command {
        self.enter(State::Recording(after), Command::Guard(GuardCommand::Record { events, sync: false }))
    }
}
