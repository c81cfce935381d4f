//! The state of a session by subject: the policy, the user's values, the settings, the agent, the page that it read last, and the
//! user.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use browser_signals::{ElementRef, Origin};
use classifier::Detectors;
use policy_dfa::{DecisionPoint, History, Root, Valuation};
use sirl::{Field, Kind, Schema};

use super::card_fill::CardFill;
use crate::consent::{ChosenBy, ConsentBook, HandOver, Notice, Warning};
use crate::egress::{AgentEgress, EgressChecks, Releases};
use crate::guard::agent_actions::AgentActions;
use crate::guard::mandate::Mandate;
use crate::guard::pointing::PointedForm;
use crate::guard::record_choices::RecordChoices;
use crate::guard::shared_vault::SharedVault;
use crate::guard::sources::ServedBy;
use crate::guard::taint::{SharedTaint, TaintTracker};
use crate::safety::TaskSafety;

/// The policy, and where it stands.
pub(in crate::session) struct PolicyState {
    pub decision: DecisionPoint,
    /// The kinds and fields that the model may ask for.
    pub schema: Schema,
    pub history: History,
    /// The last decision's event and signals.
    pub decided: Option<(Root, Valuation)>,
}

impl PolicyState {
    pub(super) fn new(decision: DecisionPoint) -> PolicyState {
        PolicyState { decision, schema: Schema::default(), history: History::default(), decided: None }
    }
}

/// The user's values, and what became of them.
pub(in crate::session) struct UserValues {
    pub vault: SharedVault,
    pub detectors: Arc<Detectors>,
    pub releases: Releases,
    /// The fills of cards in this task, each with the number of its repetitions.
    pub card_fills: Vec<(CardFill, u8)>,
    pub book: ConsentBook,
    /// True if the vault has a file, so that consents and new passwords outlive the session.
    pub has_vault_file: bool,
    /// The values that the model was shown, with the origin that each was granted for.
    pub shown_to_model: Vec<(String, Field, Origin)>,
}

/// Why the container of a task that would need it was not raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRaised {
    /// The user said no.
    Refused,
    /// Nobody could be asked.
    NobodyAsked,
}

/// The settings of a session, which are fixed when it begins.
pub(in crate::session) struct CoreSettings {
    /// True if a policy's `deliver model` is carried out.
    pub shows_values_to_model: bool,
    /// Whether the agent's text is checked.
    pub egress: EgressChecks,
    /// True if the user can be offered a hand-over.
    pub offers_hand_over: bool,
    /// True if purchases can be carried out.
    pub has_payment_handler: bool,
    /// The account that pays orders by the shops' own protocol, such as `wallet:test`; none where the guard places none.
    pub order_account: Option<String>,
    /// The user's password managers, with the kinds that they serve.
    pub sources: Vec<ServedBy>,
    /// The origin in which the container is logged in by a saved login.
    pub logged_in: Option<Origin>,
    /// The author of the task.
    pub chosen_by: ChosenBy,
    /// Why the container was not raised, if the task would need it.
    pub not_raised: Option<NotRaised>,
    /// A notice that every prompt shows.
    pub notice: Option<Notice>,
    /// The number of times that agents guessed a value in earlier sessions.
    pub earlier_guesses: u64,
}

impl Default for CoreSettings {
    fn default() -> CoreSettings {
        CoreSettings {
            shows_values_to_model: false,
            egress: EgressChecks::On,
            offers_hand_over: false,
            has_payment_handler: true,
            order_account: None,
            sources: Vec::new(),
            logged_in: None,
            chosen_by: ChosenBy::Agent,
            not_raised: None,
            notice: None,
            earlier_guesses: 0,
        }
    }
}

/// The record of what the agent was told and did.
pub(in crate::session) struct AgentTrace {
    pub taint: SharedTaint,
    /// The agent's recorded actions, shared with the container's egress.
    pub actions: AgentActions,
    /// The texts that the agent typed and the addresses that it opened.
    pub sent: AgentEgress,
    /// The safety of what the agent was told.
    pub safety: TaskSafety,
    /// The user's yes to one purchase, if they gave one with the task.
    pub mandate: Option<Mandate>,
    /// True if the last action filled a step of a login that asks for the password later.
    pub login_goes_on: bool,
}

impl AgentTrace {
    /// The trace of an agent that has its prompt and nothing else.
    pub(super) fn new(prompt: &str) -> AgentTrace {
        AgentTrace {
            taint: SharedTaint::new(TaintTracker::new(prompt)),
            actions: AgentActions::default(),
            sent: AgentEgress::default(),
            safety: TaskSafety::default(),
            mandate: None,
            login_goes_on: false,
        }
    }
}

/// The page that the agent read last.
#[derive(Default)]
pub(in crate::session) struct LastRead {
    pub origin: Option<Origin>,
    /// The text that a person sees of it.
    pub text: String,
    /// The same without the agent's own texts.
    pub untyped: String,
    /// True if the agent has done something since that may change the page, or a card was filled.
    pub is_acted_on: bool,
    /// The button that starts a payment on it.
    pub pay_button: Option<ElementRef>,
    /// The form that the agent pointed at last.
    pub pointed: Option<PointedForm>,
}

/// The record of what the user was asked, told and offered.
#[derive(Default)]
pub(in crate::session) struct UserContact {
    /// All warnings of the session.
    pub warned: Vec<Warning>,
    /// The warnings that the user has not been shown yet.
    pub warnings: Vec<Warning>,
    /// The last reported wait before a release to a site whose page was open before the task.
    pub wait: Option<(Origin, Duration)>,
    /// The hand-overs that the user was offered, once each.
    pub offered: BTreeSet<HandOver>,
    /// The refusals for which a hand-over was not offered at once, since the agent may mend its request.
    pub first_refusals: BTreeSet<HandOver>,
    /// True if the user took over, which ends the agent's part.
    pub taken_over: bool,
    /// The providers that the user was asked about.
    pub asked_providers: BTreeSet<Origin>,
    /// The fetches from a password manager that gave nothing, by kind and site.
    pub failed_fetches: BTreeMap<(Kind, Origin), u8>,
    /// The kinds and handles of records of which the user was asked which one is used, and chose none.
    pub chose_none: BTreeSet<(&'static str, Vec<String>)>,
    /// The user's choices in this task.
    pub record_choices: RecordChoices,
    /// True if the last question reached nobody.
    pub reached_nobody: bool,
    /// True if the user changed a standing consent since the current request was decided.
    pub overtaken: bool,
}
