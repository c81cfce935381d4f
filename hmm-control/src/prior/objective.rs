//! The likelihood of continuations, which training maximises.
//!
//! With `p = softmax(theta x)` the head's distribution for features `x` and `l[z]` the probability of the continuation
//! from state `z`, the objective is the mean of `log sum_z p[z] l[z]`, the probability that the hidden Markov model
//! then gives the continuation. Its gradient with respect to the logits is `r - p`, where `r = p l / sum(p l)` is the
//! posterior of the state given the continuation.

use crate::model::{Scaled, multiply};
use crate::{Hmm, Token};
use ndarray::{Array1, Array2, Axis, Zip};

/// Features, with one row per example and a last column of ones, and the likelihoods of their continuations by state.
#[derive(Debug)]
pub(super) struct Examples {
    pub features: Array2<f64>,
    /// `p(continuation | state)` up to a factor per row; one row per example.
    pub relative: Array2<f64>,
    /// The logarithms of those factors.
    pub log_scales: Array1<f64>,
}

impl Examples {
    pub fn len(&self) -> usize {
        self.log_scales.len()
    }

    pub fn select(&self, rows: &[usize]) -> Examples {
        Examples {
            features: self.features.select(Axis(0), rows),
            relative: self.relative.select(Axis(0), rows),
            log_scales: self.log_scales.select(Axis(0), rows),
        }
    }

    /// The head's distributions, one row per example.
    fn distributions(&self, theta: &Array2<f64>) -> Array2<f64> {
        let mut logits = self.features.dot(&theta.t());
        for mut row in logits.rows_mut() {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.mapv_inplace(|logit| (logit - largest).exp());
            let sum = row.sum();
            row.mapv_inplace(|weight| weight / sum);
        }
        logits
    }

    /// Mean of `log p(continuation)`.
    pub fn mean_log_likelihood(&self, theta: &Array2<f64>) -> f64 {
        let joint = self.distributions(theta) * &self.relative;
        let logs = joint.sum_axis(Axis(1)).mapv(f64::ln) + &self.log_scales;
        logs.sum() / self.len() as f64
    }

    /// The gradient of [`Examples::mean_log_likelihood`], of the shape of `theta`.
    pub fn gradient(&self, theta: &Array2<f64>) -> Array2<f64> {
        let mut differences = self.distributions(theta);
        Zip::from(differences.rows_mut()).and(self.relative.rows()).for_each(|mut p, l| {
            let evidence = p.dot(&l);
            // An example that is impossible under the head has no posterior to learn from.
            let scale = if evidence > 0.0 { 1.0 / evidence } else { 0.0 };
            p.zip_mut_with(&l, |p, l| *p *= if scale > 0.0 { l * scale - 1.0 } else { 0.0 });
        });
        differences.t().dot(&self.features) / self.len() as f64
    }

    /// The distribution, common to all examples, that maximises the likelihood of their continuations: some rounds of
    /// expectation maximisation from the uniform distribution. A uniform pseudo-example is added, so that no state gets
    /// probability 0.
    pub fn best_constant(&self, rounds: usize) -> Array1<f64> {
        let states = self.relative.ncols() as f64;
        let mut shares = Array1::from_elem(self.relative.ncols(), 1.0 / states);
        for _ in 0..rounds {
            let mut sums = Array1::from_elem(shares.len(), 1.0 / states);
            for likelihood in self.relative.rows() {
                let joint = &shares * &likelihood;
                let evidence = joint.sum();
                if evidence > 0.0 {
                    sums += &(joint / evidence);
                }
            }
            let total = sums.sum();
            shares = sums / total;
        }
        shares
    }
}

/// `p(continuation | state of its first token)`, by state; none where it is impossible.
pub(super) fn likelihood(hmm: &Hmm, continuation: &[Token]) -> Option<Scaled> {
    let mut scaled = Scaled::new(vec![1.0; hmm.states()], 0.0);
    let mut moved = vec![1.0; hmm.states()];
    let mut emission = vec![0.0; hmm.states()];
    for (number, token) in continuation.iter().rev().enumerate() {
        // After the last token any continuation has total probability 1.
        if number > 0 {
            hmm.retreat(&scaled.values, &mut moved);
        }
        hmm.read_emission(*token, &mut emission);
        scaled = Scaled::new(multiply(&emission, &moved), scaled.log_scale);
    }
    (scaled.log_scale > f64::NEG_INFINITY).then_some(scaled)
}

/// The likelihoods of many continuations, in their order. The number of threads affects only the time.
pub(super) fn likelihoods(hmm: &Hmm, continuations: &[&[Token]], threads: usize) -> Vec<Option<Scaled>> {
    each(continuations, threads, |continuation| likelihood(hmm, continuation))
}

/// `log p(continuation)` under a distribution of the first token's state; minus infinity where it is impossible.
pub(super) fn log_probability(likelihood: &Scaled, distribution: &[f64]) -> f64 {
    multiply(&likelihood.values, distribution).iter().sum::<f64>().ln() + likelihood.log_scale
}

/// One result per item, in their order, computed on so many threads.
pub(super) fn each<I: Sync, O: Send>(items: &[I], threads: usize, work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    let mut results: Vec<Option<O>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for (results, items) in results.chunks_mut(share).zip(items.chunks(share)) {
            let work = &work;
            scope.spawn(move || {
                results.iter_mut().zip(items).for_each(|(result, item)| *result = Some(work(item)));
            });
        }
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix(rows: usize, columns: usize, low: f64, high: f64) -> impl Strategy<Value = Array2<f64>> {
        proptest::collection::vec(low..high, rows * columns)
            .prop_map(move |values| Array2::from_shape_vec((rows, columns), values).unwrap())
    }

    fn case() -> impl Strategy<Value = (Examples, Array2<f64>)> {
        (1_usize..5, 1_usize..4, 1_usize..6).prop_flat_map(|(states, width, count)| {
            let parts = (
                matrix(count, width, -2.0, 2.0),
                matrix(count, states, 0.0, 1.0),
                matrix(states, width, -2.0, 2.0),
            );
            parts.prop_map(move |(features, relative, theta)| {
                let log_scales = Array1::from_iter((0..count).map(|number| -3.0 * number as f64));
                (Examples { features, relative, log_scales }, theta)
            })
        })
    }

    proptest! {
        #[test]
        fn the_gradient_equals_finite_differences((examples, theta) in case()) {
            let gradient = examples.gradient(&theta);
            for (place, slope) in gradient.indexed_iter() {
                let step = 1e-5;
                let at = |offset: f64| {
                    let mut moved = theta.clone();
                    moved[place] += offset;
                    examples.mean_log_likelihood(&moved)
                };
                let found = (at(step) - at(-step)) / (2.0 * step);
                prop_assert!((slope - found).abs() < 1e-6, "{slope} against {found}");
            }
        }

        #[test]
        fn the_constant_is_near_the_optimum((examples, theta) in case()) {
            // Any other constant, with the same pseudo-example.
            let best = examples.best_constant(3_000);
            let states = best.len() as f64;
            let value = |shares: &Array1<f64>| {
                let logs = examples.relative.dot(shares).mapv(f64::ln);
                logs.sum() + shares.iter().map(|share| share.ln() / states).sum::<f64>()
            };
            let weights = theta.column(0).mapv(f64::exp);
            let other = &weights / weights.sum();
            prop_assert!(value(&best) >= value(&other) - 1e-6);
        }
    }
}
