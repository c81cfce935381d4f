//! What a table is made of.

use std::fmt::{Display, Formatter, Result};

/// The sizes of a [`MaskTable`](super::MaskTable). Printed, a line each.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskInfo {
    /// The nodes of the automaton, the dead one included.
    pub nodes: usize,
    /// The classes that the bytes fall into.
    pub byte_classes: usize,
    /// The tokens of the vocabulary, special ones included.
    pub tokens: usize,
    /// The bytes of the longest token.
    pub longest_token: usize,
    /// The rows of the table: nodes, told apart by the counters where a token can run into a limit.
    pub rows: usize,
    /// The masks that differ.
    pub masks: usize,
    /// The bytes that the masks take.
    pub mask_bytes: usize,
    /// The bytes that everything takes: masks, rows, the automaton, the bytes of the tokens.
    pub bytes: usize,
    /// How many tokens a row allows, on the average of the rows.
    pub average_allowed: f64,
    /// How many tokens the widest mask allows.
    pub most_allowed: usize,
    /// The rows that allow one token only: there a model need not be asked.
    pub forced_rows: usize,
}

impl Display for MaskInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mb = |bytes: usize| bytes as f64 / 1e6;
        writeln!(f, "automaton       {} nodes, {} classes of bytes", self.nodes, self.byte_classes)?;
        writeln!(f, "vocabulary      {} tokens, the longest of {} bytes", self.tokens, self.longest_token)?;
        writeln!(f, "rows            {}, {} of them with one token", self.rows, self.forced_rows)?;
        writeln!(f, "distinct masks  {}", self.masks)?;
        writeln!(f, "memory          {:.1} MB, masks {:.1} MB", mb(self.bytes), mb(self.mask_bytes))?;
        write!(f, "allowed tokens  {:.1} on average, {} at most", self.average_allowed, self.most_allowed)
    }
}
