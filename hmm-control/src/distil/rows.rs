//! A training step whose counts and parameters are cut into blocks of rows, for processes that exchange rows in place of files.
//!
//! Parameters and counts have the same rows of `h` numbers: the first states, the transitions from each state, the emissions of each token.
//! A step of `n` processes, of which the one with number `i` owns the block [`Statistics::block`]`(i, n)`:
//!
//! 1. Each counts its shard ([`Trainer::count`]) and learns the totals of all ([`Totals::merge`]).
//! 2. Each sends to every other the rows of that one's block ([`Statistics::row`]), and adds those that it gets ([`Statistics::add_row`]).
//! 3. Each begins its block ([`Trainer::begin_rows`]). The sums of the emissions go from one to the next in the order of the blocks
//!    ([`BlockCounts::add_sums`]), since they are of floats, and from the last to all.
//! 4. Each maximises its block ([`BlockCounts::maximise`]) and sends its rows to all others ([`NewRows::read_row`], [`NewRows::write_row`]).
//! 5. Each completes the step ([`Trainer::finish_rows`]); the likelihood of the held-out sequences is again a sum of shards
//!    ([`Expectation::totals`]).
//!
//! Each process sends at most `8 h (1 + h + V) (n - 1) / n` bytes of counts and half of that of `f32` parameters in a step.

use super::maximise::{
    Weights, add_emission, check, maximise_emission, maximise_initial, maximise_transition,
};
use super::parameters::Place;
use super::statistics::float;
use super::{
    Counts, DistilError, Expectation, Parameters, Real, Report, Rules, Sequences, Statistics, Totals, Trainer,
};
use crate::Token;
use ndarray::ArrayViewMut1;
use std::ops::Range;

impl Statistics {
    /// The number of rows of `h` counts: the first states, then the transitions from each state, then the emissions of each token.
    pub fn rows(&self) -> usize {
        1 + self.states() + self.vocabulary()
    }

    /// The rows that one process of several owns; `number` counts from 1 to `of`. The blocks cover all rows in order, and their lengths
    /// differ by one at most.
    pub fn block(&self, number: u32, of: u32) -> Range<usize> {
        let bound =
            |number: u32| (self.rows() as u128 * u128::from(number.min(of)) / u128::from(of.max(1))) as usize;
        bound(number.saturating_sub(1))..bound(number)
    }

    /// The counts of a row, in steps of 2^-34; none where there is no such row, or where its token did not occur.
    pub fn row(&self, row: usize) -> Option<&[i64]> {
        let states = self.states();
        match Place::of(row, states, self.vocabulary())? {
            Place::Initial => Some(&self.initial),
            Place::Transition(state) => self.transition.get(state * states..(state + 1) * states),
            Place::Emission(token) => self.emission.get(&token).map(Vec::as_slice),
        }
    }

    /// Adds counts from elsewhere to a row, in steps of 2^-34. Sums of what so many positions can count do not overflow
    /// ([`Totals::merge`] refuses more); other sums end at the largest number.
    ///
    /// # Errors
    /// When there is no such row, or it has another length. Nothing is then added.
    pub fn add_row(&mut self, row: usize, counts: &[i64]) -> Result<(), DistilError> {
        let (states, rows) = (self.states(), self.rows());
        let target = match Place::of(row, states, self.vocabulary()) {
            Some(Place::Initial) => Some(self.initial.as_mut_slice()),
            Some(Place::Transition(state)) => self.transition.get_mut(state * states..(state + 1) * states),
            Some(Place::Emission(token)) if counts.len() == states => {
                Some(self.emission.entry(token).or_insert_with(|| vec![0; states]).as_mut_slice())
            }
            _ => None,
        };
        match target {
            Some(target) if target.len() == counts.len() => {
                target.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
                Ok(())
            }
            _ => Err(no_row(row, rows, counts.len(), states)),
        }
    }

    /// Frees the emissions of the tokens outside a block of rows.
    fn keep_block(&mut self, block: &Range<usize>) {
        let first = 1 + self.states();
        self.emission.retain(|token, _| block.contains(&(first + *token as usize)));
    }
}

fn no_row(row: usize, rows: usize, found: usize, wanted: usize) -> DistilError {
    if row < rows {
        return DistilError::Mismatch { what: "the row", found, wanted, unit: "states" };
    }
    DistilError::Mismatch { what: "the block", found: row, wanted: rows, unit: "rows" }
}

/// Where the counts of a block are.
#[derive(Debug, Clone)]
enum Source<T> {
    Step(Statistics),
    /// Those of earlier steps too.
    Running(Parameters<T>),
}

/// The counts of one block of rows, in the middle of a step: see [`Trainer::begin_rows`].
///
/// Two processes, each with a trainer of its own, whose messages are played by moving values:
///
/// ```
/// use hmm_control::distil::{DistilError, Options, Schedule, Sequences, Totals, Trainer, start};
/// use rand::SeedableRng;
///
/// let texts = Sequences::from_iter([[0, 1, 0, 1].as_slice(), &[0, 1], &[1, 0, 1]]);
/// let none = Sequences::new();
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let first = start::random::<f32>(&texts, 2, 2, None, &mut rng)?;
/// let options = Options { lanes: std::num::NonZeroUsize::MIN, ..Options::new(Schedule::full_batch(1)?) };
/// let trainer = || Trainer::new(first.clone(), &texts, &none, options.clone());
///
/// let (mut one, mut two) = (trainer()?, trainer()?);
/// let (mut mine, mut other) = (one.count(1, 2)?, two.count(2, 2)?);
/// let mut totals = *mine.totals();
/// totals.merge(other.totals())?;
/// for row in mine.block(1, 2) {
///     other.row(row).map_or(Ok(()), |counts| mine.add_row(row, counts))?;
/// }
/// for row in other.block(2, 2) {
///     mine.row(row).map_or(Ok(()), |counts| other.add_row(row, counts))?;
/// }
/// let (upper, lower) = (mine.block(1, 2), other.block(2, 2));
/// let mine = one.begin_rows(mine, &totals, upper.clone())?;
/// let other = two.begin_rows(other, &totals, lower.clone())?;
/// let mut sums = [0.0; 2];
/// mine.add_sums(0..2, &mut sums);
/// other.add_sums(0..2, &mut sums);
/// let (mut mine, mut other) = (mine.maximise(&one, &sums)?, other.maximise(&two, &sums)?);
/// let mut row = vec![0.0; mine.width()];
/// for number in lower {
///     other.read_row(number, &mut row)?;
///     mine.write_row(number, &row)?;
/// }
/// let report = one.finish_rows(mine, |expectation, parameters, held_out| {
///     expectation.totals(parameters, held_out, 0..held_out.len())
/// })?;
/// assert_eq!(report.step, 1);
///
/// let mut whole = trainer()?;
/// whole.step()?;
/// assert!(one.checkpoint()? == whole.checkpoint()?);
/// # Ok::<(), DistilError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BlockCounts<T> {
    step: u32,
    block: Range<usize>,
    totals: Totals,
    rules: Rules,
    source: Source<T>,
    first_token: usize,
}

impl<T: Real> BlockCounts<T> {
    /// The tokens whose emissions are in the block.
    fn tokens(&self) -> impl Iterator<Item = Token> {
        let token = |row: usize| row.saturating_sub(self.first_token) as Token;
        token(self.block.start)..token(self.block.end)
    }

    /// Adds the block's emissions by a range of states to their sums, one for each of these states. Starting from zeros, and in the order
    /// of the blocks, this gives the bits of one process; the ranges may be taken in any order, so that a chain of processes can work
    /// on several at once.
    pub fn add_sums(&self, states: Range<usize>, sums: &mut [f64]) {
        for token in self.tokens() {
            match &self.source {
                Source::Step(statistics) => {
                    let row = statistics.emission.get(&token).and_then(|row| row.get(states.clone()));
                    match row {
                        Some(row) => add_emission(&self.rules, token, row.iter().map(|c| float(*c)), sums),
                        None => add_emission(&self.rules, token, std::iter::repeat(0.0), sums),
                    }
                }
                Source::Running(running) => {
                    let row = running.emission.row(token as usize);
                    let counts = row.iter().skip(states.start).take(states.len()).map(|c| c.to_f64());
                    add_emission(&self.rules, token, counts, sums);
                }
            }
        }
    }

    /// The block's new rows, given the sums of all blocks' emissions, one for each state. `trainer` is the one that began the block.
    ///
    /// # Errors
    /// When the trainer is at another step, or there is not one sum for each state.
    pub fn maximise(self, trainer: &Trainer<'_, T>, sums: &[f64]) -> Result<NewRows<T>, DistilError> {
        let previous = trainer.parameters();
        let (states, found) = (previous.states(), sums.len());
        if found != states {
            return Err(DistilError::Mismatch {
                what: "the list of sums",
                found,
                wanted: states,
                unit: "states",
            });
        }
        if self.step != trainer.state.steps {
            return Err(DistilError::OtherStep);
        }
        let BlockCounts { step, block, totals, rules, source, .. } = self;
        let mut next = previous.clone();
        let running = match source {
            Source::Step(counts) => {
                maximise_rows(&counts, &rules, &block, sums, &mut next);
                None
            }
            Source::Running(running) => {
                maximise_rows(&Weights(&running), &rules, &block, sums, &mut next);
                Some(running)
            }
        };
        let written = (0..next.rows()).map(|row| block.contains(&row)).collect();
        Ok(NewRows { step, totals, next, running, written })
    }
}

fn maximise_rows<T: Real>(
    counts: &impl Counts,
    rules: &Rules,
    block: &Range<usize>,
    sums: &[f64],
    next: &mut Parameters<T>,
) {
    let mut scratch = vec![0.0; next.states()];
    for row in block.clone() {
        let place = next.place(row);
        let (Some(place), Some(target)) = (place, next.row_mut(row)) else { continue };
        let (target, scratch) = (ArrayViewMut1::from(target), scratch.as_mut_slice());
        match place {
            Place::Initial => maximise_initial(counts, rules, scratch, target),
            Place::Transition(state) => maximise_transition(counts, rules, state, scratch, target),
            Place::Emission(token) => maximise_emission(counts, rules, token, sums, scratch, target),
        }
    }
}

/// The parameters after a step, of which the own block is there, and the other blocks' rows are being gathered.
#[derive(Debug, Clone)]
pub struct NewRows<T> {
    step: u32,
    totals: Totals,
    next: Parameters<T>,
    running: Option<Parameters<T>>,
    written: Vec<bool>,
}

impl<T: Real> NewRows<T> {
    /// The numbers of a row as it is sent: the `h` parameters, and with a decaying step size the `h` running counts after them.
    pub fn width(&self) -> usize {
        self.next.states() * if self.running.is_some() { 2 } else { 1 }
    }

    /// Copies a row, to be sent to the other processes.
    ///
    /// # Errors
    /// When there is no such row, or `out` does not have [`NewRows::width`] numbers.
    pub fn read_row(&self, row: usize, out: &mut [T]) -> Result<(), DistilError> {
        self.check_row(row, out.len())?;
        let (parameters, counts) = out.split_at_mut(self.next.states());
        let copy = |from: Option<&[T]>, to: &mut [T]| {
            to.iter_mut().zip(from.into_iter().flatten()).for_each(|(to, from)| *to = *from);
        };
        copy(self.next.row(row), parameters);
        copy(self.running.as_ref().and_then(|running| running.row(row)), counts);
        Ok(())
    }

    /// Takes a row of another process.
    ///
    /// # Errors
    /// When there is no such row, or `values` does not have [`NewRows::width`] numbers.
    pub fn write_row(&mut self, row: usize, values: &[T]) -> Result<(), DistilError> {
        self.check_row(row, values.len())?;
        let (parameters, counts) = values.split_at(self.next.states());
        let copy = |from: &[T], to: Option<&mut [T]>| {
            to.into_iter().flatten().zip(from).for_each(|(to, from)| *to = *from);
        };
        copy(parameters, self.next.row_mut(row));
        copy(counts, self.running.as_mut().and_then(|running| running.row_mut(row)));
        self.written.iter_mut().skip(row).take(1).for_each(|written| *written = true);
        Ok(())
    }

    fn check_row(&self, row: usize, found: usize) -> Result<(), DistilError> {
        let (rows, wanted) = (self.next.rows(), self.width());
        if row < rows && found == wanted { Ok(()) } else { Err(no_row(row, rows, found, wanted)) }
    }
}

impl<T: Real> Trainer<'_, T> {
    /// Begins the M-step of a block of rows. `counts` holds that block's rows with the counts of all shards added; its other rows are not
    /// looked at. `totals` are those of all shards. It takes the counts, and frees the emissions that it does not need.
    ///
    /// # Errors
    /// When the counts are for a model of another size, there is no such block, or the totals are not of as many sequences as the step
    /// has: a shard is missing or was added twice.
    pub fn begin_rows(
        &self,
        mut counts: Statistics,
        totals: &Totals,
        block: Range<usize>,
    ) -> Result<BlockCounts<T>, DistilError> {
        let (old, rules) = (self.parameters(), self.rules());
        check(&counts, old, &rules)?;
        self.check_count(totals)?;
        if block.end > old.rows() {
            return Err(no_row(block.end, old.rows(), 0, 0));
        }
        counts.keep_block(&block);
        let source = match self.mixture(totals) {
            None => Source::Step(counts),
            Some(mixture) => {
                let mut running = self.state.running.as_ref().unwrap_or(old).clone();
                let mut row = vec![0.0; old.states()];
                block.clone().for_each(|number| mixture.of_row(number, &counts, &mut running, &mut row));
                Source::Running(running)
            }
        };
        let first_token = 1 + old.states();
        Ok(BlockCounts { step: self.state.steps, block, totals: *totals, rules, source, first_token })
    }

    /// Completes a step with the rows of all blocks. `score` is called for each likelihood that the step needs and gives the totals of a
    /// whole set of sequences under parameters, from all processes; they all have to complete the step.
    ///
    /// # Errors
    /// When rows are missing or are of another step; the training is then unchanged. And when `score` fails.
    pub fn finish_rows<E: From<DistilError>>(
        &mut self,
        rows: NewRows<T>,
        score: impl FnMut(&Expectation, &Parameters<T>, &Sequences) -> Result<Totals, E>,
    ) -> Result<Report, E> {
        if rows.step != self.state.steps {
            return Err(DistilError::OtherStep.into());
        }
        let (found, wanted) = (rows.written.iter().filter(|written| **written).count(), rows.written.len());
        if found != wanted {
            let what = "what was gathered";
            return Err(DistilError::Mismatch { what, found, wanted, unit: "rows" }.into());
        }
        self.complete(rows.next, rows.running, &rows.totals, score)
    }
}
