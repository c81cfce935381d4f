//! From a look-ahead to words: what is added to the logits, which clauses may be shown, what is drawn.

mod candidates;
mod ceilings;
mod clauses;
mod control;
mod error;
mod gate;
mod generate;
mod rate;
mod sampler;
mod stop;
mod stream;
mod threshold;
mod utf8;

pub use candidates::{Certificate, Coverage};
pub use control::{Controller, Horizon, MaskWords};
pub use error::ControlError;
pub use gate::{ClauseGate, ClausePolicy, Next, Verdict};
pub use generate::{Decoding, Ended, GenerateError, Generated, Grammar, Scored};
pub use rate::RateMeter;
pub use sampler::Sampler;
pub use stream::{Rewrite, Scorer, StreamGate, TextRate};
pub use threshold::{CalibrationError, Threshold};
