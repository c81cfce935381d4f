//! A small language model of n-grams over several corpora, in plain Rust.
//!
//! It stands in where no neural model is at hand: it is trained in seconds, its distributions are exact and cover
//! the whole vocabulary, and it has what a stand-in for a language model needs, words that depend on the words just
//! before ([`NgramModel`]) and on what the text has been about ([`TopicModel`]). It writes no good prose.
//!
//! No I/O, no clock, no global state; randomness is an argument.

mod bytes;
mod counts;
mod discount;
mod error;
mod features;
mod history;
mod ngram;
#[cfg(feature = "tokenizer")]
mod tokenizer;
mod topics;

pub use error::{BytesError, NgramError};
pub use history::{History, LONGEST};
pub use ngram::NgramModel;
#[cfg(feature = "tokenizer")]
pub use tokenizer::{Encoding, Tokenizer};
pub use topics::{Reading, Topic, TopicModel};
