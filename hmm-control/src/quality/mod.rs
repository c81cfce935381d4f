//! How good a distilled model is, measured against the language model that it stands for.
//!
//! Four questions. How far is what the model foretells for the next token from what the language model does
//! ([`divergence`])? Does what the look-ahead promises come true ([`forecast`], [`reliability`])? How many candidates
//! does the certificate need ([`candidates_needed`])? And what has become of the hidden states ([`usage`],
//! [`normalisation`], [`top_tokens`], [`end_state`])?

mod candidates;
mod divergence;
mod forecast;
mod plot;
mod states;
mod usage;

pub use candidates::{Needed, candidates_needed};
pub use divergence::{Divergence, divergence};
pub use forecast::{Bin, Forecast, Reliability, forecast, reliability};
pub use plot::{Line, likelihood_plot};
pub use states::{EndState, Normalisation, end_state, normalisation, top_tokens};
pub use usage::{Usage, usage};

/// The value below which a share of the values lie; `sorted` rises. None where there are no values.
///
/// ```
/// assert_eq!(hmm_control::quality::quantile(&[1.0, 2.0, 3.0], 0.5), Some(2.0));
/// ```
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((share.clamp(0.0, 1.0) * last as f64).round() as usize).copied()
}

/// Logits as log probabilities in 64 bits.
fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shifted = |logit: &f32| f64::from(*logit) - f64::from(largest);
    let sum: f64 = logits.iter().map(|logit| shifted(logit).exp()).sum();
    logits.iter().map(|logit| shifted(logit) - sum.ln()).collect()
}
