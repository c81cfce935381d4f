//! What can be wrong with what a distillation is given.

use crate::{ModelError, Token};

/// Why a distillation cannot start or go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DistilError {
    /// A token outside the vocabulary.
    #[error(
        "sequence {sequence}, place {place}: token {token} is outside the vocabulary of {vocabulary} tokens"
    )]
    Token {
        /// The sequence, counted from 0.
        sequence: usize,
        /// The place in it, counted from 0.
        place: usize,
        /// The token.
        token: Token,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
    /// A token that follows the end token.
    #[error(
        "sequence {sequence}, place {place}: token {token} follows the end token; cut the sequences behind it"
    )]
    AfterEnd {
        /// The sequence, counted from 0.
        sequence: usize,
        /// The place in it, counted from 0.
        place: usize,
        /// The token.
        token: Token,
    },
    /// An end token that the vocabulary does not have, or a model too small for a state of its own for it.
    #[error(
        "the end token {end} needs a place in the vocabulary ({vocabulary} tokens) and a state of its own beside \
         another ({states} states)"
    )]
    End {
        /// The end token.
        end: Token,
        /// Size of the vocabulary.
        vocabulary: usize,
        /// Hidden states.
        states: usize,
    },
    /// A setting that makes no sense.
    #[error("{name} is {given}; it must be {wanted}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What was given.
        given: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// Nothing to learn from.
    #[error("there is no token to learn from")]
    NoTokens,
    /// More positions than the counts can hold.
    #[error("the counts hold at most {limit} positions; take smaller portions")]
    TooManyPositions {
        /// The limit.
        limit: u64,
    },
    /// Two things of different sizes.
    #[error("{what} is for {found} {unit}, the model has {wanted}")]
    Mismatch {
        /// What does not fit.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that it should have.
        wanted: usize,
        /// Of what.
        unit: &'static str,
    },
    /// Bytes that are no file of sequences.
    #[error("byte {place}: {problem}")]
    Bytes {
        /// Where.
        place: usize,
        /// What is wrong there.
        problem: String,
    },
    /// Bytes that are no statistics or no checkpoint.
    #[error("{part}: {problem}")]
    Part {
        /// The tensor or the header that is wrong.
        part: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A checkpoint of other sequences.
    #[error("the checkpoint was made with other {which} sequences; resume with the ones it was started with")]
    OtherSequences {
        /// `training` or `held-out`.
        which: &'static str,
    },
    /// The numbers do not make a model.
    #[error(transparent)]
    Model(#[from] ModelError),
}
