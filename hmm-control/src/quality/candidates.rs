//! How many tokens have to be scored.

use super::log_softmax;
use crate::{Lookahead, Progress};

/// How many tokens suffice for one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// So many, that the certificate vouches for them: it knows the scores of these and a bound for the others.
    pub certified: usize,
    /// So many would do if all scores were known. The difference is what the bound's looseness costs.
    pub enough: usize,
}

/// The smallest numbers of candidates that leave out at most the share `at_most` of the controlled distribution
/// `p(v) phi(v) / sum`, at temperature 1 and strength 1. Candidates are taken by the most that they could count for,
/// `p(v) bound(v)`, as a decode step would take them. Scores the whole vocabulary.
///
/// Where nothing may follow, none is needed.
pub fn candidates_needed(
    lookahead: &Lookahead,
    progress: &Progress,
    remaining: usize,
    logits: &[f32],
    at_most: f64,
) -> Needed {
    let mut log_phi = vec![f64::NEG_INFINITY; logits.len()];
    lookahead.score_all(progress, remaining, &mut log_phi);
    let tokens = log_softmax(logits).into_iter().zip(log_phi).zip(0..);
    // Most a token could count for, and what it does.
    let mut masses: Vec<(f64, f64)> = tokens
        .map(|((log_p, log_phi), token)| {
            let most = log_p + lookahead.bound(progress, remaining, token);
            // The score is rounded as its storage is, the bound is not.
            let mass = log_p + log_phi;
            (most.max(mass), mass)
        })
        .filter(|(most, _)| *most > f64::NEG_INFINITY)
        .collect();
    masses.sort_by(|a, b| b.0.total_cmp(&a.0));
    // One scale for all, so that small weights do not underflow together.
    let scale = masses.iter().map(|(_, mass)| *mass).fold(f64::NEG_INFINITY, f64::max);
    if scale == f64::NEG_INFINITY {
        return Needed { certified: 0, enough: 0 };
    }
    // Summed from the least up, so that a small rest is exact.
    let (mut kept, mut most_left, mut left) = (0.0, 0.0, 0.0);
    masses.iter().for_each(|(_, mass)| kept += (mass - scale).exp());
    let (mut certified, mut enough) = (None, None);
    for (number, (most, mass)) in masses.iter().enumerate().rev() {
        let mass = (mass - scale).exp();
        most_left += (most - scale).exp();
        left += mass;
        kept -= mass;
        let share = |left: f64| if left > 0.0 { left / (kept.max(0.0) + left) } else { 0.0 };
        if certified.is_none() && share(most_left) > at_most {
            certified = Some(number + 1);
        }
        if share(left) > at_most {
            enough = Some(number + 1);
            break;
        }
    }
    Needed { certified: certified.or(enough).unwrap_or(0), enough: enough.unwrap_or(0) }
}
