//! Measures of the scores of a model against the truth.
//!
//! | module | subject |
//! |---|---|
//! | `ranking` | the ROC curve and the area under it; thresholds: recall at a false-positive rate, F1 |
//! | `calibration` | reliability curve, calibration error, Brier score |
//! | `conformal` | thresholds whose false-positive rate is bounded for exchangeable pages |
//! | `interval` | intervals of numbers: Wilson, bootstrap |

mod calibration;
mod conformal;
mod interval;
mod ranking;

pub use calibration::{Bin, Prior, brier_score, expected_calibration_error, reliability_curve};
pub use conformal::conformal_threshold;
pub use interval::{Interval, bootstrap, wilson};
pub use ranking::{Confusion, Operating, RocPoint, confusion, operating_at, roc_auc, roc_curve};

/// A score of a model, with the truth.
///
/// Scores are ordered by [`f64::total_cmp`], so that NaN has a position too (beyond infinity: it is flagged).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Higher is more harmful. For the measures of calibration it is a probability.
    pub score: f64,
    /// True if the text is harmful.
    pub harmful: bool,
}

impl Scored {
    /// A score of a harmful text.
    pub const fn harmful(score: f64) -> Scored {
        Scored { score, harmful: true }
    }

    /// A score of a harmless text.
    pub const fn harmless(score: f64) -> Scored {
        Scored { score, harmful: false }
    }
}

/// Returns the scores, highest first.
fn descending(scores: &[Scored]) -> Vec<Scored> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.score.total_cmp(&a.score));
    sorted
}

/// Returns the share of a count in a whole; 0 if the whole is 0.
fn share(count: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { count as f64 / whole as f64 }
}
