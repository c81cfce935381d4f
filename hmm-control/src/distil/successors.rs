//! The transitions that a sparse model keeps.

use super::Real;
use ndarray::Array2;

/// For each state, the states that may follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successors {
    states: usize,
    /// Of each state, in rising order.
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

    /// States.
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

    /// Sets all other transitions to 0 and lets each row sum to 1 again. A row that keeps nothing is shared out
    /// evenly among its successors.
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
