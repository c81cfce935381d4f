//! What a training says of itself.

use std::time::Duration;

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
