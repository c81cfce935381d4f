//! Calibration: of the texts with the risk r, a share of r should be harmful.

use super::Scored;

/// The assumed share of harmful texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// The share among the texts.
    Found,
    /// Both sorts have the same total weight, as in the calibration of the shipped models: the share of harmful texts
    /// in a collection is not that of the web.
    Even,
}

impl Prior {
    /// Returns the weights of a harmful text and of a harmless one.
    fn weights(self, scores: &[Scored]) -> (f64, f64) {
        let harmful = scores.iter().filter(|one| one.harmful).count();
        let weight = |count: usize| if count == 0 { 0.0 } else { scores.len() as f64 / 2.0 / count as f64 };
        match self {
            Prior::Found => (1.0, 1.0),
            Prior::Even => (weight(harmful), weight(scores.len() - harmful)),
        }
    }
}

/// The texts with scores in one part of `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The lower end.
    pub from: f64,
    /// The upper end; 1 itself belongs to the last bin.
    pub to: f64,
    /// The number of texts.
    pub count: usize,
    /// Their total weight: their number if all weights are 1.
    pub weight: f64,
    /// Their mean score.
    pub predicted: f64,
    /// The share of them that is harmful.
    pub observed: f64,
}

/// Returns the reliability curve: `[0, 1]` in equally wide bins, without empty ones. Scores outside are clamped; with
/// no bins the curve is empty.
pub fn reliability_curve(scores: &[Scored], bins: usize, prior: Prior) -> Vec<Bin> {
    let (bad, good) = prior.weights(scores);
    let edge = |place: usize| place as f64 / bins as f64;
    let empty = |place| Bin {
        from: edge(place),
        to: edge(place + 1),
        count: 0,
        weight: 0.0,
        predicted: 0.0,
        observed: 0.0,
    };
    let mut curve: Vec<Bin> = (0..bins).map(empty).collect();
    for one in scores {
        // NaN cannot be clamped; elsewhere it is flagged, so it counts as 1.
        let score = if one.score.is_nan() { 1.0 } else { one.score.clamp(0.0, 1.0) };
        let place = ((score * bins as f64) as usize).min(bins.saturating_sub(1));
        let weight = if one.harmful { bad } else { good };
        if let Some(bin) = curve.get_mut(place) {
            bin.count += 1;
            bin.weight += weight;
            bin.predicted += weight * score;
            bin.observed += if one.harmful { weight } else { 0.0 };
        }
    }
    curve.retain(|bin| bin.count > 0);
    for bin in &mut curve {
        bin.predicted /= bin.weight;
        bin.observed /= bin.weight;
    }
    curve
}

/// Returns the expected calibration error: the mean distance of the bins of the reliability curve from the diagonal,
/// by their weight (Naeini, Cooper and Hauskrecht 2015). It is 0 for no texts.
pub fn expected_calibration_error(scores: &[Scored], bins: usize, prior: Prior) -> f64 {
    let curve = reliability_curve(scores, bins, prior);
    let whole: f64 = curve.iter().map(|bin| bin.weight).sum();
    let off = |bin: &Bin| bin.weight / whole * (bin.predicted - bin.observed).abs();
    curve.iter().map(off).sum()
}

/// Returns the mean squared distance of scores from the truth (Brier 1950); 0 is best, and 0.25 is that of a coin
/// toss. It is `None` for no texts.
pub fn brier_score(scores: &[Scored], prior: Prior) -> Option<f64> {
    let (bad, good) = prior.weights(scores);
    let (mut sum, mut whole) = (0.0, 0.0);
    for one in scores {
        let (truth, weight) = if one.harmful { (1.0, bad) } else { (0.0, good) };
        sum += weight * (one.score - truth).powi(2);
        whole += weight;
    }
    (whole > 0.0).then(|| sum / whole)
}
