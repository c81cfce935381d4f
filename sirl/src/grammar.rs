//! The bounded grammar of a request block, as an automaton and for other tools.
//!
//! A [`Grammar`] is the set of blocks that a model may *write* under a mask. It is a subset of the blocks that
//! [`parse_block`](crate::parse_block) accepts, but for one rule: it has fewer spellings of each request, strings of at
//! most [`MAX_TEXT_CHARS`] characters and purchases of at most [`MAX_WRITTEN_ITEMS`] items, so that the language is
//! regular and every text is within every limit. The rule is that a purchase names each item once, which no automaton
//! can check; `parse_block` does. `spec/sirl.md` has the rules.
//!
//! ```
//! use sirl::{Grammar, Kind};
//!
//! let grammar = Grammar::for_kinds(&[Kind::Address])?;
//! assert!(grammar.accepts(b"REQ.address fields=[city, \"street\"]\nREQ.end"));
//! assert!(!grammar.accepts(b"REQ.payment\nREQ.end"));
//! # Ok::<(), sirl::GrammarError>(())
//! ```

use std::collections::BTreeMap;

use crate::{Field, FieldSet, Kind};

mod automaton;
mod block;
mod expr;
mod lark;
mod nfa;
mod recognizer;
mod subset;
#[cfg(feature = "json")]
mod tool;
mod utf8;

pub(crate) use automaton::{Action, Automaton};
pub use automaton::{MAX_TEXT_CHARS, State};
pub use block::MAX_WRITTEN_ITEMS;
pub use recognizer::Recognizer;
#[cfg(feature = "json")]
pub use tool::{ToolCallError, block_from_tool_call};

/// An error in the kinds and fields of a grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// No kind is named, so the grammar would have no text.
    #[error("no kind is named; name at least one")]
    NoKinds,
    /// The kind takes fields, but none is allowed.
    #[error("no field of {} is allowed; allow one, or leave the kind out", .0.as_str())]
    NoFields(Kind),
    /// The kind does not take the field.
    #[error("{} does not take `{}`; leave it out", kind.as_str(), field.as_str())]
    FieldNotOfKind {
        /// The kind.
        kind: Kind,
        /// The field.
        field: Field,
    },
    /// The automaton has too many nodes for its table.
    #[error("the grammar is too large; name fewer kinds")]
    TooLarge,
}

/// The blocks that a model may write, of some kinds, each with some fields.
#[derive(Debug, Clone)]
pub struct Grammar {
    kinds: BTreeMap<Kind, FieldSet>,
    automaton: Automaton,
}

impl Grammar {
    /// Makes the grammar of blocks of these kinds, with every field that they take.
    ///
    /// # Errors
    /// [`GrammarError::NoKinds`] if `kinds` is empty.
    pub fn for_kinds(kinds: &[Kind]) -> Result<Grammar, GrammarError> {
        let kinds: Vec<_> = kinds.iter().map(|kind| (*kind, kind.allowed_fields())).collect();
        Grammar::for_fields(&kinds)
    }

    /// Makes the grammar of blocks of these kinds, each with at most these fields.
    ///
    /// A kind that is given twice has the fields of both. If fewer fields are allowed than a request without `fields`
    /// asks for, `fields` must be written.
    ///
    /// # Errors
    /// There is no kind, a field that the kind does not take, or a kind that takes fields and is allowed none.
    ///
    /// ```
    /// use sirl::{Field, FieldSet, Grammar, Kind};
    ///
    /// let city = FieldSet::EMPTY.with(Field::City);
    /// let grammar = Grammar::for_fields(&[(Kind::Address, city)])?;
    /// assert!(grammar.accepts(b"REQ.address fields=[\"city\"]\nREQ.end"));
    /// assert!(!grammar.accepts(b"REQ.address\nREQ.end"));
    /// # Ok::<(), sirl::GrammarError>(())
    /// ```
    pub fn for_fields(kinds: &[(Kind, FieldSet)]) -> Result<Grammar, GrammarError> {
        let mut all: BTreeMap<Kind, FieldSet> = BTreeMap::new();
        for (kind, fields) in kinds {
            if let Some(field) = fields.iter().find(|field| !kind.allowed_fields().contains(*field)) {
                return Err(GrammarError::FieldNotOfKind { kind: *kind, field });
            }
            let known = all.entry(*kind).or_default();
            *known = fields.iter().fold(*known, FieldSet::with);
        }
        if all.is_empty() {
            return Err(GrammarError::NoKinds);
        }
        for (kind, fields) in &all {
            if fields.is_empty() && !kind.allowed_fields().is_empty() {
                return Err(GrammarError::NoFields(*kind));
            }
        }
        let nfa = nfa::Nfa::new(&block::block(&all));
        let automaton = subset::automaton(&nfa).ok_or(GrammarError::TooLarge)?;
        Ok(Grammar { kinds: all, automaton })
    }

    /// The kinds and, for each, the fields that may be named, in order.
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, FieldSet)> {
        self.kinds.iter().map(|(kind, fields)| (*kind, *fields))
    }

    /// The state at the start of a block.
    #[must_use]
    pub fn start(&self) -> State {
        State::START
    }

    /// The state after `byte`, if the grammar allows it. A complete block can be reached from every such state.
    #[must_use]
    pub fn step(&self, state: State, byte: u8) -> Option<State> {
        self.automaton.step(state, byte)
    }

    /// Tells if a text that ends in `state` is a complete block.
    #[must_use]
    pub fn is_accepting(&self, state: State) -> bool {
        self.automaton.accepts(state.node)
    }

    /// Tells if `text` is a complete block of the grammar.
    #[must_use]
    pub fn accepts(&self, text: &[u8]) -> bool {
        let end = text.iter().try_fold(self.start(), |state, byte| self.step(state, *byte));
        end.is_some_and(|state| self.is_accepting(state))
    }

    /// Writes the grammar in the Lark dialect of `llguidance`. It accepts the same texts.
    #[must_use]
    pub fn to_lark(&self) -> String {
        lark::lark(&block::block(&self.kinds))
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }
}
