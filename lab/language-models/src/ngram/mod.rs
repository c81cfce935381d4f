//! A language model of n-grams over several corpora.
//!
//! It is used where no neural model is available: it is trained in seconds, its distributions are exact and cover
//! the whole vocabulary, and its words depend both on the words just before ([`NgramModel`]) and on the topic of the
//! text so far ([`TopicModel`]). It writes no good prose.

mod bytes;
mod counts;
mod error;
mod model;
mod topics;

pub use counts::{History, LONGEST};
pub use error::{BytesError, NgramError};
pub use model::NgramModel;
pub use topics::{Topic, TopicModel, TopicState};
