//! Logistic regression by AdaGrad (Duchi, Hazan, Singer 2011), one window at a time.

use classifier::Features;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::FitOptions;
use super::windows::Windows;

/// A model before its weights are small integers.
pub struct Fitted {
    /// One for each bucket.
    pub weights: Vec<f32>,
    /// The log odds of a window without features.
    pub bias: f32,
}

impl Fitted {
    /// The log odds of a window.
    pub(super) fn score(&self, buckets: &[u32], dilution: f32) -> f32 {
        let sum: f32 = buckets.iter().filter_map(|bucket| self.weights.get(*bucket as usize)).sum();
        self.bias + sum * length(buckets, dilution)
    }
}

/// What a feature counts in a window: less in longer ones, as where the model is used.
fn length(buckets: &[u32], dilution: f32) -> f32 {
    let length = (buckets.len() as f32 + dilution).max(1.0);
    1.0 / (length.sqrt() * length.sqrt().sqrt())
}

/// Fits weights to windows. The order is drawn from the seed; one thread; the result is the same every time.
pub fn fit(windows: &Windows, features: &Features, options: &FitOptions) -> Fitted {
    let mut fitted = Fitted { weights: vec![0.0; features.buckets()], bias: 0.0 };
    let mut squares = vec![1e-3_f32; features.buckets()];
    let mut bias_square = 1e-3_f32;
    let mut order: Vec<usize> = (0..windows.len()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    for epoch in 0..options.epochs {
        order.shuffle(&mut random);
        // Smaller steps in the end take the noise of the last windows out.
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
