//! The task of an observed agent.

use browser_signals::{Container, Origin};
use classifier::Detectors;
use policy_dfa::Task;
use sirl::{Kind, Money};

use crate::guard::GuardError;
use crate::intake;

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
    /// [`GuardError::Policy`] where the detectors cannot be made; none in a build whose tests passed.
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
    pub(super) fn sealed(&self) -> Task {
        Task::new(self.origins.clone(), self.kinds.clone(), self.budget, Container::T2)
    }
}

/// The standard detectors of values.
pub(super) fn detectors() -> Result<Detectors, GuardError> {
    Detectors::standard().map_err(|error| GuardError::Policy(error.to_string()))
}
