//! What can go wrong when logits are controlled.

use crate::Token;

/// Why the next token cannot be controlled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ControlError {
    /// Nothing is left to draw. Not a fault: the text has to go back, or to stop.
    #[error(
        "no token is left to choose: whatever the language model and the grammar allow here breaks the attribute"
    )]
    NothingAllowed,
    /// Another number of logits than the vocabulary has tokens.
    #[error("{found} logits were given, but the vocabulary has {vocabulary} tokens")]
    Logits {
        /// How many were given.
        found: usize,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
    /// A logit that is not a number, or plus infinity.
    #[error("the logit of token {token} is {logit}: the language model's numbers have overflowed")]
    Logit {
        /// The token.
        token: Token,
        /// Its logit.
        logit: f32,
    },
    /// A mask with fewer bits than there are tokens.
    #[error("the mask has {found} words of 64 bits, but {needed} are needed for the vocabulary")]
    Mask {
        /// Words that were given.
        found: usize,
        /// Words that the vocabulary needs.
        needed: usize,
    },
    /// A setting that makes no sense.
    #[error("{name} is {given}, but has to be {wanted}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// What was given.
        given: f64,
        /// What it may be.
        wanted: &'static str,
    },
}
