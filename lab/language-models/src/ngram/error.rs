//! Errors of training, of reading a file and of a step.

use hmm_control::Token;

/// Why a model cannot be trained, or cannot take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NgramError {
    /// An order that is not offered.
    #[error("an order of {given} is not offered: an n-gram has 1 to {longest} tokens")]
    Order {
        /// The order.
        given: usize,
        /// The longest n-gram there is.
        longest: usize,
    },
    /// A vocabulary without tokens, or with too many.
    #[error("a vocabulary of {given} tokens cannot be used: it has 1 to {limit}")]
    Vocabulary {
        /// Tokens.
        given: usize,
        /// The largest size.
        limit: usize,
    },
    /// A token outside the vocabulary.
    #[error("token {token} is outside the vocabulary of {vocabulary} tokens")]
    Token {
        /// The token.
        token: Token,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
    /// Nothing to learn from.
    #[error("there is no text to train on")]
    NoText,
    /// More tokens than a 32-bit index reaches.
    #[error("the text to train on has more than {limit} tokens; train on a part of it")]
    TooLong {
        /// The most tokens that one model can count.
        limit: usize,
    },
    /// A mixture of nothing, or of too much.
    #[error("a mixture of {given} topics cannot be made: it has 1 to {limit}")]
    Topics {
        /// How many were given.
        given: usize,
        /// The most.
        limit: usize,
    },
    /// Models that cannot be mixed.
    #[error("the topics disagree on {what}: {first} against {other}")]
    Mixture {
        /// The property they disagree on.
        what: &'static str,
        /// The value of the first topic.
        first: String,
        /// The value of another.
        other: String,
    },
    /// A share of a topic that is no positive number.
    #[error("topic {name:?} has a share of {share}, which is no positive number")]
    Share {
        /// The topic's name.
        name: String,
        /// The given value, as text.
        share: String,
    },
    /// The slice for the logits has another length than the vocabulary.
    #[error("there is room for {given} logits, but the vocabulary has {vocabulary} tokens")]
    Logits {
        /// Length of the slice.
        given: usize,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
}

/// Why bytes cannot be read as a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BytesError {
    /// They lack the magic bytes.
    #[error("this is no n-gram model: it does not begin with \"PNGRAM\"")]
    NotAModel,
    /// A version that this program does not read.
    #[error("this n-gram model has version {found}, but this program reads version {known}; train it again")]
    Version {
        /// The version found.
        found: u16,
        /// The version that is read.
        known: u16,
    },
    /// They end too soon.
    #[error("the n-gram model ends within its {part}: the file is cut short")]
    CutShort {
        /// The part that was being read.
        part: &'static str,
    },
    /// They go on after the end.
    #[error("{count} bytes follow the n-gram model")]
    TooLong {
        /// How many bytes.
        count: usize,
    },
    /// A part contradicts the rest.
    #[error("the n-gram model's {part} is damaged; train it again")]
    Damaged {
        /// Which part.
        part: &'static str,
    },
}
