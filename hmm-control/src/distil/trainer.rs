//! Training, step by step.

use super::maximise::{Counts, Weights};
use super::parameters::Place;
use super::{
    DistilError, Dropout, Expectation, Options, Parameters, Pruned, Real, Report, Rules, Sequences,
    Statistics, StepSize, Successors, Totals, maximise,
};
use crate::{Hmm, Storage};
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

    /// The settings.
    pub fn options(&self) -> &Options {
        &self.options
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
        let all = self.count(1, 1)?;
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
        self.check_count(statistics.totals())?;
        let (old, rules) = (&self.state.parameters, self.rules());
        let (parameters, running) = match self.mixture(statistics.totals()) {
            None => (maximise(statistics, old, &rules)?, None),
            Some(mixture) => {
                let running = mixture.of_all(self.state.running.take(), statistics, old);
                (maximise(&Weights(&running), old, &rules)?, Some(running))
            }
        };
        self.complete(parameters, running, statistics.totals(), |expectation, parameters, sequences| {
            expectation.totals(parameters, sequences, 0..sequences.len())
        })
    }

    /// Checks that as many sequences were counted as the step has.
    pub(super) fn check_count(&self, totals: &Totals) -> Result<(), DistilError> {
        let wanted: usize = self.ranges().iter().map(ExactSizeIterator::len).sum();
        if totals.sequences() == wanted as u64 {
            return Ok(());
        }
        let found = totals.sequences() as usize;
        Err(DistilError::Mismatch { what: "the counts of this step", found, wanted, unit: "sequences" })
    }

    /// The rules of the next M-step.
    pub(super) fn rules(&self) -> Rules {
        Rules { successors: self.state.successors.clone(), ..self.options.rules() }
    }

    /// How the counts of the next step are mixed into the running ones; none where they replace them.
    pub(super) fn mixture(&self, totals: &Totals) -> Option<Mixture> {
        let size = self.options.step_size.of(self.state.steps);
        let keep = if self.state.running.is_none() { 0.0 } else { 1.0 - size };
        let factor = self.train.len() as f64 / totals.sequences().max(1) as f64;
        (self.options.step_size != StepSize::Whole).then_some(Mixture { keep, size, factor })
    }

    /// Completes a step with its parameters: makes them sparse if it is time, judges them, and keeps the best. `score` gives the totals of
    /// all sequences of a set under parameters.
    pub(super) fn complete<E: From<DistilError>>(
        &mut self,
        parameters: Parameters<T>,
        running: Option<Parameters<T>>,
        totals: &Totals,
        mut score: impl FnMut(&Expectation, &Parameters<T>, &Sequences) -> Result<Totals, E>,
    ) -> Result<Report, E> {
        let expectation = Expectation { dropout: None, ..self.expectation() };
        let mut score = |parameters: &Parameters<T>, sequences: &Sequences| {
            score(&expectation, parameters, sequences).map(|totals| totals.likelihood().per_token())
        };
        let work = self.work(self.state.steps);
        let improved_on = std::mem::replace(&mut self.state.parameters, parameters);
        self.state.running = running;
        self.state.steps += 1;
        self.state.tokens += totals.tokens();
        let pruned = self.prune(&mut score)?;
        let held_out = has_tokens(self.held_out).then(|| score(&self.state.parameters, self.held_out));
        let held_out = held_out.transpose()?;
        let best = self.keep_best(held_out, improved_on);
        let (remaining, total) = (self.work_from(self.state.steps), self.work_from(0));
        Ok(Report {
            step: self.state.steps,
            steps: self.options.schedule.steps(),
            tokens: self.state.tokens,
            train: totals.log_likelihood_per_token(),
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

    fn prune<E>(
        &mut self,
        mut score: impl FnMut(&Parameters<T>, &Sequences) -> Result<f64, E>,
    ) -> Result<Option<Pruned>, E> {
        let Some(sparse) = self.options.sparse.filter(|sparse| sparse.after == self.state.steps) else {
            return Ok(None);
        };
        let judges = if has_tokens(self.held_out) { self.held_out } else { self.train };
        let before = score(&self.state.parameters, judges)?;
        let transition = &mut self.state.parameters.transition;
        let kept = Successors::largest(transition, sparse.successors as usize);
        kept.prune(transition);
        self.state.successors = Some(kept);
        self.state.best = None;
        self.state.best_score = f64::NEG_INFINITY;
        self.state.since_best = 0;
        let after = score(&self.state.parameters, judges)?;
        Ok(Some(Pruned { successors: sparse.successors as usize, before, after }))
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

/// Mixes the counts of a step into the running ones: `keep * running + size * factor * counts`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mixture {
    /// 1 - `size`; 0 where there are no running counts yet.
    keep: f64,
    size: f64,
    /// The factor that scales the counts to the whole training set.
    factor: f64,
}

impl Mixture {
    fn of_all<T: Real>(
        self,
        running: Option<Parameters<T>>,
        statistics: &Statistics,
        like: &Parameters<T>,
    ) -> Parameters<T> {
        let mut running = running.unwrap_or_else(|| like.clone());
        let mut row = vec![0.0; like.states()];
        for number in 0..like.rows() {
            self.of_row(number, statistics, &mut running, &mut row);
        }
        running
    }

    /// Mixes one of the rows of parameters; `row` is room for `h` numbers.
    pub(super) fn of_row<T: Real>(
        self,
        number: usize,
        statistics: &Statistics,
        running: &mut Parameters<T>,
        row: &mut [f64],
    ) {
        let Mixture { keep, size, factor } = self;
        match running.place(number) {
            Some(Place::Initial) => statistics.read_initial(row),
            Some(Place::Transition(state)) => statistics.read_transition(state, row),
            Some(Place::Emission(token)) => statistics.read_emission(token, row),
            None => return,
        }
        for (old, new) in running.row_mut(number).into_iter().flatten().zip(row) {
            *old = T::from_f64(keep * old.to_f64() + size * factor * *new);
        }
    }
}
