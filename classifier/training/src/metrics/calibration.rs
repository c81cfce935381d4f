//! Whether a risk is a frequency: of the texts given the risk r, a share of r should be harmful.

use super::Scored;

/// The texts whose scores lie in one part of `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Where the part begins and ends.
    pub from: f64,
    /// Where it ends; 1 itself belongs to the last bin.
    pub to: f64,
    /// How many texts.
    pub count: usize,
    /// Their mean score.
    pub predicted: f64,
    /// The share of them that is harmful.
    pub observed: f64,
}

/// The reliability curve: `[0, 1]` in equally wide bins, those without texts left out. Scores outside are cut to
/// the ends; no bins were asked for, none come.
pub fn reliability_curve(scores: &[Scored], bins: usize) -> Vec<Bin> {
    let mut sums = vec![(0_usize, 0.0_f64, 0_usize); bins];
    for one in scores {
        // A NaN cannot be cut; it is flagged everywhere else, so it counts as 1.
        let score = if one.score.is_nan() { 1.0 } else { one.score.clamp(0.0, 1.0) };
        let place = ((score * bins as f64) as usize).min(bins.saturating_sub(1));
        if let Some((count, sum, harmful)) = sums.get_mut(place) {
            *count += 1;
            *sum += score;
            *harmful += usize::from(one.harmful);
        }
    }
    let width = |place: usize| place as f64 / bins as f64;
    sums.into_iter()
        .enumerate()
        .filter(|(_, (count, _, _))| *count > 0)
        .map(|(place, (count, sum, harmful))| Bin {
            from: width(place),
            to: width(place + 1),
            count,
            predicted: sum / count as f64,
            observed: harmful as f64 / count as f64,
        })
        .collect()
}

/// The expected calibration error: how far the bins of the reliability curve are off, weighted by their texts
/// (Naeini, Cooper and Hauskrecht 2015). 0 for no texts.
pub fn expected_calibration_error(scores: &[Scored], bins: usize) -> f64 {
    let off =
        |bin: &Bin| bin.count as f64 / scores.len().max(1) as f64 * (bin.predicted - bin.observed).abs();
    reliability_curve(scores, bins).iter().map(off).sum()
}

/// The mean squared distance of scores from the truth (Brier 1950); 0 is best, 0.25 is a coin's. `None` for no
/// texts.
pub fn brier_score(scores: &[Scored]) -> Option<f64> {
    let squares = scores.iter().map(|one| (one.score - f64::from(u8::from(one.harmful))).powi(2));
    (!scores.is_empty()).then(|| squares.sum::<f64>() / scores.len() as f64)
}
