//! Soft constraints on what a language model writes.
//!
//! A small hidden Markov model ([`Hmm`]), distilled from the language model's own text, answers at every decode
//! step what the language model cannot: how likely it is that the text *will* keep an attribute, over all its
//! continuations. The answer is exact for the hidden Markov model, and is added to the logits.
//!
//! The library does no I/O (but for the feature `map`), reads no clock, and keeps no state outside its values.
//! Randomness is an argument.

mod attribute;
mod batch;
mod belief;
mod chain;
mod constraint;
mod controller;
pub mod distil;
mod error;
mod file;
mod hmm;
mod kernel;
mod language_model;
mod lookahead;
#[cfg(feature = "map")]
mod map;
mod matrix;
pub mod monitor;
mod patterns;
pub mod prior;
mod products;
pub mod quality;
mod rollout;
mod strength;
mod targets;

pub use attribute::{Attribute, AttributeBuilder, Edge};
pub use batch::Request;
pub use belief::Belief;
pub use constraint::{Completion, Constraint};
pub use controller::{
    CalibrationError, Certificate, ClauseGate, ClausePolicy, ControlError, Controller, Coverage, Decoding,
    Ended, GenerateError, Generated, Grammar, Horizon, MaskWords, Next, RateMeter, Rewrite, Sampler, Scored,
    Scorer, StreamGate, TextRate, Threshold, Verdict,
};
pub use error::{AttributeError, ModelError};
pub use file::{FileError, Form, ImportOptions, ImportReport, ModelFile, Renormalised};
pub use hmm::Hmm;
pub use language_model::{Lane, LanguageModel};
pub use lookahead::{Lookahead, Progress};
#[cfg(feature = "map")]
pub use map::{MapError, map_file};
pub use matrix::{Matrix, SharedBytes, Storage};
pub use rollout::{Estimate, RolloutError, RolloutLookahead, Standing};
pub use strength::strengthened;

/// A token's number in the language model's vocabulary.
pub type Token = u32;
