//! The ranking of harmful texts above harmless ones, and the effect of a threshold.

use super::{Scored, descending, share};

/// A point of the ROC curve: the texts at or above the threshold are flagged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// The least score that is flagged.
    pub threshold: f64,
    /// The share of the harmless texts that is flagged.
    pub false_positive_rate: f64,
    /// The share of the harmful texts that is flagged.
    pub recall: f64,
}

/// Returns the ROC curve, from nothing flagged to everything flagged, with one point for each distinct score. The
/// first point has an infinite threshold.
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

/// Returns the area under the ROC curve: the probability that a harmful text scores above a harmless one, a tie
/// counting one half (Mann and Whitney 1947; Hanley and McNeil 1982). It is `None` without texts of both sorts.
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
    // This is twice the number of ordered pairs, so that ties stay whole numbers.
    let (mut above, mut twice) = (0_u128, 0_u128);
    for level in descending(scores).chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let hits = level.iter().filter(|one| one.harmful).count() as u128;
        let misses = level.len() as u128 - hits;
        twice += misses * (2 * above + hits);
        above += hits;
    }
    Some(twice as f64 / 2.0 / (harmful as f64 * harmless as f64))
}

/// The numbers of texts of each sort that are flagged and not flagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confusion {
    /// Harmful, flagged.
    pub caught: usize,
    /// Harmful, let through.
    pub missed: usize,
    /// Harmless, flagged.
    pub wrong: usize,
    /// Harmless, let through.
    pub passed: usize,
}

impl Confusion {
    /// The share of the harmful texts that is flagged; 0 if there are none.
    pub fn recall(&self) -> f64 {
        share(self.caught, self.caught + self.missed)
    }

    /// The share of the flagged texts that is harmful; 0 if none is flagged.
    pub fn precision(&self) -> f64 {
        share(self.caught, self.caught + self.wrong)
    }

    /// The share of the harmless texts that is flagged; 0 if there are none.
    pub fn false_positive_rate(&self) -> f64 {
        share(self.wrong, self.wrong + self.passed)
    }

    /// The harmonic mean of precision and recall; 0 if nothing harmful is flagged.
    pub fn f1(&self) -> f64 {
        share(2 * self.caught, 2 * self.caught + self.missed + self.wrong)
    }
}

/// Returns the counts if every score at or above a threshold is flagged.
pub fn confusion(scores: &[Scored], threshold: f64) -> Confusion {
    let mut counted = Confusion::default();
    for one in scores {
        let counter = match (one.harmful, one.score.total_cmp(&threshold).is_ge()) {
            (true, true) => &mut counted.caught,
            (true, false) => &mut counted.missed,
            (false, true) => &mut counted.wrong,
            (false, false) => &mut counted.passed,
        };
        *counter += 1;
    }
    counted
}

/// A threshold with its effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operating {
    /// The least score that is flagged; infinite if none may be.
    pub threshold: f64,
    /// The counts at this threshold.
    pub confusion: Confusion,
}

/// Returns the lowest threshold, among the scores, at which at most a share of the harmless texts is flagged.
///
/// A threshold that is chosen and measured on the same texts looks slightly too good; for use, choose it on one split
/// and judge it, with [`confusion`], on another.
///
/// ```
/// use classifier_training::metrics::{Scored, operating_at};
///
/// let scores = [Scored::harmful(0.9), Scored::harmful(0.4), Scored::harmless(0.4), Scored::harmless(0.1)];
/// let point = operating_at(&scores, 0.01);
/// assert_eq!((point.threshold, point.confusion.recall()), (0.9, 0.5));
/// ```
pub fn operating_at(scores: &[Scored], false_positive_rate: f64) -> Operating {
    let harmful = scores.iter().filter(|one| one.harmful).count();
    let harmless = scores.len() - harmful;
    let (mut caught, mut wrong) = (0, 0);
    let mut best = Operating {
        threshold: f64::INFINITY,
        confusion: Confusion { missed: harmful, passed: harmless, ..Confusion::default() },
    };
    for level in descending(scores).chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        let hits = level.iter().filter(|one| one.harmful).count();
        caught += hits;
        wrong += level.len() - hits;
        if share(wrong, harmless) > false_positive_rate {
            break;
        }
        best.threshold = level.first().map_or(best.threshold, |one| one.score);
        best.confusion = Confusion { caught, missed: harmful - caught, wrong, passed: harmless - wrong };
    }
    best
}
