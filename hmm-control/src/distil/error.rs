//! Errors of a distillation.

use crate::{ModelError, Token};

/// Why a distillation cannot start or continue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
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
    /// An end token outside the vocabulary, or a model too small for a separate end state.
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
    /// A setting out of its range.
    #[error("{name} is {given}; it must be {wanted}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// The given value.
        given: String,
        /// The valid values.
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
    /// Parts of different sizes.
    #[error("{what} is for {found} {unit}, the model has {wanted}")]
    Mismatch {
        /// The part that does not fit.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that it should have.
        wanted: usize,
        /// The unit of the sizes.
        unit: &'static str,
    },
    /// Bytes that are not a file of sequences.
    #[error("byte {place}: {problem}")]
    Bytes {
        /// The position.
        place: usize,
        /// The problem.
        problem: String,
    },
    /// Bytes that are neither statistics nor a checkpoint.
    #[error("{part}: {problem}")]
    Part {
        /// The tensor or the header that is wrong.
        part: String,
        /// The problem.
        problem: String,
    },
    /// A checkpoint of other sequences.
    #[error("the checkpoint was made with other {which} sequences; resume with the ones it was started with")]
    OtherSequences {
        /// `training` or `held-out`.
        which: &'static str,
    },
    /// Counts of another step.
    #[error("the counts are of another step, plan or seed, or of other sequences, than this checkpoint's")]
    OtherStep,
    /// A shard that is there already.
    #[error("shard {shard} is there already; count each shard once")]
    Twice {
        /// The shard, counted from 1.
        shard: u32,
    },
    /// A shard that is not there.
    #[error("shard {shard} of {of} is missing; count it and merge it")]
    Missing {
        /// The shard, counted from 1.
        shard: u32,
        /// The number of shards.
        of: u32,
    },
    /// A step after the last.
    #[error("the training is done: no step is left to count")]
    Done,
    /// The numbers do not make a model.
    #[error(transparent)]
    Model(#[from] ModelError),
}
