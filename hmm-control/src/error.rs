//! What can be wrong with a model or an attribute.

use crate::Storage;

/// Why numbers are not a hidden Markov model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A part has another shape than the rest of the model.
    #[error("{part} is {found_rows} x {found_columns}, but {rows} x {columns} was expected")]
    Shape {
        /// Which part: `initial`, `transition`, `emission`.
        part: &'static str,
        /// Rows that were given.
        found_rows: usize,
        /// Columns that were given.
        found_columns: usize,
        /// Rows that the other parts ask for.
        rows: usize,
        /// Columns that the other parts ask for.
        columns: usize,
    },
    /// A model without states, or without tokens.
    #[error("{part} is empty: a model has at least one state and one token")]
    Empty {
        /// Which part.
        part: &'static str,
    },
    /// A number that is no probability.
    #[error("{part} of state {state} holds {value}, which is no probability")]
    NotAProbability {
        /// Which part.
        part: &'static str,
        /// The state whose distribution it is.
        state: usize,
        /// The number.
        value: f64,
    },
    /// A distribution that does not sum to one.
    #[error("{part} of state {state} sums to {sum}, not to 1 (tolerance {tolerance})")]
    NotNormalised {
        /// Which part.
        part: &'static str,
        /// The state whose distribution it is.
        state: usize,
        /// The sum that was found.
        sum: f64,
        /// How far from 1 it may be in this storage.
        tolerance: f64,
    },
    /// Bytes that are not as many, or not as aligned, as the storage wants.
    #[error(
        "{rows} x {columns} numbers of {storage} need {expected} bytes, aligned to {alignment}; {found} were given"
    )]
    Bytes {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The storage.
        storage: Storage,
        /// Bytes that it needs.
        expected: usize,
        /// Alignment that it needs.
        alignment: usize,
        /// Bytes that were given.
        found: usize,
    },
}

/// Why a weighted automaton cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
        /// The token, or none for the other tokens of the state.
        token: Option<u32>,
        /// The log weight.
        weight: f64,
    },
    /// A state that is not there.
    #[error("state {state} is not there: the automaton has {states}")]
    State {
        /// The state.
        state: usize,
        /// How many there are.
        states: usize,
    },
    /// More states than a look-ahead could pay for.
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
    /// A phrase without a token.
    #[error("a phrase is empty: it has at least one token")]
    EmptyPhrase,
    /// A pattern that cannot be made an automaton.
    #[error("the pattern `{pattern}` cannot be used: {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        why: String,
    },
    /// No length at all.
    #[error("no length is at least {shortest} and at most {longest}")]
    Lengths {
        /// The least that was asked for.
        shortest: usize,
        /// The most.
        longest: usize,
    },
    /// A strength that is negative or not a number.
    #[error("a strength of {given} is not a number of at least 0")]
    Strength {
        /// The strength.
        given: f64,
    },
}
