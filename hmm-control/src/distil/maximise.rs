//! The M-step.

use super::{DistilError, Parameters, Real};
use crate::Token;
use ndarray::{Array2, ArrayViewMut1};

/// Expected counts from any source.
pub trait Counts {
    /// Numbers of states and tokens.
    fn dimensions(&self) -> (usize, usize);
    /// The count of each first state.
    fn read_initial(&self, out: &mut [f64]);
    /// The count of each transition from `state`.
    fn read_transition(&self, state: usize, out: &mut [f64]);
    /// The count of the emissions of `token` by each state.
    fn read_emission(&self, token: Token, out: &mut [f64]);
}

/// The largest pseudocount: more than the tokens of any text, with finite sums.
const MOST_PSEUDOCOUNT: f64 = 1e18;

/// The constraints of the M-step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// The pseudocount of every event that the other rules allow (a Dirichlet prior of this parameter + 1). 0 is maximum
    /// likelihood; 0.001 keeps unseen events possible; at most 10^18.
    pub pseudocount: f64,
    /// The end token, where there is one: then the last state emits it alone and is never left, and no other state
    /// emits it.
    pub end: Option<Token>,
    /// The allowed transitions; all where none are given.
    pub successors: Option<Successors>,
}

impl Rules {
    /// Checks the rules against a model's size.
    pub(super) fn check(&self, states: usize, vocabulary: usize) -> Result<(), DistilError> {
        if !(0.0..=MOST_PSEUDOCOUNT).contains(&self.pseudocount) {
            return Err(DistilError::Setting {
                name: "the pseudocount",
                given: self.pseudocount.to_string(),
                wanted: "at least 0 and at most 10^18",
            });
        }
        if let Some(end) = self.end.filter(|end| states < 2 || *end as usize >= vocabulary) {
            return Err(DistilError::End { end, vocabulary, states });
        }
        match &self.successors {
            Some(kept) if kept.states() != states => Err(DistilError::Mismatch {
                what: "the list of successors",
                found: kept.states(),
                wanted: states,
                unit: "states",
            }),
            _ => Ok(()),
        }
    }
}

/// The parameters that maximise the likelihood of the counts under the rules. A distribution without counts keeps its
/// value in `previous`.
///
/// # Errors
/// When the sizes or the rules do not fit.
pub fn maximise<T: Real>(
    counts: &impl Counts,
    previous: &Parameters<T>,
    rules: &Rules,
) -> Result<Parameters<T>, DistilError> {
    check(counts, previous, rules)?;
    let mut next = previous.clone();
    let mut row = vec![0.0; previous.states()];
    maximise_initial(counts, rules, &mut row, ArrayViewMut1::from(&mut next.initial));
    for (state, target) in next.transition.rows_mut().into_iter().enumerate() {
        maximise_transition(counts, rules, state, &mut row, target);
    }
    let mut sums = vec![0.0; previous.states()];
    for token in 0..previous.vocabulary() as Token {
        counts.read_emission(token, &mut row);
        add_emission(rules, token, row.iter().copied(), &mut sums);
    }
    for (token, target) in next.emission.rows_mut().into_iter().enumerate() {
        maximise_emission(counts, rules, token as Token, &sums, &mut row, target);
    }
    Ok(next)
}

/// Checks that counts and rules are for a model of this size.
pub(super) fn check<T: Real>(
    counts: &impl Counts,
    previous: &Parameters<T>,
    rules: &Rules,
) -> Result<(), DistilError> {
    let (states, vocabulary) = (previous.states(), previous.vocabulary());
    for (unit, found, wanted) in
        [("states", counts.dimensions().0, states), ("tokens", counts.dimensions().1, vocabulary)]
    {
        if found != wanted {
            return Err(DistilError::Mismatch { what: "the statistics", found, wanted, unit });
        }
    }
    rules.check(states, vocabulary)
}

/// Maximises the distribution of the first state; `target` holds that of before. `row` is room for `h` numbers, here and below.
pub(super) fn maximise_initial<T: Real>(
    counts: &impl Counts,
    rules: &Rules,
    row: &mut [f64],
    target: ArrayViewMut1<'_, T>,
) {
    counts.read_initial(row);
    row.iter_mut().for_each(|count| *count += rules.pseudocount);
    normalise(row, target);
}

/// Maximises the transitions from a state; `target` holds those of before.
pub(super) fn maximise_transition<T: Real>(
    counts: &impl Counts,
    rules: &Rules,
    state: usize,
    row: &mut [f64],
    target: ArrayViewMut1<'_, T>,
) {
    if rules.end.is_some() && state + 1 == row.len() {
        target.into_iter().enumerate().for_each(|(to, cell)| *cell = indicator(to == state));
        return;
    }
    counts.read_transition(state, row);
    match &rules.successors {
        None => row.iter_mut().for_each(|count| *count += rules.pseudocount),
        Some(kept) => kept.restrict(state, rules.pseudocount, row),
    }
    normalise(row, target);
}

/// Adds the counts of a token by each state to the states' sums. The sums are of floats, so that the tokens have to come in order.
pub(super) fn add_emission(rules: &Rules, token: Token, counts: impl Iterator<Item = f64>, sums: &mut [f64]) {
    if rules.end != Some(token) {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count + rules.pseudocount);
    }
}

/// Maximises the emissions of a token by each state, given the states' sums over all tokens; `target` holds those of before.
pub(super) fn maximise_emission<T: Real>(
    counts: &impl Counts,
    rules: &Rules,
    token: Token,
    sums: &[f64],
    row: &mut [f64],
    target: ArrayViewMut1<'_, T>,
) {
    let (states, is_end) = (row.len(), rules.end == Some(token));
    counts.read_emission(token, row);
    for (state, (cell, (count, sum))) in target.into_iter().zip(row.iter().zip(sums)).enumerate() {
        if rules.end.is_some() && (state + 1 == states || is_end) {
            *cell = indicator(state + 1 == states && is_end);
        } else if *sum > 0.0 {
            *cell = T::from_f64((count + rules.pseudocount) / sum);
        }
    }
}

fn indicator<T: Real>(yes: bool) -> T {
    if yes { T::one() } else { T::zero() }
}

fn normalise<T: Real>(counts: &[f64], target: ArrayViewMut1<'_, T>) {
    let sum: f64 = counts.iter().sum();
    if sum > 0.0 {
        target.into_iter().zip(counts).for_each(|(cell, count)| *cell = T::from_f64(count / sum));
    }
}

/// Counts that are stored as parameters.
pub(super) struct Weights<'a, T>(pub(super) &'a Parameters<T>);

fn widen<'a, T: Real + 'a>(out: &mut [f64], values: impl IntoIterator<Item = &'a T>) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_f64());
}

impl<T: Real> Counts for Weights<'_, T> {
    fn dimensions(&self) -> (usize, usize) {
        (self.0.states(), self.0.vocabulary())
    }

    fn read_initial(&self, out: &mut [f64]) {
        widen(out, &self.0.initial);
    }

    fn read_transition(&self, state: usize, out: &mut [f64]) {
        widen(out, self.0.transition.row(state));
    }

    fn read_emission(&self, token: Token, out: &mut [f64]) {
        widen(out, self.0.emission.row(token as usize));
    }
}

/// For each state, the states that may follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successors {
    states: usize,
    /// The successors of each state, in rising order.
    kept: Vec<Vec<u32>>,
}

impl Successors {
    /// The `count` most likely successors of each state (at least one); of equals, the ones with the lower number.
    pub fn largest<T: Real>(transition: &Array2<T>, count: usize) -> Successors {
        let kept = transition.rows().into_iter().map(|row| {
            let mut order: Vec<u32> = (0..row.len() as u32).collect();
            let value = |state: &u32| row.get(*state as usize).map_or(0.0, |value| value.to_f64());
            order.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.cmp(b)));
            order.truncate(count.max(1));
            order.sort_unstable();
            order
        });
        Successors { states: transition.nrows(), kept: kept.collect() }
    }

    pub(super) fn from_lists(states: usize, kept: Vec<Vec<u32>>) -> Successors {
        Successors { states, kept }
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// The states that may follow one, in rising order.
    pub fn of(&self, state: usize) -> &[u32] {
        self.kept.get(state).map_or(&[], Vec::as_slice)
    }

    /// Adds to the counts of the successors and sets all others to 0.
    pub(super) fn restrict(&self, state: usize, pseudocount: f64, counts: &mut [f64]) {
        let mut kept = self.of(state).iter().peekable();
        for (to, count) in counts.iter_mut().enumerate() {
            if kept.next_if(|next| **next as usize == to).is_some() {
                *count += pseudocount;
            } else {
                *count = 0.0;
            }
        }
    }

    /// Sets all other transitions to 0 and normalises each row. A row that keeps nothing becomes uniform over its
    /// successors.
    pub(super) fn prune<T: Real>(&self, transition: &mut Array2<T>) {
        for (state, mut row) in transition.rows_mut().into_iter().enumerate() {
            let mut values: Vec<f64> = row.iter().map(|value| value.to_f64()).collect();
            self.restrict(state, 0.0, &mut values);
            if values.iter().sum::<f64>() <= 0.0 {
                self.restrict(state, 1.0, &mut values);
            }
            let sum: f64 = values.iter().sum();
            row.iter_mut().zip(values).for_each(|(cell, value)| *cell = T::from_f64(value / sum));
        }
    }
}
