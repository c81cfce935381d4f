//! The next windows, in closed form.
//!
//! With `A` the transition matrix and `D` the diagonal matrix with 1 for the states to stay in, the probability that
//! the next `k` windows all stay there is `p (A D)^k 1` from a present distribution `p`. The power is taken by
//! repeated squaring. No scale is carried: every entry is a probability, and one that underflows is 0 to any policy.

use super::parameters::Parameters;
use ndarray::{Array1, Array2, Axis};

/// Enough doublings for any chance of leaving that a float next to 1 can show.
const ROUNDS: usize = 128;

/// No document is longer, and beyond it the rounding of rows that sum to 1 only nearly would show.
const LONGEST: usize = 1 << 24;

/// `v[z]`: the probability that the `k` windows after one in state `z` all stay.
pub(super) fn onward(parameters: &Parameters, stay: &[bool], k: usize) -> Array1<f64> {
    let mut power = restricted(parameters, stay);
    let mut vector = Array1::ones(stay.len());
    let mut rest = k.min(LONGEST);
    // All powers of one matrix commute, so that their order does not matter.
    while rest > 0 {
        if rest % 2 == 1 {
            vector = power.dot(&vector);
        }
        rest /= 2;
        if rest > 0 {
            power = power.dot(&power);
        }
    }
    vector
}

/// The probability that the next `k` windows all stay, from the distribution of the next window.
pub(super) fn stay(parameters: &Parameters, next: &[f64], stay: &[bool], k: usize) -> f64 {
    let Some(later) = k.checked_sub(1) else { return 1.0 };
    weigh(next, stay, &onward(parameters, stay, later))
}

/// The limit of [`stay`] as `k` grows.
pub(super) fn forever(parameters: &Parameters, next: &[f64], stay: &[bool]) -> f64 {
    weigh(next, stay, &never_leaving(parameters, stay))
}

fn weigh(next: &[f64], stay: &[bool], vector: &Array1<f64>) -> f64 {
    let terms = next.iter().zip(vector).zip(stay).filter(|(_, stay)| **stay);
    terms.map(|((p, v), _)| p * v).sum::<f64>().min(1.0)
}

/// `A D`: the columns of the other states are struck out.
fn restricted(parameters: &Parameters, stay: &[bool]) -> Array2<f64> {
    let mut matrix = parameters.transition.clone();
    for (mut column, stay) in matrix.columns_mut().into_iter().zip(stay) {
        if !stay {
            column.fill(0.0);
        }
    }
    matrix
}

/// `v[z]`: the probability that the windows after one in state `z` never leave, however many there are.
///
/// A state from which leaving cannot be reached counts 1. From the others the chain ends, with probability 1, either
/// there or outside, so `v = A D v` has one solution with those values held.
fn never_leaving(parameters: &Parameters, stay: &[bool]) -> Array1<f64> {
    let matrix = restricted(parameters, stay);
    let states = stay.len();
    // Which states may leave: in one step, or by a step to one that may. Asked of what leaves, not of what stays:
    // a row's sum is rounded, a struck-out entry is not.
    let mut may_leave: Vec<bool> = parameters
        .transition
        .rows()
        .into_iter()
        .map(|row| row.iter().zip(stay).any(|(a, stay)| !stay && *a > 0.0))
        .collect();
    for _ in 0..states {
        may_leave = matrix
            .rows()
            .into_iter()
            .zip(&may_leave)
            .map(|(row, already)| *already || row.iter().zip(&may_leave).any(|(a, may)| *may && *a > 0.0))
            .collect();
    }
    // v_T = (1 + S + S^2 + ...) r over the states T that may leave, with S = A_TT and r what goes to those that may
    // not. The sum is the product of 1 + S, 1 + S^2, 1 + S^4 and so on: no subtraction, so that small values keep
    // their precision, and twice as many terms a round.
    let between = |pair: ((usize, usize), &f64), target: bool| {
        let ((from, to), step) = pair;
        let counts = may_leave.get(from) == Some(&true) && may_leave.get(to) == Some(&target);
        if counts { *step } else { 0.0 }
    };
    let shape = (states, states);
    let mut power: Array2<f64> = Array2::zeros(shape);
    power.iter_mut().zip(matrix.indexed_iter()).for_each(|(value, pair)| *value = between(pair, true));
    let mut safe: Array2<f64> = Array2::zeros(shape);
    safe.iter_mut().zip(matrix.indexed_iter()).for_each(|(value, pair)| *value = between(pair, false));
    let mut reached = safe.sum_axis(Axis(1));
    for _ in 0..ROUNDS {
        reached = &reached + &power.dot(&reached);
        power = power.dot(&power);
        if power.iter().all(|value| *value == 0.0) {
            break;
        }
    }
    reached.iter_mut().zip(&may_leave).filter(|(_, may)| !**may).for_each(|(value, _)| *value = 1.0);
    reached.mapv(|value| value.min(1.0))
}
