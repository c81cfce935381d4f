//! A task that the agent proposes and the user agrees to.

use browser_signals::Origin;
use sirl::Kind;

use crate::intake::Intake;

/// What an agent says it is going to need, where the user's own words do not reach the guard: an agent that sits in
/// another program, for one. Nothing of it holds until the user was asked, on the user's own channel: where to, and for
/// what. It has no budget, no values and no records: those the user names or nobody.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    /// The only origins that the task is to go to.
    pub origins: Vec<Origin>,
    /// What it may ask for. Without any there is nothing to ask the user: the container is T0, which releases nothing.
    pub kinds: Vec<Kind>,
}

/// How many sites one question can be about. Beyond, nobody reads them.
const MOST_SITES: usize = 8;

/// How long their names may be together, in bytes: what is longer would be cut where the user is asked.
const LONGEST: usize = 1600;

impl Proposal {
    /// Whether a question can show all of it.
    pub(super) fn can_be_shown(&self) -> bool {
        let length: usize = self.origins.iter().map(|origin| origin.to_string().len()).sum();
        self.origins.len() <= MOST_SITES && length <= LONGEST
    }

    /// The task, as if a prompt had said so.
    pub(super) fn into_intake(mut self) -> Intake {
        let mut seen = Vec::new();
        self.kinds.retain(|kind| {
            !seen.contains(kind) && {
                seen.push(*kind);
                true
            }
        });
        Intake {
            found: Vec::new(),
            unsure: Vec::new(),
            unkept: Vec::new(),
            prompt: String::new(),
            origins: self.origins,
            handles: Vec::new(),
            persona: None,
            kinds: self.kinds,
            budget: None,
        }
    }
}
