//! Following one document, and the probabilities of its next windows.

use super::error::MonitorError;
use super::model::Monitor;
use super::parameters::Parameters;
use classifier::Risk;
use ndarray::{Array1, Array2, Axis};

/// The filter over one document, from its first window to the present one.
///
/// A watch belongs to one document of one origin: start a new one for each, so that the evidence of one does not count for
/// another. A clone is a fork; returning to an earlier clone is a rewind. 16 bytes per state.
#[derive(Debug, Clone)]
pub struct Watch {
    monitor: Monitor,
    /// The distribution of the next window's state.
    predicted: Vec<f64>,
    /// The distribution of the present window's state; empty before the first.
    posterior: Vec<f64>,
    windows: usize,
}

impl Monitor {
    /// The start of a document.
    pub fn watch(&self) -> Watch {
        Watch::start(self.clone())
    }
}

impl Watch {
    fn start(monitor: Monitor) -> Watch {
        let predicted = monitor.initial().to_vec();
        Watch { monitor, predicted, posterior: Vec::new(), windows: 0 }
    }

    /// The monitor.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Observes a window's scores, one entry per detector, and returns the tempered `log p(scores' bins | windows before)`.
    /// A window without any score still counts: the belief takes one transition.
    ///
    /// # Errors
    /// When there is not one entry per detector; the watch is then unchanged.
    pub fn observe(&mut self, scores: &[Option<Risk>]) -> Result<f64, MonitorError> {
        let (found, wanted) = (scores.len(), self.monitor.detectors().len());
        if found != wanted {
            return Err(MonitorError::Scores { document: 0, window: self.windows, found, wanted });
        }
        let bins = self.monitor.code(scores);
        self.posterior.clone_from(&self.predicted);
        let log_evidence = self.monitor.parameters().update(&mut self.posterior, &bins);
        self.predicted = self.monitor.parameters().advance(&self.posterior);
        self.windows += 1;
        Ok(log_evidence)
    }

    /// The number of observed windows.
    pub fn windows(&self) -> usize {
        self.windows
    }

    /// `p(state of the present window | windows so far)`, by the state's number; none before the first window.
    pub fn posterior(&self) -> Option<&[f64]> {
        (self.windows > 0).then_some(&self.posterior)
    }

    /// `p(state of the next window | windows so far)`; sums to 1.
    pub fn predicted(&self) -> &[f64] {
        &self.predicted
    }

    /// The present window's most probable state, the first of equals; none before the first window.
    pub fn most_likely(&self) -> Option<usize> {
        let first_largest = |best: (usize, f64), (state, p): (usize, &f64)| match *p > best.1 {
            true => (state, *p),
            false => best,
        };
        self.posterior().map(|posterior| posterior.iter().enumerate().fold((0, -1.0), first_largest).0)
    }

    /// The probability that the present window is appropriate; none before the first window.
    pub fn present(&self) -> Option<f64> {
        self.posterior().map(|posterior| {
            let good = posterior.iter().enumerate().filter(|(state, _)| self.monitor.is_appropriate(*state));
            good.map(|(_, p)| p).sum::<f64>().min(1.0)
        })
    }

    /// The expected attribute probability: that each of the next `k` windows is in an appropriate state. It falls
    /// as `k` rises, and 0 windows are always appropriate.
    ///
    /// Closed form: the next window's distribution, times the transition matrix with the columns of the other states set to
    /// 0, to the power `k - 1`. Costs `states^3 log k`; more than 2^24 windows count as that many.
    pub fn expectation(&self, k: usize) -> f64 {
        stay(self.monitor.parameters(), &self.predicted, &self.appropriate(), k)
    }

    /// The probability that the present window and each of the next `k` are in appropriate states; none before the
    /// first window. At most [`Watch::present`].
    pub fn conforming(&self, k: usize) -> Option<f64> {
        let good = self.appropriate();
        let onward = onward(self.monitor.parameters(), &good, k);
        let joint = |posterior: &[f64]| -> f64 {
            let terms = posterior.iter().zip(&onward).zip(&good).filter(|(_, good)| **good);
            terms.map(|((p, stay), _)| p * stay).sum()
        };
        self.present().zip(self.posterior()).map(|(present, posterior)| joint(posterior).min(present))
    }

    /// The probability that each of the next `k` windows is in one of the states named by number.
    pub fn staying(&self, states: &[usize], k: usize) -> f64 {
        stay(self.monitor.parameters(), &self.predicted, &self.among(states), k)
    }

    /// The probability that none of the next `k` windows is in one of the states named by number.
    pub fn avoiding(&self, states: &[usize], k: usize) -> f64 {
        stay(self.monitor.parameters(), &self.predicted, &self.others(states), k)
    }

    /// The probability that no future window is ever in one of the states named by number: the limit of
    /// [`Watch::avoiding`].
    ///
    /// It is above 0 only where the model has states that never lead there. An estimated monitor has none, since smoothing
    /// makes every transition possible; use [`Watch::rate`] for it.
    pub fn never(&self, states: &[usize]) -> f64 {
        forever(self.monitor.parameters(), &self.predicted, &self.others(states))
    }

    /// [`Watch::expectation`] as a rate per window, its `k`-th root: comparable between horizons, as a threshold
    /// requires. 1 for no windows.
    pub fn rate(&self, k: usize) -> f64 {
        if k == 0 { 1.0 } else { self.expectation(k).powf(1.0 / k as f64) }
    }

    fn appropriate(&self) -> Vec<bool> {
        (0..self.predicted.len()).map(|state| self.monitor.is_appropriate(state)).collect()
    }

    fn among(&self, states: &[usize]) -> Vec<bool> {
        (0..self.predicted.len()).map(|state| states.contains(&state)).collect()
    }

    fn others(&self, states: &[usize]) -> Vec<bool> {
        (0..self.predicted.len()).map(|state| !states.contains(&state)).collect()
    }
}

/// Enough doublings for any probability of leaving that a float near 1 can represent.
const ROUNDS: usize = 128;

/// No document is longer, and beyond it the rounding of the rows would accumulate.
const LONGEST: usize = 1 << 24;

/// `v[z]`: the probability that the `k` windows after one in state `z` all stay.
fn onward(parameters: &Parameters, stay: &[bool], k: usize) -> Array1<f64> {
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
fn stay(parameters: &Parameters, next: &[f64], stay: &[bool], k: usize) -> f64 {
    let Some(later) = k.checked_sub(1) else { return 1.0 };
    weigh(next, stay, &onward(parameters, stay, later))
}

/// The limit of [`stay`] as `k` grows.
fn forever(parameters: &Parameters, next: &[f64], stay: &[bool]) -> f64 {
    weigh(next, stay, &never_leaving(parameters, stay))
}

fn weigh(next: &[f64], stay: &[bool], vector: &Array1<f64>) -> f64 {
    let terms = next.iter().zip(vector).zip(stay).filter(|(_, stay)| **stay);
    terms.map(|((p, v), _)| p * v).sum::<f64>().min(1.0)
}

/// `A D`: the transition matrix with the columns of the other states set to 0.
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
/// A state that cannot leave has value 1. From the others the chain is absorbed with probability 1, either in such a state
/// or outside, so that `v = A D v` has one solution with those values fixed.
fn never_leaving(parameters: &Parameters, stay: &[bool]) -> Array1<f64> {
    let matrix = restricted(parameters, stay);
    let states = stay.len();
    // A state may leave in one step, or by a step to one that may. The test uses the entries that leave, since a row's sum
    // is rounded and a zero entry is not.
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
    // not. The sum is the product of 1 + S, 1 + S^2, 1 + S^4 and so on. It needs no subtraction, so that small values
    // keep their precision, and each round doubles the terms.
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
