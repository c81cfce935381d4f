//! Everything a decision may look at.

use browser_signals::{Container, Fact, NodeId, Observed, Origin, Snapshot};
use sirl::{Field, Kind, Money, Request};

use crate::History;

/// Milliseconds on the session's own clock, which only rises. Time is always an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

/// The task, sealed from the user's own words before any page was read (I16). It has no setters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    origins: Vec<Origin>,
    kinds: Vec<Kind>,
    budget: Option<Money>,
    container: Container,
}

impl Task {
    /// A task that may go to `origins`, ask for `kinds`, spend up to `budget` in all, in a container of
    /// at most the tier the user raised it to.
    pub fn new(origins: Vec<Origin>, kinds: Vec<Kind>, budget: Option<Money>, container: Container) -> Task {
        Task { origins, kinds, budget, container }
    }

    /// The origins the task may act on.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The kinds of request the task may need.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The most it may spend in all.
    pub fn budget(&self) -> Option<Money> {
        self.budget
    }

    /// The tier the user raised the task's container to.
    pub fn container(&self) -> Container {
        self.container
    }
}

/// Which control takes which field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The field.
    pub field: Field,
    /// The control.
    pub node: NodeId,
}

/// The verbs that the policy knows as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerbKind {
    /// Going to an address.
    Open,
    /// Reading.
    Read,
    /// Clicking.
    Click,
    /// Typing text.
    Type,
    /// Choosing an option, or setting a box.
    Choose,
    /// Pressing a key.
    Press,
    /// Submitting a form.
    Submit,
    /// Going back, or waiting.
    Idle,
}

/// An address that a verb goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal<'a> {
    /// Its origin.
    pub origin: &'a Origin,
    /// Its path, as the browser would resolve it, without query and fragment.
    pub path: &'a str,
}

/// Where the text was read that a verb carries. Of several parts, the last that applies counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carried {
    /// There is none, or every part of it stands in the user's own words.
    Own,
    /// What is not the user's was read where it goes, or nowhere.
    Here,
    /// Some of it was read at another origin only.
    Elsewhere,
}

/// What is to be decided.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A request of the model.
    Request {
        /// The request.
        request: &'a Request,
        /// Which control takes which field, for a fill; empty for a purchase.
        placements: &'a [Placement],
        /// For a purchase: the amount that is asked for and consented to. The payment handler pays it only if
        /// the browser says exactly the same.
        amount: Option<Money>,
    },
    /// A verb of the agent.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// For `Open`: where it goes. For others the snapshot says.
        to: Option<Goal<'a>>,
        /// Where the text was read that it carries.
        carries: Fact<Carried>,
    },
}

/// What the user has said about the thing that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Consent {
    /// Nothing yet.
    None,
    /// Yes, and it still holds.
    Given,
    /// No.
    Refused,
    /// Yes, but it ran out.
    Expired,
}

/// How safe the page is judged to be, as a band between the policy's thresholds: the highest tier whose
/// threshold the safety reaches, or `Below` all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SafetyBand {
    /// Below every threshold.
    Below,
    /// Reaches the threshold of T0.
    T0,
    /// Reaches the threshold of T1.
    T1,
    /// Reaches the threshold of T2.
    T2,
}

/// One question to the policy.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What is to be decided.
    pub event: Event<'a>,
    /// What the browser says; `None` before any page is open.
    pub page: Option<&'a Observed<Snapshot>>,
    /// The sealed task.
    pub task: &'a Task,
    /// What the user has said about it.
    pub consent: Consent,
    /// What has happened so far.
    pub history: History,
    /// The page's safety, where a classifier judged it.
    pub safety: Fact<SafetyBand>,
    /// Now.
    pub now: Millis,
}
