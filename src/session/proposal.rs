//! A task that the agent proposes and the user agrees to.

use browser_signals::Origin;
use sirl::Kind;

use crate::intake::Intake;

/// The sites and kinds of request that an agent asks for, where the user's own words do not reach the guard, such as
/// for an agent in another program. The proposal has no effect until the user agrees to it on their own channel. It has
/// no budget, no values and no records, which only the user can name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    /// The only origins that the task may visit.
    pub origins: Vec<Origin>,
    /// The kinds that the task may ask for. Without any there is no prompt, and the container is T0, which releases
    /// nothing.
    pub kinds: Vec<Kind>,
}

/// The maximum number of sites in one prompt. Users do not read longer lists.
const MAX_SITES: usize = 8;

/// The maximum length of all sites' names together, in bytes. The prompt would cut longer text.
const MAX_LENGTH: usize = 1600;

impl Proposal {
    /// Whether one prompt can show the whole proposal.
    pub(super) fn can_be_shown(&self) -> bool {
        let length: usize = self.origins.iter().map(|origin| origin.to_string().len()).sum();
        self.origins.len() <= MAX_SITES && length <= MAX_LENGTH
    }

    /// The task, as if a prompt had named it.
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
