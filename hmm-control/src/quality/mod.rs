//! How good a distilled model is, measured against the language model that it stands for.
//!
//! Four questions. How far is what the model foretells for the next token from what the language model does
//! ([`divergence`])? Does what the look-ahead promises come true ([`forecast`], [`reliability`])? How many candidates
//! does the certificate need ([`candidates_needed`])? And what has become of the hidden states ([`usage`],
//! [`normalisation`], [`top_tokens`], [`end_state`])?

mod forecast;
mod next_token;
mod plot;
mod rollout;
mod states;

pub use forecast::{Bin, Forecast, Reliability, forecast, reliability};
pub use next_token::{Divergence, Needed, candidates_needed, divergence};
pub use plot::{Line, likelihood_plot};
pub use rollout::{Estimate, RolloutError, RolloutLookahead, Standing};
pub use states::{EndState, Normalisation, Usage, end_state, normalisation, top_tokens, usage};

/// The value below which a share of the values lie; `sorted` rises. None where there are no values.
///
/// ```
/// assert_eq!(hmm_control::quality::quantile(&[1.0, 2.0, 3.0], 0.5), Some(2.0));
/// ```
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((share.clamp(0.0, 1.0) * last as f64).round() as usize).copied()
}
