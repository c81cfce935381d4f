//! How a training goes.

use super::{DistilError, Rules, Schedule, StepSize};
use crate::Token;
use std::num::NonZeroUsize;

/// Keeping only the most likely transitions.
///
/// The training then goes on with those alone. The matrix stays a dense one with zeros: a step costs what it did, and
/// what is saved is for a reader that stores [`super::Successors`] lists, `successors / h` of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sparse {
    /// Transitions that each state keeps.
    pub successors: u32,
    /// Steps before the others are dropped; at least 1, and fewer than the schedule has.
    pub after: u32,
}

/// How a training goes. Everything but the threads decides on the result and is kept in checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What each step learns from.
    pub schedule: Schedule,
    /// How far each step goes.
    pub step_size: StepSize,
    /// See [`Rules::pseudocount`]. 0.001 by default.
    pub pseudocount: f64,
    /// See [`Rules::end`].
    pub end: Option<Token>,
    /// How likely each training token is to be left out. 0 by default; Ctrl-G trains with 0.01.
    pub token_dropout: f64,
    /// Stops after so many steps without a better held-out likelihood; never where none is given.
    pub patience: Option<u32>,
    /// Drops all but the largest transitions, where given.
    pub sparse: Option<Sparse>,
    /// Where all randomness of the training comes from.
    pub seed: u64,
    /// See [`super::Expectation::lanes`]. Decides on the last bits of the result.
    pub lanes: NonZeroUsize,
    /// Threads; the result does not depend on them.
    pub threads: NonZeroUsize,
}

impl Options {
    /// A schedule, and defaults for the rest: whole steps, no dropout, no early stop, dense, seed 0, 128 lanes, one
    /// thread.
    pub fn new(schedule: Schedule) -> Options {
        Options {
            schedule,
            step_size: StepSize::Whole,
            pseudocount: 0.001,
            end: None,
            token_dropout: 0.0,
            patience: None,
            sparse: None,
            seed: 0,
            lanes: NonZeroUsize::MIN.saturating_add(127),
            threads: NonZeroUsize::MIN,
        }
    }

    pub(super) fn rules(&self) -> Rules {
        Rules { pseudocount: self.pseudocount, end: self.end, successors: None }
    }

    pub(super) fn check(&self) -> Result<(), DistilError> {
        self.step_size.check()?;
        if !(0.0..1.0).contains(&self.token_dropout) {
            return Err(DistilError::Setting {
                name: "the token dropout",
                given: self.token_dropout.to_string(),
                wanted: "at least 0 and below 1",
            });
        }
        match self.sparse {
            Some(sparse) if sparse.successors == 0 || !(1..self.schedule.steps()).contains(&sparse.after) => {
                Err(DistilError::Setting {
                    name: "the sparse option",
                    given: format!("{} successors after {} steps", sparse.successors, sparse.after),
                    wanted: "at least one successor, after at least one step and before the last",
                })
            }
            _ => Ok(()),
        }
    }
}
