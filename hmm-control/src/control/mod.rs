//! Control of decoding: the look-ahead is added to the logits, a token is drawn, and a gate shows the clauses that pass.

mod candidates;
mod ceilings;
mod clauses;
mod controller;
mod gate;
mod generate;
mod rate;
mod sampler;
mod stop;
mod stream;

pub(crate) use controller::{allows, check};
pub(crate) use sampler::choose;

pub use candidates::{Certificate, Coverage, Place};
pub use controller::{ControlError, Controller, Horizon, MaskWords, strengthened};
pub use gate::{ClauseGate, ClausePolicy, Next, Verdict};
pub use generate::{Decoding, Ended, GenerateError, Generated, Grammar, Scored};
pub use rate::{CalibrationError, RateMeter, Threshold};
pub use sampler::Sampler;
pub use stream::{Rewrite, Scorer, StreamGate, TextRate};
