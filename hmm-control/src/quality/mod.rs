//! The quality of a distilled model, measured against its language model.
//!
//! There are four measures: the divergence of the next-token distributions ([`divergence`]), the reliability of the
//! look-ahead's forecasts ([`forecast`], [`reliability`], and [`RolloutLookahead`], which samples the language model),
//! the number of candidates that the certificate needs ([`candidates_needed`]), and the state of the hidden states
//! ([`usage`], [`normalisation`], [`top_tokens`], [`end_state`]).

mod forecast;
mod next_token;
#[cfg(feature = "plot")]
mod plot;
mod rollout;
mod states;

pub use forecast::{Bin, Forecast, Reliability, forecast, reliability};
pub use next_token::{Divergence, Needed, candidates_needed, divergence};
#[cfg(feature = "plot")]
pub use plot::{Line, likelihood_plot};
pub use rollout::{RolloutError, RolloutEstimate, RolloutLookahead, Standing};
pub use states::{EndState, Normalisation, Usage, end_state, normalisation, top_tokens, usage};

/// The quantile of rising values; none where there are no values.
///
/// ```
/// assert_eq!(hmm_control::quality::quantile(&[1.0, 2.0, 3.0], 0.5), Some(2.0));
/// ```
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((share.clamp(0.0, 1.0) * last as f64).round() as usize).copied()
}
