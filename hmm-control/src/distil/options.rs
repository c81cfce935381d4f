//! The settings of a training, and its reports.

use super::{DistilError, Rules, Schedule, StepSize};
use crate::Token;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Sparse transitions: only the most likely ones are kept.
///
/// The training continues with those alone. The matrix stays dense, with zeros, so that a step costs the same; a reader
/// that stores [`super::Successors`] lists needs only `successors / h` of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sparse {
    /// Transitions that each state keeps.
    pub successors: u32,
    /// Steps before the others are dropped; at least 1, and fewer than the schedule has.
    pub after: u32,
}

/// The settings of a training. All but the threads affect the result and are stored in checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The sequences of each step.
    pub schedule: Schedule,
    /// The step size.
    pub step_size: StepSize,
    /// See [`Rules::pseudocount`]. 0.001 by default.
    pub pseudocount: f64,
    /// See [`Rules::end`].
    pub end: Option<Token>,
    /// The probability of dropping a training token. 0 by default; Ctrl-G trains with 0.01.
    pub token_dropout: f64,
    /// Steps without a better held-out likelihood before the training stops; no early stop where none is given.
    pub patience: Option<u32>,
    /// Drops all but the largest transitions, where given.
    pub sparse: Option<Sparse>,
    /// The seed of all randomness in the training.
    pub seed: u64,
    /// See [`super::Expectation::lanes`]. Affects the last bits of the result.
    pub lanes: NonZeroUsize,
    /// Threads; the result does not depend on them.
    pub threads: NonZeroUsize,
}

impl Options {
    /// A schedule, and defaults for the rest: whole steps, no dropout, no early stop, dense transitions, seed 0, 128 lanes,
    /// one thread.
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

/// The cost of dropping all but the largest transitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pruned {
    /// Transitions that each state keeps.
    pub successors: usize,
    /// Log likelihood per token (held out, or of the training set where nothing is held out) right before.
    pub before: f64,
    /// The same right after, before any further step.
    pub after: f64,
}

/// One step of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// The number of the step, counted from 1.
    pub step: u32,
    /// Number of steps without an early stop.
    pub steps: u32,
    /// Training tokens seen in all steps so far.
    pub tokens: u64,
    /// Log likelihood per token, in nats, of the step's sequences, under the parameters *before* it.
    pub train: f64,
    /// Log likelihood per token, in nats, of the held-out sequences, under the parameters *after* it.
    pub held_out: Option<f64>,
    /// True if this is the best model so far on the held-out sequences (always, where there are none).
    pub best: bool,
    /// Set by the step that made the transitions sparse. Earlier models do not count for the best one.
    pub pruned: Option<Pruned>,
    /// The step's share of the work of the whole training.
    pub work: f64,
    /// The remaining share without an early stop.
    pub remaining: f64,
    /// True if the held-out likelihood has not risen for as many steps as the patience allows.
    pub stopped: bool,
}

/// An estimate of the remaining time, from the durations that the caller measures.
///
/// ```
/// use hmm_control::distil::RemainingTime;
/// use std::time::Duration;
///
/// let mut estimate = RemainingTime::new();
/// estimate.observe(0.25, 0.75, Duration::from_secs(2));
/// assert_eq!(estimate.remaining(), Some(Duration::from_secs(6)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RemainingTime {
    took: Duration,
    done: f64,
    remaining: f64,
}

impl RemainingTime {
    /// Nothing measured yet.
    pub fn new() -> RemainingTime {
        RemainingTime::default()
    }

    /// Adds the duration of a step; `work` and `remaining` are those of its [`Report`].
    pub fn observe(&mut self, work: f64, remaining: f64, took: Duration) {
        self.took += took;
        self.done += work;
        self.remaining = remaining;
    }

    /// The remaining time at the speed so far; none before the first step.
    pub fn remaining(&self) -> Option<Duration> {
        let seconds = self.took.as_secs_f64() * self.remaining / self.done;
        Duration::try_from_secs_f64(seconds).ok()
    }
}
