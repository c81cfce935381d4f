//! How well scores put harmful texts above harmless ones.

use super::{Scored, descending, share};

/// A point of the ROC curve: what is flagged where everything at or above the threshold is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// The least score that is flagged.
    pub threshold: f64,
    /// The share of the harmless texts that is flagged.
    pub false_positive_rate: f64,
    /// The share of the harmful texts that is flagged.
    pub recall: f64,
}

/// The ROC curve, from nothing flagged to everything flagged, one point for each distinct score. The first point
/// has an infinite threshold.
pub fn roc_curve(scores: &[Scored]) -> Vec<RocPoint> {
    let harmful = scores.iter().filter(|one| one.harmful).count();
    let harmless = scores.len() - harmful;
    let mut curve = vec![RocPoint { threshold: f64::INFINITY, false_positive_rate: 0.0, recall: 0.0 }];
    let (mut caught, mut wrong) = (0, 0);
    for level in descending(scores).chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let hits = level.iter().filter(|one| one.harmful).count();
        caught += hits;
        wrong += level.len() - hits;
        curve.push(RocPoint {
            threshold: level.first().map_or(f64::INFINITY, |one| one.score),
            false_positive_rate: share(wrong, harmless),
            recall: share(caught, harmful),
        });
    }
    curve
}

/// The area under the ROC curve: how likely a harmful text scores above a harmless one, a tie counting one half
/// (Mann and Whitney 1947; Hanley and McNeil 1982). `None` where there are not texts of both sorts.
///
/// ```
/// use classifier_training::metrics::{Scored, roc_auc};
///
/// let scores = [Scored::harmful(0.9), Scored::harmful(0.4), Scored::harmless(0.4), Scored::harmless(0.1)];
/// assert_eq!(roc_auc(&scores), Some(0.875));
/// ```
pub fn roc_auc(scores: &[Scored]) -> Option<f64> {
    let harmful = scores.iter().filter(|one| one.harmful).count();
    let harmless = scores.len() - harmful;
    if harmful == 0 || harmless == 0 {
        return None;
    }
    // Twice the number of ordered pairs, so that ties stay whole numbers.
    let (mut above, mut twice) = (0_u128, 0_u128);
    for level in descending(scores).chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let hits = level.iter().filter(|one| one.harmful).count() as u128;
        let misses = level.len() as u128 - hits;
        twice += misses * (2 * above + hits);
        above += hits;
    }
    Some(twice as f64 / 2.0 / (harmful as f64 * harmless as f64))
}
