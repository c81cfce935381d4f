//! The settings of a training, and its reports.

use super::{DistilError, Rules, Schedule, StepSize};
use crate::Token;
use std::num::NonZeroUsize;
use std::time::Duration;

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

/// What dropping all but the largest transitions cost.
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
    /// Which step this was, counted from 1.
    pub step: u32,
    /// How many there are, if none is saved by an early stop.
    pub steps: u32,
    /// Training tokens seen in all steps so far.
    pub tokens: u64,
    /// Log likelihood per token, in nats, of what the step learnt from, under the parameters *before* it.
    pub train: f64,
    /// Log likelihood per token, in nats, of what is held out, under the parameters *after* it.
    pub held_out: Option<f64>,
    /// Whether this is the best model so far by what is held out (the latest, where nothing is).
    pub best: bool,
    /// Set by the step that made the transitions sparse. What came before does not count for the best model.
    pub pruned: Option<Pruned>,
    /// The share of the whole training's work that this step was.
    pub work: f64,
    /// The share that is left, if none is saved by an early stop.
    pub remaining: f64,
    /// Whether the held-out likelihood has stopped to rise for as many steps as the patience allows.
    pub stopped: bool,
}

/// The time left, from how long the steps took: the clock is the caller's.
///
/// ```
/// use hmm_control::distil::Estimate;
/// use std::time::Duration;
///
/// let mut estimate = Estimate::new();
/// estimate.observe(0.25, 0.75, Duration::from_secs(2));
/// assert_eq!(estimate.remaining(), Some(Duration::from_secs(6)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    took: Duration,
    done: f64,
    remaining: f64,
}

impl Estimate {
    /// Nothing measured yet.
    pub fn new() -> Estimate {
        Estimate::default()
    }

    /// A step took so long; `work` and `remaining` as in its [`Report`].
    pub fn observe(&mut self, work: f64, remaining: f64, took: Duration) {
        self.took += took;
        self.done += work;
        self.remaining = remaining;
    }

    /// The time left at the speed so far; none before the first step.
    pub fn remaining(&self) -> Option<Duration> {
        let seconds = self.took.as_secs_f64() * self.remaining / self.done;
        Duration::try_from_secs_f64(seconds).ok()
    }
}
