//! Fits the weights of token attributes, for the look-ahead.
//!
//! | module | subject |
//! |---|---|
//! | `fit` | [`fit()`]: fits sparse weights to tokenised texts, with the probability that each keeps the attribute |
//! | `shipped` | [`Shipped`]: the three attributes that come with the project, and their training |
//! | `sources` | reads those texts |
//! | `secrets` | sentences that ask for a secret or state one, and harmless ones with the same words |

mod fit;
mod secrets;
mod shipped;
mod sources;

pub use fit::{Example, Fit, FitError, FitOptions, FitReport, fit, sharpened};
pub use shipped::{Shipped, TrainError, Trained, TrainingReport};
pub use sources::{DataError, Labelled};
