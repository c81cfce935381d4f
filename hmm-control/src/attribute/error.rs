//! Errors of making a weighted automaton.

/// Why a weighted automaton cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// A token outside the vocabulary.
    #[error("token {token} is outside the vocabulary of {vocabulary} tokens")]
    Token {
        /// The token.
        token: u32,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
    /// A log weight above zero, or not a number.
    #[error(
        "log weight {weight} of token {token:?} in state {state}: a weight is at most 1, so its logarithm at most 0"
    )]
    Weight {
        /// The state.
        state: usize,
        /// The token; none for the other tokens of the state.
        token: Option<u32>,
        /// The log weight.
        weight: f64,
    },
    /// A missing state.
    #[error("state {state} is not there: the automaton has {states}")]
    State {
        /// The state.
        state: usize,
        /// Number of states.
        states: usize,
    },
    /// More states than a look-ahead can afford.
    #[error("the automaton would have more than {limit} states; simplify it, or apply its parts one by one")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Two automata over different vocabularies.
    #[error("one automaton is over {left} tokens, the other over {right}")]
    Vocabulary {
        /// Tokens of the first.
        left: usize,
        /// Tokens of the second.
        right: usize,
    },
    /// An empty phrase.
    #[error("a phrase is empty: it has at least one token")]
    EmptyPhrase,
    /// A pattern that does not compile to an automaton.
    #[error("the pattern `{pattern}` cannot be used: {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// An empty or too large range of lengths.
    #[error(
        "no text has at least {shortest} and at most {longest} tokens, or the most is too large (65,536)"
    )]
    Lengths {
        /// The shortest length.
        shortest: usize,
        /// The longest length.
        longest: usize,
    },
    /// A strength that is negative or not a number.
    #[error("a strength of {given} is not a number of at least 0")]
    Strength {
        /// The strength.
        given: f64,
    },
}
