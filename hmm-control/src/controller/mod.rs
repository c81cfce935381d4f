//! From a look-ahead to words: what is added to the logits, which clauses may be shown, what is drawn.

mod clauses;
mod gate;
mod stream;
mod utf8;

pub use gate::{ClauseGate, ClausePolicy, Next, Verdict};
pub use stream::{Rewrite, Scorer, StreamGate};
