//! Training, step by step.

use super::maximise::{Counts, Weights};
use super::{
    DistilError, Dropout, Expectation, Options, Parameters, Pruned, Real, Report, Sequences, Statistics,
    StepSize, Successors, maximise,
};
use crate::{Hmm, Storage, Token};
use ndarray::Zip;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

/// The state of a training from step to step, which a checkpoint stores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrainingState<T> {
    pub(super) parameters: Parameters<T>,
    /// The running counts, scaled to the whole training set, for decaying step sizes.
    pub(super) running: Option<Parameters<T>>,
    /// The best parameters, where they are not the latest.
    pub(super) best: Option<Parameters<T>>,
    pub(super) best_score: f64,
    /// Steps since the best.
    pub(super) since_best: u32,
    pub(super) steps: u32,
    pub(super) tokens: u64,
    pub(super) successors: Option<Successors>,
    pub(super) stopped: bool,
}

/// Trains a hidden Markov model on sequences, step by step.
///
/// The same inputs give the same bits for any number of threads, and with or without an interruption
/// ([`Trainer::checkpoint`]). The E-step may also run elsewhere: [`Trainer::ranges`] and [`Trainer::expectation`] give its
/// inputs, and [`Trainer::apply`] takes the merged result.
///
/// ```
/// use hmm_control::distil::{Options, Schedule, Sequences, Trainer, start};
/// use hmm_control::Storage;
/// use rand::SeedableRng;
///
/// let texts = Sequences::from_iter([[0, 1, 0, 1].as_slice(), &[0, 1], &[1, 0, 1]]);
/// let held_out = Sequences::from_iter([[0, 1, 0].as_slice()]);
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let first = start::random::<f32>(&texts, 2, 2, None, &mut rng)?;
/// let mut trainer = Trainer::new(first, &texts, &held_out, Options::new(Schedule::full_batch(20)?))?;
/// while let Some(report) = trainer.step()? {
///     println!("{} of {}: {:.3}", report.step, report.steps, report.train);
/// }
/// let hmm = trainer.hmm(Storage::F32, Storage::F16)?;
/// # Ok::<(), hmm_control::distil::DistilError>(())
/// ```
pub struct Trainer<'a, T = f32> {
    pub(super) train: &'a Sequences,
    pub(super) held_out: &'a Sequences,
    pub(super) options: Options,
    pub(super) state: TrainingState<T>,
}

impl<'a, T: Real> Trainer<'a, T> {
    /// A training from first parameters ([`super::start`], or another model's by [`Parameters::from_hmm`]).
    /// `held_out` may be empty; then the latest model is the best.
    ///
    /// # Errors
    /// When an option is out of its range, there is no token to learn from, or a token is outside the vocabulary or follows
    /// the end token.
    pub fn new(
        first: Parameters<T>,
        train: &'a Sequences,
        held_out: &'a Sequences,
        options: Options,
    ) -> Result<Trainer<'a, T>, DistilError> {
        let state = TrainingState {
            parameters: first,
            running: None,
            best: None,
            best_score: f64::NEG_INFINITY,
            since_best: 0,
            steps: 0,
            tokens: 0,
            successors: None,
            stopped: false,
        };
        Trainer::with_state(state, train, held_out, options)
    }

    pub(super) fn with_state(
        state: TrainingState<T>,
        train: &'a Sequences,
        held_out: &'a Sequences,
        options: Options,
    ) -> Result<Trainer<'a, T>, DistilError> {
        options.check()?;
        state.parameters.check()?;
        let (states, vocabulary) = (state.parameters.states(), state.parameters.vocabulary());
        options.rules().check(states, vocabulary)?;
        if !has_tokens(train) {
            return Err(DistilError::NoTokens);
        }
        for sequences in [train, held_out] {
            sequences.check(&(0..sequences.len()), vocabulary, options.end)?;
        }
        Ok(Trainer { train, held_out, options, state })
    }

    /// The latest parameters.
    pub fn parameters(&self) -> &Parameters<T> {
        &self.state.parameters
    }

    /// The best parameters on the held-out sequences.
    pub fn best(&self) -> &Parameters<T> {
        self.state.best.as_ref().unwrap_or(&self.state.parameters)
    }

    /// The best model.
    ///
    /// # Errors
    /// The same as [`Parameters::to_hmm`].
    pub fn hmm(&self, transition: Storage, emission: Storage) -> Result<Hmm, DistilError> {
        Ok(self.best().to_hmm(transition, emission)?)
    }

    /// The kept transitions, once the training is sparse.
    pub fn successors(&self) -> Option<&Successors> {
        self.state.successors.as_ref()
    }

    /// True if no step remains, or the training stopped early.
    pub fn is_done(&self) -> bool {
        self.state.stopped || self.state.steps >= self.options.schedule.steps()
    }

    /// The training sequences of the next step.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        self.options.schedule.ranges(self.state.steps, self.train.len())
    }

    /// The E-step of the next step.
    pub fn expectation(&self) -> Expectation {
        let Options { lanes, threads, token_dropout: probability, seed, .. } = self.options;
        let dropout = Dropout { probability, seed, step: self.state.steps, first: 0 };
        Expectation { lanes, threads, dropout: (probability > 0.0).then_some(dropout) }
    }

    /// Changes the number of threads; the result does not depend on it.
    pub fn set_threads(&mut self, threads: NonZeroUsize) {
        self.options.threads = threads;
    }

    /// The next step; none when the training is done.
    ///
    /// # Errors
    /// When a step has more positions than counts can hold.
    pub fn step(&mut self) -> Result<Option<Report>, DistilError> {
        if self.is_done() {
            return Ok(None);
        }
        let mut all: Option<Statistics> = None;
        for range in self.ranges() {
            let part = self.expectation().statistics(&self.state.parameters, self.train, range)?;
            match &mut all {
                Some(all) => all.merge(&part)?,
                None => all = Some(part),
            }
        }
        let all = all.ok_or(DistilError::NoTokens)?;
        self.apply(&all).map(Some)
    }

    /// Takes all remaining steps, unless the observer stops.
    ///
    /// # Errors
    /// The same as [`Trainer::step`].
    pub fn run(&mut self, mut observer: impl FnMut(&Report) -> ControlFlow<()>) -> Result<(), DistilError> {
        while let Some(report) = self.step()? {
            if observer(&report).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Completes a step whose counts were computed elsewhere.
    ///
    /// # Errors
    /// When the counts are for a model of another size, or for another number of sequences than the step has: a shard is
    /// missing or was merged twice. The training is then unchanged.
    pub fn apply(&mut self, statistics: &Statistics) -> Result<Report, DistilError> {
        let wanted: usize = self.ranges().iter().map(ExactSizeIterator::len).sum();
        if statistics.sequences() != wanted as u64 {
            let found = statistics.sequences() as usize;
            return Err(DistilError::Mismatch {
                what: "the counts of this step",
                found,
                wanted,
                unit: "sequences",
            });
        }
        let work = self.work(self.state.steps);
        let rules = super::Rules { successors: self.state.successors.clone(), ..self.options.rules() };
        let size = self.options.step_size.of(self.state.steps);
        let old = &self.state.parameters;
        let parameters = if self.options.step_size == StepSize::Whole {
            maximise(statistics, old, &rules)?
        } else {
            let factor = self.train.len() as f64 / statistics.sequences().max(1) as f64;
            let running = blend(self.state.running.take(), statistics, old, size, factor);
            let parameters = maximise(&Weights(&running), old, &rules)?;
            self.state.running = Some(running);
            parameters
        };
        let improved_on = std::mem::replace(&mut self.state.parameters, parameters);
        self.state.steps += 1;
        self.state.tokens += statistics.tokens();
        let pruned = self.prune()?;
        let held_out = if has_tokens(self.held_out) { Some(self.score(self.held_out)?) } else { None };
        let best = self.keep_best(held_out, improved_on);
        let (remaining, total) = (self.work_from(self.state.steps), self.work_from(0));
        Ok(Report {
            step: self.state.steps,
            steps: self.options.schedule.steps(),
            tokens: self.state.tokens,
            train: statistics.log_likelihood_per_token(),
            held_out,
            best,
            pruned,
            work: work / total,
            remaining: remaining / total,
            stopped: self.state.stopped,
        })
    }

    /// The matrix products of a step, over all its tokens.
    fn work(&self, step: u32) -> f64 {
        let ranges = self.options.schedule.ranges(step, self.train.len());
        let tokens: usize = ranges.iter().map(|range| self.train.span(range).len()).sum();
        (3 * tokens + self.held_out.tokens().len()) as f64
    }

    /// The same for all steps from one on.
    fn work_from(&self, step: u32) -> f64 {
        let schedule = &self.options.schedule;
        let (passes, further) = schedule.left(step, self.train.len());
        let tokens: usize = further.iter().map(|range| self.train.span(range).len()).sum();
        let tokens = passes as f64 * self.train.tokens().len() as f64 + tokens as f64;
        let steps = schedule.steps().saturating_sub(step);
        3.0 * tokens + f64::from(steps) * self.held_out.tokens().len() as f64
    }

    fn score(&self, sequences: &Sequences) -> Result<f64, DistilError> {
        let expectation = Expectation { dropout: None, ..self.expectation() };
        Ok(expectation.likelihood(&self.state.parameters, sequences, 0..sequences.len())?.per_token())
    }

    fn prune(&mut self) -> Result<Option<Pruned>, DistilError> {
        let Some(sparse) = self.options.sparse.filter(|sparse| sparse.after == self.state.steps) else {
            return Ok(None);
        };
        let judges = if has_tokens(self.held_out) { self.held_out } else { self.train };
        let before = self.score(judges)?;
        let transition = &mut self.state.parameters.transition;
        let kept = Successors::largest(transition, sparse.successors as usize);
        kept.prune(transition);
        self.state.successors = Some(kept);
        self.state.best = None;
        self.state.best_score = f64::NEG_INFINITY;
        self.state.since_best = 0;
        Ok(Some(Pruned { successors: sparse.successors as usize, before, after: self.score(judges)? }))
    }

    fn keep_best(&mut self, held_out: Option<f64>, before: Parameters<T>) -> bool {
        let state = &mut self.state;
        let Some(score) = held_out else { return true };
        let dense_yet = self.options.sparse.is_some() && state.successors.is_none();
        // Written so that a NaN never wins, and the first model always does.
        if score > state.best_score || (state.since_best == 0 && state.best_score == f64::NEG_INFINITY) {
            state.best = None;
            state.best_score = score;
            state.since_best = 0;
            return true;
        }
        if state.best.is_none() {
            state.best = Some(before);
        }
        state.since_best += 1;
        // Stopping before the transitions are sparse would return a dense model.
        state.stopped =
            !dense_yet && self.options.patience.is_some_and(|patience| state.since_best >= patience);
        false
    }
}

/// True if there is any token that is not missing.
fn has_tokens(sequences: &Sequences) -> bool {
    sequences.tokens().iter().any(|token| *token != super::MISSING)
}

/// `(1 - size) * running + size * factor * statistics`.
fn blend<T: Real>(
    running: Option<Parameters<T>>,
    statistics: &Statistics,
    like: &Parameters<T>,
    size: f64,
    factor: f64,
) -> Parameters<T> {
    let (states, fresh) = (like.states(), running.is_none());
    let mut running = running.unwrap_or_else(|| like.clone());
    let keep = if fresh { 0.0 } else { 1.0 - size };
    let mut row = vec![0.0; states];
    let mix = |old: &mut T, new: &f64| *old = T::from_f64(keep * old.to_f64() + size * factor * new);
    statistics.read_initial(&mut row);
    running.initial.iter_mut().zip(&row).for_each(|(old, new)| mix(old, new));
    for (state, target) in running.transition.rows_mut().into_iter().enumerate() {
        statistics.read_transition(state, &mut row);
        Zip::from(target).and(&row).for_each(mix);
    }
    for (token, target) in running.emission.rows_mut().into_iter().enumerate() {
        statistics.read_emission(token as Token, &mut row);
        Zip::from(target).and(&row).for_each(mix);
    }
    running
}
