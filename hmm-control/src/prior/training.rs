//! Training a head.

use super::error::PriorError;
use super::head::{Prior, check_finite};
use super::objective::{Examples, likelihoods};
use super::rollout::Rollout;
use crate::model::Scaled;
use crate::{Hmm, Token};
use ndarray::{Array1, Array2, Axis, Zip, s};
use rand::Rng;
use rand::seq::SliceRandom;

/// The training of a [`Prior`]: Adam over mini-batches, with an early stop on held-out likelihood.
///
/// The head is linear because the features are a language model's last layer, whose own head is linear too.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// The most passes over the rollouts.
    pub epochs: usize,
    /// Passes without a better held-out likelihood before the training stops.
    pub patience: usize,
    /// Rollouts per step; at least 1.
    pub batch: usize,
    /// Adam's step size; above 0. Features are standardised first, so that it does not depend on their scale.
    pub rate: f64,
    /// Weight decay; at least 0.
    pub decay: f64,
    /// Threads for the backward vectors; they affect only the time.
    pub threads: usize,
}

impl Default for Training {
    /// 100 epochs, patience 5, batches of 64, rate 0.02, decay 1e-4, one thread.
    fn default() -> Training {
        Training { epochs: 100, patience: 5, batch: 64, rate: 0.02, decay: 1e-4, threads: 1 }
    }
}

/// One pass over the rollouts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Mean `log p(continuation | features)` of the rollouts trained on, in nats.
    pub trained: f64,
    /// The same of the held-out rollouts.
    pub held_out: f64,
}

/// A trained head with the history of its training.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The head of the best epoch.
    pub prior: Prior,
    /// All epochs. The first is the start, the best constant distribution for all rollouts.
    pub epochs: Vec<Epoch>,
    /// The best epoch on the held-out rollouts; 0 where the features did not help.
    pub best: usize,
    /// Rollouts left out because their continuation is impossible under the model.
    pub impossible: usize,
}

const ROUNDS: usize = 30;

impl Training {
    /// Trains a head. The same rollouts and the same seed give the same bits.
    ///
    /// Costs one backward pass over every continuation, and `2 * states * features` multiply-adds per rollout and epoch;
    /// memory is 8 bytes per rollout and state, and per rollout and feature.
    ///
    /// # Errors
    /// When a setting is invalid, rollouts have no features, different numbers of them or one that is not finite, or either
    /// set has no possible rollout.
    pub fn fit(
        &self,
        hmm: &Hmm,
        rollouts: &[Rollout],
        held_out: &[Rollout],
        rng: &mut impl Rng,
    ) -> Result<Trained, PriorError> {
        self.check()?;
        let Some(first) = rollouts.first() else {
            return Err(PriorError::NoRollouts { part: "the training data" });
        };
        let width = first.features.len();
        for rollout in rollouts.iter().chain(held_out) {
            if rollout.features.len() != width || width == 0 {
                return Err(PriorError::Features { found: rollout.features.len(), wanted: width.max(1) });
            }
            check_finite(rollout.features.iter())?;
        }
        let mut train = self.examples(hmm, rollouts, width, "the training data")?;
        let mut check = self.examples(hmm, held_out, width, "the held-out data")?;
        let impossible = rollouts.len() + held_out.len() - train.len() - check.len();
        let scaling = Scaling::of(&train.features);
        scaling.apply(&mut train.features);
        scaling.apply(&mut check.features);

        let mut theta = Array2::zeros((hmm.states(), width + 1));
        theta.column_mut(width).assign(&train.best_constant(ROUNDS).mapv(f64::ln));
        let measure = |theta: &Array2<f64>| Epoch {
            trained: train.mean_log_likelihood(theta),
            held_out: check.mean_log_likelihood(theta),
        };
        let mut epochs = vec![measure(&theta)];
        let mut best = (0, theta.clone());
        let mut adam = Adam::new(theta.dim(), self.rate);
        let mut order: Vec<usize> = (0..train.len()).collect();
        for number in 1..=self.epochs {
            order.shuffle(rng);
            for rows in order.chunks(self.batch) {
                let mut gradient = train.select(rows).gradient(&theta);
                // The biases have no decay: a rare state needs a low bias.
                let mut weights = gradient.slice_mut(s![.., ..width]);
                weights.scaled_add(-self.decay, &theta.slice(s![.., ..width]));
                adam.climb(&mut theta, &gradient);
            }
            let epoch = measure(&theta);
            // Written so that a NaN likelihood never counts as better.
            if epochs.get(best.0).is_some_and(|best| epoch.held_out > best.held_out) {
                best = (number, theta.clone());
            }
            epochs.push(epoch);
            if number - best.0 >= self.patience.max(1) {
                break;
            }
        }
        let (best, theta) = best;
        Ok(Trained { prior: scaling.fold(&theta)?, epochs, best, impossible })
    }

    fn check(&self) -> Result<(), PriorError> {
        let setting = |setting, given, wanted| Err(PriorError::Setting { setting, given, wanted });
        if self.batch == 0 {
            return setting("the batch", 0.0, "at least 1");
        }
        if !(self.rate.is_finite() && self.rate > 0.0) {
            return setting("the rate", self.rate, "a number above 0");
        }
        if !(self.decay.is_finite() && self.decay >= 0.0) {
            return setting("the decay", self.decay, "a number of at least 0");
        }
        Ok(())
    }

    /// The possible rollouts, with a last feature of 1.
    fn examples(
        &self,
        hmm: &Hmm,
        rollouts: &[Rollout],
        width: usize,
        part: &'static str,
    ) -> Result<Examples, PriorError> {
        let continuations: Vec<&[Token]> =
            rollouts.iter().map(|rollout| rollout.continuation.as_slice()).collect();
        let likelihoods = likelihoods(hmm, &continuations, self.threads);
        let possible: Vec<(&Rollout, &Scaled)> = rollouts
            .iter()
            .zip(&likelihoods)
            .filter_map(|(rollout, likelihood)| Some((rollout, likelihood.as_ref()?)))
            .collect();
        if possible.is_empty() {
            return Err(PriorError::NoRollouts { part });
        }
        let mut features = Array2::ones((possible.len(), width + 1));
        let mut relative = Array2::zeros((possible.len(), hmm.states()));
        for (mut row, (rollout, _)) in features.rows_mut().into_iter().zip(&possible) {
            row.iter_mut().zip(&rollout.features).for_each(|(value, feature)| *value = f64::from(*feature));
        }
        for (mut row, (_, likelihood)) in relative.rows_mut().into_iter().zip(&possible) {
            row.iter_mut().zip(&likelihood.values).for_each(|(value, given)| *value = *given);
        }
        let log_scales = possible.iter().map(|(_, likelihood)| likelihood.log_scale).collect();
        Ok(Examples { features, relative, log_scales })
    }
}

/// Standardises features, and converts a head back to the original features.
struct Scaling {
    means: Array1<f64>,
    /// One over the standard deviation; 0 for a constant feature, which is then ignored.
    factors: Array1<f64>,
}

impl Scaling {
    /// The scaling of features with a last column of ones, which stays unchanged.
    fn of(features: &Array2<f64>) -> Scaling {
        let features = features.slice(s![.., ..features.ncols() - 1]);
        let count = features.nrows() as f64;
        let means = features.sum_axis(Axis(0)) / count;
        let variances = (&features - &means).mapv(|value| value * value).sum_axis(Axis(0)) / count;
        let factors =
            variances.mapv(|variance: f64| if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 });
        Scaling { means, factors }
    }

    fn apply(&self, features: &mut Array2<f64>) {
        let width = self.means.len();
        let mut features = features.slice_mut(s![.., ..width]);
        features -= &self.means;
        features *= &self.factors;
    }

    fn fold(&self, theta: &Array2<f64>) -> Result<Prior, PriorError> {
        let width = self.means.len();
        let weights = &theta.slice(s![.., ..width]) * &self.factors;
        let bias = &theta.column(width) - &weights.dot(&self.means);
        // A softmax is invariant to a common offset; near 0 the biases keep most of their precision in 32 bits.
        let largest = bias.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Prior::new(weights.mapv(|weight| weight as f32), bias.mapv(|bias| (bias - largest) as f32))
    }
}

/// Adam (Kingma and Ba 2015), with its usual decay rates 0.9 and 0.999.
struct Adam {
    rate: f64,
    first: Array2<f64>,
    second: Array2<f64>,
    /// `0.9^t` and `0.999^t`.
    powers: (f64, f64),
}

impl Adam {
    fn new(shape: (usize, usize), rate: f64) -> Adam {
        Adam { rate, first: Array2::zeros(shape), second: Array2::zeros(shape), powers: (1.0, 1.0) }
    }

    /// One step up the gradient.
    fn climb(&mut self, theta: &mut Array2<f64>, gradient: &Array2<f64>) {
        self.powers = (self.powers.0 * 0.9, self.powers.1 * 0.999);
        let (first_share, second_share) = (1.0 - self.powers.0, 1.0 - self.powers.1);
        let rate = self.rate;
        Zip::from(theta).and(&mut self.first).and(&mut self.second).and(gradient).for_each(
            |theta, first, second, gradient| {
                *first = 0.9 * *first + 0.1 * gradient;
                *second = 0.999 * *second + 0.001 * gradient * gradient;
                *theta += rate * (*first / first_share) / ((*second / second_share).sqrt() + 1e-8);
            },
        );
    }
}
