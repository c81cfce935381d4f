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

/// All that a training remembers from step to step; what a checkpoint holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Memory<T> {
    pub(super) parameters: Parameters<T>,
    /// The counts so far, scaled to the whole training set, where steps do not forget.
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
/// The same inputs give the same bits, whatever the number of threads, and whether the training was interrupted
/// ([`Trainer::checkpoint`]) or not. The E-step may also be done elsewhere: [`Trainer::ranges`] and
/// [`Trainer::expectation`] say what to compute, [`Trainer::apply`] takes the merged result.
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
    pub(super) memory: Memory<T>,
}

impl<'a, T: Real> Trainer<'a, T> {
    /// A training from first parameters ([`super::start`], or another model's by [`Parameters::from_hmm`]).
    /// `held_out` may be empty; then the latest model is the best.
    ///
    /// # Errors
    /// When an option makes no sense, there is nothing to learn from, or a token is outside the vocabulary or follows
    /// the end token.
    pub fn new(
        first: Parameters<T>,
        train: &'a Sequences,
        held_out: &'a Sequences,
        options: Options,
    ) -> Result<Trainer<'a, T>, DistilError> {
        let memory = Memory {
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
        Trainer::with_memory(memory, train, held_out, options)
    }

    pub(super) fn with_memory(
        memory: Memory<T>,
        train: &'a Sequences,
        held_out: &'a Sequences,
        options: Options,
    ) -> Result<Trainer<'a, T>, DistilError> {
        options.check()?;
        memory.parameters.check()?;
        let (states, vocabulary) = (memory.parameters.states(), memory.parameters.vocabulary());
        options.rules().check(states, vocabulary)?;
        if !has_tokens(train) {
            return Err(DistilError::NoTokens);
        }
        for sequences in [train, held_out] {
            sequences.check(&(0..sequences.len()), vocabulary, options.end)?;
        }
        Ok(Trainer { train, held_out, options, memory })
    }

    /// The latest parameters.
    pub fn parameters(&self) -> &Parameters<T> {
        &self.memory.parameters
    }

    /// The best parameters by what is held out.
    pub fn best(&self) -> &Parameters<T> {
        self.memory.best.as_ref().unwrap_or(&self.memory.parameters)
    }

    /// The best model.
    ///
    /// # Errors
    /// As for [`Parameters::to_hmm`].
    pub fn hmm(&self, transition: Storage, emission: Storage) -> Result<Hmm, DistilError> {
        Ok(self.best().to_hmm(transition, emission)?)
    }

    /// The transitions that are kept, once the training has dropped the others.
    pub fn successors(&self) -> Option<&Successors> {
        self.memory.successors.as_ref()
    }

    /// Whether there is no step left, or the held-out likelihood has stopped to rise.
    pub fn is_done(&self) -> bool {
        self.memory.stopped || self.memory.steps >= self.options.schedule.steps()
    }

    /// The training sequences that the next step learns from.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        self.options.schedule.ranges(self.memory.steps, self.train.len())
    }

    /// How the next step's counts are computed.
    pub fn expectation(&self) -> Expectation {
        let Options { lanes, threads, token_dropout: probability, seed, .. } = self.options;
        let dropout = Dropout { probability, seed, step: self.memory.steps, first: 0 };
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
            let part = self.expectation().statistics(&self.memory.parameters, self.train, range)?;
            match &mut all {
                Some(all) => all.merge(&part)?,
                None => all = Some(part),
            }
        }
        let all = all.ok_or(DistilError::NoTokens)?;
        self.apply(&all).map(Some)
    }

    /// All steps that are left, or as many as the observer lets pass.
    ///
    /// # Errors
    /// As for [`Trainer::step`].
    pub fn run(&mut self, mut observer: impl FnMut(&Report) -> ControlFlow<()>) -> Result<(), DistilError> {
        while let Some(report) = self.step()? {
            if observer(&report).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The rest of a step whose counts were computed elsewhere.
    ///
    /// # Errors
    /// When the counts are for a model of another size, or not of as many sequences as this step learns from: a shard
    /// is missing or came twice. Nothing is learnt then.
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
        let work = self.work(self.memory.steps);
        let rules = super::Rules { successors: self.memory.successors.clone(), ..self.options.rules() };
        let size = self.options.step_size.of(self.memory.steps);
        let old = &self.memory.parameters;
        let parameters = if self.options.step_size == StepSize::Whole {
            maximise(statistics, old, &rules)?
        } else {
            let factor = self.train.len() as f64 / statistics.sequences().max(1) as f64;
            let running = blend(self.memory.running.take(), statistics, old, size, factor);
            let parameters = maximise(&Weights(&running), old, &rules)?;
            self.memory.running = Some(running);
            parameters
        };
        let improved_on = std::mem::replace(&mut self.memory.parameters, parameters);
        self.memory.steps += 1;
        self.memory.tokens += statistics.tokens();
        let pruned = self.prune()?;
        let held_out = if has_tokens(self.held_out) { Some(self.score(self.held_out)?) } else { None };
        let best = self.keep_best(held_out, improved_on);
        let (remaining, total) = (self.work_from(self.memory.steps), self.work_from(0));
        Ok(Report {
            step: self.memory.steps,
            steps: self.options.schedule.steps(),
            tokens: self.memory.tokens,
            train: statistics.log_likelihood_per_token(),
            held_out,
            best,
            pruned,
            work: work / total,
            remaining: remaining / total,
            stopped: self.memory.stopped,
        })
    }

    /// Matrix products that a step takes, over all its tokens.
    fn work(&self, step: u32) -> f64 {
        let ranges = self.options.schedule.ranges(step, self.train.len());
        let tokens: usize = ranges.iter().map(|range| self.train.span(range).len()).sum();
        (3 * tokens + self.held_out.tokens().len()) as f64
    }

    /// The same of all steps from one on.
    fn work_from(&self, step: u32) -> f64 {
        let schedule = &self.options.schedule;
        let (passes, besides) = schedule.left(step, self.train.len());
        let tokens: usize = besides.iter().map(|range| self.train.span(range).len()).sum();
        let tokens = passes as f64 * self.train.tokens().len() as f64 + tokens as f64;
        let steps = schedule.steps().saturating_sub(step);
        3.0 * tokens + f64::from(steps) * self.held_out.tokens().len() as f64
    }

    fn score(&self, sequences: &Sequences) -> Result<f64, DistilError> {
        let expectation = Expectation { dropout: None, ..self.expectation() };
        Ok(expectation.likelihood(&self.memory.parameters, sequences, 0..sequences.len())?.per_token())
    }

    fn prune(&mut self) -> Result<Option<Pruned>, DistilError> {
        let Some(sparse) = self.options.sparse.filter(|sparse| sparse.after == self.memory.steps) else {
            return Ok(None);
        };
        let judges = if has_tokens(self.held_out) { self.held_out } else { self.train };
        let before = self.score(judges)?;
        let transition = &mut self.memory.parameters.transition;
        let kept = Successors::largest(transition, sparse.successors as usize);
        kept.prune(transition);
        self.memory.successors = Some(kept);
        self.memory.best = None;
        self.memory.best_score = f64::NEG_INFINITY;
        self.memory.since_best = 0;
        Ok(Some(Pruned { successors: sparse.successors as usize, before, after: self.score(judges)? }))
    }

    fn keep_best(&mut self, held_out: Option<f64>, before: Parameters<T>) -> bool {
        let memory = &mut self.memory;
        let Some(score) = held_out else { return true };
        let dense_yet = self.options.sparse.is_some() && memory.successors.is_none();
        // Written so that what is no number never wins, and the first model does whatever it scores.
        if score > memory.best_score || (memory.since_best == 0 && memory.best_score == f64::NEG_INFINITY) {
            memory.best = None;
            memory.best_score = score;
            memory.since_best = 0;
            return true;
        }
        if memory.best.is_none() {
            memory.best = Some(before);
        }
        memory.since_best += 1;
        // Stopping before the transitions are sparse would hand over a dense model.
        memory.stopped =
            !dense_yet && self.options.patience.is_some_and(|patience| memory.since_best >= patience);
        false
    }
}

/// Whether there is anything to learn from, or to judge by.
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
