//! The bounded grammar of a request block, as an automaton and for other tools.
//!
//! A [`Grammar`] is what a model is let *write* under a mask. It is a part of what
//! [`parse_block`](crate::parse_block) reads: one way to write what has many, with strings of at most
//! [`MAX_TEXT_CHARS`] characters, so that the language is regular and every text of it is within every limit.
//! `spec/sirl.md` has the rules.
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

pub use automaton::State;
pub(crate) use automaton::{Action, Automaton};
pub use recognizer::Recognizer;
#[cfg(feature = "json")]
pub use tool::{ToolCallError, block_from_tool_call};

/// The most characters of a string that a model writes under a mask; `\"` and `\\` are one each.
///
/// At most four bytes each, they are within [`MAX_STRING_BYTES`](crate::limits::MAX_STRING_BYTES), and all
/// strings of a request together are within a line.
pub const MAX_TEXT_CHARS: usize = 128;

/// Why there is no such grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// A grammar of no kind has no text.
    #[error("no kind is named; name at least one")]
    NoKinds,
    /// The kind takes fields and none is allowed.
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
    /// The automaton has more nodes than its table takes.
    #[error("the grammar is too large; name fewer kinds")]
    TooLarge,
}

/// What a model may write: a block of some kinds, each with some fields.
#[derive(Debug, Clone)]
pub struct Grammar {
    kinds: BTreeMap<Kind, FieldSet>,
    automaton: Automaton,
}

impl Grammar {
    /// The grammar of blocks whose requests are of `kinds`, with every field that they take.
    ///
    /// # Errors
    /// [`GrammarError::NoKinds`] if `kinds` is empty.
    pub fn for_kinds(kinds: &[Kind]) -> Result<Grammar, GrammarError> {
        let kinds: Vec<_> = kinds.iter().map(|kind| (*kind, kind.allowed_fields())).collect();
        Grammar::for_fields(&kinds)
    }

    /// The grammar of blocks whose requests are of these kinds, each with at most these fields.
    ///
    /// A kind that stands twice has the fields of both. Where fewer fields are allowed than a request
    /// without `fields` asks for, the grammar has no such request: `fields` must be written.
    ///
    /// # Errors
    /// No kind, a field that the kind does not take, or a kind that takes fields and is allowed none.
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

    /// Where a block begins.
    #[must_use]
    pub fn start(&self) -> State {
        State::START
    }

    /// The state behind `byte`, if the grammar leads there. Every such state leads on to a whole block.
    #[must_use]
    pub fn step(&self, state: State, byte: u8) -> Option<State> {
        self.automaton.step(state, byte)
    }

    /// Whether a text that has come to `state` is a whole block.
    #[must_use]
    pub fn is_accepting(&self, state: State) -> bool {
        self.automaton.accepts(state.node)
    }

    /// Whether `text` is a whole block of the grammar.
    #[must_use]
    pub fn accepts(&self, text: &[u8]) -> bool {
        let end = text.iter().try_fold(self.start(), |state, byte| self.step(state, *byte));
        end.is_some_and(|state| self.is_accepting(state))
    }

    /// The grammar in the Lark dialect that `llguidance` reads. It accepts the same texts.
    #[must_use]
    pub fn to_lark(&self) -> String {
        lark::lark(&block::block(&self.kinds))
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }
}
