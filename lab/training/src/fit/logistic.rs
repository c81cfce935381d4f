//! Logistic regression with AdaGrad (Duchi, Hazan, Singer 2011), one window at a time, and the rounding of its weights
//! to small integers.

use super::FitOptions;
use super::windows::Windows;
use classifier::Features;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A model before its weights are rounded.
pub struct Fitted {
    /// The weights, one for each bucket.
    pub weights: Vec<f32>,
    /// The log odds of a window without features.
    pub bias: f32,
}

impl Fitted {
    /// Returns the log odds of a window.
    pub(super) fn score(&self, buckets: &[u32], dilution: f32) -> f32 {
        let sum: f32 = buckets.iter().filter_map(|bucket| self.weights.get(*bucket as usize)).sum();
        self.bias + sum * length(buckets, dilution)
    }
}

/// Returns the factor of a feature in a window; it is smaller in longer windows, as when the model is used.
fn length(buckets: &[u32], dilution: f32) -> f32 {
    let length = (buckets.len() as f32 + dilution).max(1.0);
    1.0 / (length.sqrt() * length.sqrt().sqrt())
}

/// Fits weights to windows, in an order drawn from the seed and on one thread, so that the result is reproducible.
pub fn fit(windows: &Windows, features: &Features, options: &FitOptions) -> Fitted {
    let mut fitted = Fitted { weights: vec![0.0; features.buckets()], bias: 0.0 };
    let mut squares = vec![1e-3_f32; features.buckets()];
    let mut bias_square = 1e-3_f32;
    let mut order: Vec<usize> = (0..windows.len()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    for epoch in 0..options.epochs {
        order.shuffle(&mut random);
        // Smaller steps at the end reduce the noise of the last windows.
        let step = options.step * (1.0 - 0.9 * epoch as f32 / options.epochs as f32);
        for (buckets, harmful, weight) in order.iter().filter_map(|at| windows.row(*at)) {
            let risk = 1.0 / (1.0 + (-fitted.score(buckets, options.dilution)).exp());
            let slope = weight * (risk - f32::from(u8::from(harmful)));
            bias_square += slope * slope;
            fitted.bias -= step * slope / bias_square.sqrt();
            let slope = slope * length(buckets, options.dilution);
            for bucket in buckets {
                let at = *bucket as usize;
                let (Some(value), Some(square)) = (fitted.weights.get_mut(at), squares.get_mut(at)) else {
                    continue;
                };
                let slope = slope + options.l2 * *value;
                *square += slope * slope;
                *value -= step * slope / square.sqrt();
            }
        }
    }
    fitted
}

/// Returns the weights as multiples of one scale. Of a few scales it takes the one with the smallest squared error;
/// weights beyond 127 steps are clamped.
pub fn quantise(weights: &[f32]) -> (Box<[i8]>, f32) {
    let largest = weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
    if largest == 0.0 {
        return (vec![0; weights.len()].into(), 1.0);
    }
    let round = |weight: f32, scale: f32| (weight / scale).round().clamp(-127.0, 127.0);
    let loss = |scale: f32| -> f64 {
        weights.iter().map(|weight| f64::from(weight - round(*weight, scale) * scale).powi(2)).sum()
    };
    let scales = (0..12).map(|step| largest / 127.0 * 0.8_f32.powi(step));
    let scale = scales
        .map(|scale| (loss(scale), scale))
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map_or(largest / 127.0, |(_, scale)| scale);
    (weights.iter().map(|weight| round(*weight, scale) as i8).collect(), scale)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn no_weight_moves_by_more_than_half_a_step_unless_it_is_cut() {
        let weights: Vec<f32> = (0..1000).map(|k| ((k * 37 % 1000) as f32 / 500.0 - 1.0).powi(3)).collect();
        let (small, scale) = quantise(&weights);
        for (weight, small) in weights.iter().zip(&small) {
            let back = f32::from(*small) * scale;
            assert!((weight - back).abs() <= scale * 0.501 || small.abs() == 127, "{weight} {back}");
        }
        assert_eq!(quantise(&[0.0; 4]).0[..], [0; 4]);
    }
}
