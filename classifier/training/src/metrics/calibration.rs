//! Whether a risk is a frequency: of the texts given the risk r, a share of r should be harmful.

use super::Scored;

/// Against how many harmless texts the harmful ones are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// As many as there are.
    Found,
    /// Both sorts weigh the same in all, as the shipped models are calibrated: how many texts of a collection are
    /// harmful says nothing of the web.
    Even,
}

impl Prior {
    /// What a harmful text and a harmless one weigh.
    fn weights(self, scores: &[Scored]) -> (f64, f64) {
        let harmful = scores.iter().filter(|one| one.harmful).count();
        let weight = |count: usize| if count == 0 { 0.0 } else { scores.len() as f64 / 2.0 / count as f64 };
        match self {
            Prior::Found => (1.0, 1.0),
            Prior::Even => (weight(harmful), weight(scores.len() - harmful)),
        }
    }
}

/// The texts whose scores lie in one part of `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Where the part begins.
    pub from: f64,
    /// Where it ends; 1 itself belongs to the last bin.
    pub to: f64,
    /// How many texts.
    pub count: usize,
    /// What they weigh: their number where all texts weigh the same.
    pub weight: f64,
    /// Their mean score.
    pub predicted: f64,
    /// The share of them that is harmful.
    pub observed: f64,
}

/// The reliability curve: `[0, 1]` in equally wide bins, those without texts left out. Scores outside are cut to
/// the ends; where no bins are asked for, none come.
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
        // A NaN cannot be cut; it is flagged everywhere else, so it counts as 1.
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

/// The expected calibration error: how far the bins of the reliability curve are off, by their weight (Naeini, Cooper
/// and Hauskrecht 2015). 0 for no texts.
pub fn expected_calibration_error(scores: &[Scored], bins: usize, prior: Prior) -> f64 {
    let curve = reliability_curve(scores, bins, prior);
    let whole: f64 = curve.iter().map(|bin| bin.weight).sum();
    let off = |bin: &Bin| bin.weight / whole * (bin.predicted - bin.observed).abs();
    curve.iter().map(off).sum()
}

/// The mean squared distance of scores from the truth (Brier 1950); 0 is best, 0.25 is a coin's. `None` for no
/// texts.
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
