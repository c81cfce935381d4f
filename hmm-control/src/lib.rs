//! Soft constraints on what a language model writes.
//!
//! A small hidden Markov model ([`Hmm`]), distilled from the language model's own text, answers at every decode
//! step a question that the language model cannot: how likely is it that the text *will* have an attribute, over all
//! its continuations? The answer is exact for the hidden Markov model, and is added to the logits.
//!
//! The library does no I/O (but for the feature `map`), reads no clock, and keeps no state outside its values.
//! Randomness is an argument.

mod attribute; // weighted automata over tokens
mod control; // the controller of logits, sampling, the gates of clauses
pub mod distil;
mod kernel; // products of matrices with vectors, with vector instructions
mod language_model; // the trait of language models
mod lookahead; // exact inference over all continuations
mod model; // the hidden Markov model, filtering, model files
pub mod monitor;
pub mod particles;
pub mod prior;
pub mod quality;

pub use attribute::{Attribute, AttributeBuilder, AttributeError, Edge};
pub use control::{
    CalibrationError, Certificate, ClauseGate, ClausePolicy, ControlError, Controller, Coverage, Decoding,
    Ended, GenerateError, Generated, Grammar, Horizon, MaskWords, Next, Place, RateMeter, Rewrite, Sampler,
    Scored, Scorer, StreamGate, TextRate, Threshold, Verdict, strengthened,
};
pub use kernel::Storage;
pub use language_model::{Lane, LanguageModel, Token};
pub use lookahead::{Completion, Constraint, Lookahead, Progress, Request};
pub use model::{
    Belief, FileError, Form, Hmm, ImportOptions, ImportReport, Matrix, ModelError, ModelFile, Precision,
    Renormalised, SharedBytes,
};
#[cfg(feature = "map")]
pub use model::{MapError, map_file};
pub use quality::{RolloutError, RolloutEstimate, RolloutLookahead, Standing};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
