//! Sequences laid side by side, so that one matrix product moves all of them on by a token.

use super::{Dropout, MISSING, Sequences};
use crate::Token;
use std::ops::Range;

/// A batch of sequences, the longest first, so that at each place those that go on are the first rows.
///
/// Rows are ordered by place, then by sequence.
pub(super) struct Batch {
    /// How many sequences have a token at each place; falls.
    pub(super) active: Vec<usize>,
    /// The token of each row, or [`MISSING`].
    pub(super) rows: Vec<Token>,
    /// Sequences, the empty ones too.
    pub(super) sequences: usize,
}

impl Batch {
    pub(super) fn new(sequences: &Sequences, range: Range<usize>, dropout: Option<&Dropout>) -> Batch {
        let mut lanes: Vec<(usize, &[Token])> =
            range.clone().map(|number| (number, sequences.get(number))).collect();
        lanes.sort_by_key(|(_, tokens)| std::cmp::Reverse(tokens.len()));
        let longest = lanes.first().map_or(0, |(_, tokens)| tokens.len());
        let dropped: Vec<Vec<bool>> = match dropout {
            Some(dropout) => lanes.iter().map(|(number, tokens)| dropout.of(*number, tokens.len())).collect(),
            None => Vec::new(),
        };
        let mut active = Vec::with_capacity(longest);
        let mut rows = Vec::new();
        for place in 0..longest {
            let before = rows.len();
            for (lane, (_, tokens)) in lanes.iter().enumerate() {
                let Some(&token) = tokens.get(place) else { break };
                let drop = dropped.get(lane).and_then(|lane| lane.get(place)).copied().unwrap_or(false);
                rows.push(if drop { MISSING } else { token });
            }
            active.push(rows.len() - before);
        }
        Batch { active, rows, sequences: range.len() }
    }
}
