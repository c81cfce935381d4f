//! The look-ahead's forecasts against the language model's continuations.

use crate::{Lookahead, Progress, Token};

/// One forecast and its outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The expected weight of the next tokens under the hidden Markov model; 0 to 1.
    pub predicted: f64,
    /// The mean weight of the language model's continuations; 0 to 1.
    pub sampled: f64,
    /// The variance of that mean, estimated from the continuations.
    pub variance: f64,
}

/// Compares, for each horizon, the expected weight of so many more tokens with the mean weight of continuations that
/// the language model draws. Each continuation serves all horizons.
///
/// `progress` is after the text, none of which is weighed ([`Lookahead::observe_prompt`]). `draw(longest)` gives one
/// continuation of that text, `longest` tokens long (after the end of a text, the end token repeats).
pub fn forecast(
    lookahead: &Lookahead,
    progress: &Progress,
    horizons: &[usize],
    continuations: usize,
    mut draw: impl FnMut(usize) -> Vec<Token>,
) -> Vec<Forecast> {
    let longest = horizons.iter().copied().max().unwrap_or(0);
    let mut sums = vec![(0.0, 0.0); horizons.len()];
    for _ in 0..continuations {
        let text = draw(longest);
        for (sum, &horizon) in sums.iter_mut().zip(horizons) {
            let weight = weight(lookahead, progress, text.iter().take(horizon));
            sum.0 += weight;
            sum.1 += weight * weight;
        }
    }
    let count = continuations as f64;
    let compared = horizons.iter().zip(sums).map(|(&horizon, (sum, squares))| {
        let mean = sum / count;
        let variance = ((squares / count - mean * mean).max(0.0)) / (count - 1.0).max(1.0);
        Forecast { predicted: lookahead.expectation(progress, horizon).exp(), sampled: mean, variance }
    });
    compared.collect()
}

fn weight<'a>(lookahead: &Lookahead, progress: &Progress, text: impl Iterator<Item = &'a Token>) -> f64 {
    let (mut state, mut sum) = (progress.state, progress.log_weight);
    for &token in text {
        let edge = lookahead.attribute().step(state, token);
        state = edge.to;
        sum += edge.log_weight;
    }
    (sum + lookahead.attribute().log_final(state)).exp()
}

/// Forecasts with about the same prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Number of forecasts.
    pub count: usize,
    /// The mean prediction.
    pub predicted: f64,
    /// The mean outcome.
    pub sampled: f64,
    /// The standard error of `sampled`, from the continuations.
    pub error: f64,
}

/// The reliability of forecasts.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// Bins by rising prediction, of nearly equal size.
    pub bins: Vec<Bin>,
    /// The expected calibration error: the mean over the bins, weighted by size, of the difference of prediction and
    /// outcome.
    pub calibration_error: f64,
    /// The mean of outcome minus prediction; above 0, the look-ahead is pessimistic.
    pub bias: f64,
    /// The root mean square difference, without the sampling variance.
    pub root_mean_square: f64,
    /// The share of the outcomes' variance that the forecasts explain, without the sampling variance: 1 is all, 0 no more
    /// than the mean does. None where the outcomes do not differ beyond chance.
    pub explained: Option<f64>,
}

/// Sums up forecasts for one horizon in at most so many bins.
pub fn reliability(forecasts: &[Forecast], bins: usize) -> Reliability {
    let mut sorted = forecasts.to_vec();
    sorted.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let count = sorted.len() as f64;
    let mean = |value: &dyn Fn(&Forecast) -> f64| sorted.iter().map(value).sum::<f64>() / count;
    let wanted = bins.clamp(1, sorted.len().max(1));
    let cut = |bin: usize| bin * sorted.len() / wanted;
    let parts = (0..wanted).filter_map(|bin| sorted.get(cut(bin)..cut(bin + 1)));
    let bins: Vec<Bin> = parts.filter(|part| !part.is_empty()).map(bin).collect();
    let apart = bins.iter().map(|bin| bin.count as f64 * (bin.predicted - bin.sampled).abs());
    let calibration_error = apart.sum::<f64>() / count;
    let chance = mean(&|one| one.variance);
    let mean_sampled = mean(&|one| one.sampled);
    let square = mean(&|one| (one.sampled - one.predicted).powi(2)) - chance;
    let spread = mean(&|one| (one.sampled - mean_sampled).powi(2)) - chance;
    Reliability {
        bins,
        calibration_error,
        bias: mean(&|one| one.sampled - one.predicted),
        root_mean_square: square.max(0.0).sqrt(),
        explained: (spread > chance * 0.1).then(|| 1.0 - square.max(0.0) / spread),
    }
}

fn bin(part: &[Forecast]) -> Bin {
    let count = part.len() as f64;
    let mean = |value: fn(&Forecast) -> f64| part.iter().map(value).sum::<f64>() / count;
    Bin {
        count: part.len(),
        predicted: mean(|one| one.predicted),
        sampled: mean(|one| one.sampled),
        error: (mean(|one| one.variance) / count).sqrt(),
    }
}
