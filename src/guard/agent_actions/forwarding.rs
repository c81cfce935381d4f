//! Released values that a form takes to another path of their site than the user agreed to.

use browser_signals::Origin;
use sirl::FieldSet;

use super::AgentActions;
use crate::consent::order::WaitingRequest;

/// The maximum number of paths that are remembered. Past it, every such request is asked about.
const MAX_PATHS: usize = 256;

/// A request with released values, to another path than their grants name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forwarded {
    /// The site.
    pub to: Origin,
    /// The path.
    pub path: String,
    /// The values that it carries, or that it could carry where its body is not text.
    pub fields: FieldSet,
    /// Whether a yes holds for one request: a query is written into records and addresses, and others may read free text.
    pub once: bool,
}

/// The requests of this kind in a task.
#[derive(Default)]
pub(super) struct Forwarding {
    waiting: Vec<Forwarded>,
    agreed: Vec<Forwarded>,
    refused: Vec<Forwarded>,
    is_sending: bool,
}

impl Forwarded {
    fn is_at(&self, to: &Origin, path: &str) -> bool {
        self.to == *to && self.path == path
    }

    /// Whether an answer about `self` also answers `other`.
    fn covers(&self, other: &Forwarded) -> bool {
        self.is_at(&other.to, &other.path)
            && self.once == other.once
            && other.fields.is_subset_of(self.fields)
    }
}

impl AgentActions {
    /// Says that an action of the agent begins or ends that may send a form which the guard did not fill.
    pub fn set_sending(&self, sending: bool) {
        self.lock().forwarding.is_sending = sending;
    }

    /// Whether an action of the agent may send a form at present.
    pub(crate) fn is_sending(&self) -> bool {
        self.lock().forwarding.is_sending
    }

    /// Forgets which requests wait. It is called when the browser is about to judge all of them anew, or to stop them.
    pub fn forget_waiting(&self) {
        self.lock().forwarding.waiting.clear();
    }

    /// Whether a request must wait for the user's answer. A yes that holds for one request is used up here.
    pub(crate) fn must_ask(&self, request: Forwarded) -> bool {
        let forwarding = &mut self.lock().forwarding;
        if let Some(at) = forwarding.agreed.iter().position(|agreed| agreed.covers(&request)) {
            if request.once {
                forwarding.agreed.swap_remove(at);
            }
            return false;
        }
        if forwarding.waiting.len() < MAX_PATHS {
            forwarding.waiting.push(request);
        }
        true
    }
}

impl Forwarding {
    /// The values that the waiting requests to this path carry.
    pub(super) fn carried_to(&self, to: &Origin, path: &str) -> FieldSet {
        let here = self.waiting.iter().filter(|request| request.is_at(to, path));
        here.flat_map(|request| request.fields.iter()).fold(FieldSet::EMPTY, FieldSet::with)
    }

    /// Whether the user refused a request to this path with these values before.
    pub(super) fn is_refused(&self, waiting: &WaitingRequest) -> bool {
        self.refused.iter().any(|refused| {
            refused.is_at(&waiting.to, &waiting.path) && waiting.carries.is_subset_of(refused.fields)
        })
    }

    /// Applies the user's answer about these requests.
    pub(super) fn answered(&mut self, asked: &[WaitingRequest], agreed: bool) {
        let is_asked = |request: &Forwarded| asked.iter().any(|one| request.is_at(&one.to, &one.path));
        let (answered, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(is_asked);
        self.waiting = waiting;
        let answers = if agreed { &mut self.agreed } else { &mut self.refused };
        for request in answered {
            if answers.len() < MAX_PATHS && (request.once || !answers.contains(&request)) {
                answers.push(request);
            }
        }
    }
}
