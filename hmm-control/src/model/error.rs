//! Errors of making a hidden Markov model.

use crate::Storage;

/// Why numbers do not make a hidden Markov model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A part has another shape than the rest of the model.
    #[error("{part} is {found_rows} x {found_columns}, but {rows} x {columns} was expected")]
    Shape {
        /// The part: `initial`, `transition`, `emission`.
        part: &'static str,
        /// Rows that were given.
        found_rows: usize,
        /// Columns that were given.
        found_columns: usize,
        /// Rows that the other parts require.
        rows: usize,
        /// Columns that the other parts require.
        columns: usize,
    },
    /// A model without states, or without tokens.
    #[error("{part} is empty: a model has at least one state and one token")]
    Empty {
        /// Which part.
        part: &'static str,
    },
    /// A number that is not a probability.
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
    /// Bytes of another length or alignment than the storage needs.
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
