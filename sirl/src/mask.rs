//! Masks, the sets of tokens that a model may write next.
//!
//! A [`MaskTable`] holds, for every state of a [`Grammar`](crate::Grammar), the tokens that the grammar allows there,
//! computed once for a [`Vocabulary`]. While a model writes, each token takes a step of the automaton and one
//! look-up. A mask guarantees the form of a request, not its intent: the policy still decides on it.
//!
//! ```
//! use sirl::{Grammar, Kind, MaskTable, Vocabulary};
//!
//! let tokens = ["REQ", ".otp", ".end", "\n", "\nREQ", "hello"];
//! let tokens = tokens.iter().map(|token| token.as_bytes().to_vec()).collect();
//! let vocabulary = Vocabulary::from_tokens(tokens).with_end(6);
//! let table = MaskTable::build(&Grammar::for_kinds(&[Kind::Otp])?, &vocabulary);
//!
//! let mut state = table.start();
//! for token in [0, 1, 4, 2] {
//!     assert!(table.mask(state).contains(token) && !table.mask(state).contains(6));
//!     state = table.step(state, token).unwrap();
//! }
//! assert_eq!(table.mask(state).tokens().collect::<Vec<_>>(), [3, 6], "a line end, or the end of the answer");
//! # Ok::<(), sirl::GrammarError>(())
//! ```

mod build;
#[cfg(feature = "json")]
mod tokenizer;
mod trie;
mod vocabulary;

pub use vocabulary::{Vocabulary, VocabularyError};

use std::fmt::{Display, Formatter};

use crate::grammar::{Automaton, State};

/// The place of the masks of a node. They depend on a counter only up to the most that a token needs.
#[derive(Debug, Clone, Copy, Default)]
struct MaskRow {
    /// The first of the node's numbers in [`MaskTable::ids`].
    first: u32,
    /// The most characters that a token takes from the string that it begins in.
    chars: u8,
    /// The most requests that a token takes.
    requests: u8,
}

/// The masks of one grammar for one vocabulary.
///
/// Building takes tens to hundreds of milliseconds, and the table some megabytes; [`MaskTable::info`] tells the
/// size. A grammar of all kinds has some ten thousand rows, but equal masks are stored once, so there are only a
/// few hundred masks of one bit for each token.
#[derive(Debug, Clone)]
pub struct MaskTable {
    automaton: Automaton,
    vocabulary: Vocabulary,
    rows: Vec<MaskRow>,
    /// The number of the mask of each row.
    ids: Vec<u32>,
    /// The masks, one after the other, `words` each.
    masks: Vec<u64>,
    words: usize,
}

/// A set of tokens. Bit `n % 64` of word `n / 64` is set if token `n` is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask<'a> {
    words: &'a [u64],
}

impl MaskTable {
    /// The state at the start of a block.
    #[must_use]
    pub fn start(&self) -> State {
        State::START
    }

    /// The tokens that may come next. After a token that ended the answer there is none.
    #[must_use]
    pub fn mask(&self, state: State) -> Mask<'_> {
        let row = self.rows.get(usize::from(state.node)).copied().unwrap_or_default();
        let chars = usize::from(state.room.min(row.chars));
        let at = chars * (usize::from(row.requests) + 1) + usize::from(state.requests.min(row.requests));
        let id = self.ids.get(row.first as usize + at).copied().unwrap_or(0) as usize;
        Mask { words: self.masks.get(id * self.words..(id + 1) * self.words).unwrap_or(&[]) }
    }

    /// The state after `token`, if the mask of `state` allows it.
    #[must_use]
    pub fn step(&self, state: State, token: u32) -> Option<State> {
        match self.vocabulary.token(token) {
            [] => {
                let ends = self.is_accepting(state) && self.vocabulary.ends().contains(&token);
                ends.then_some(State::DEAD)
            }
            bytes => bytes.iter().try_fold(state, |state, byte| self.automaton.step(state, *byte)),
        }
    }

    /// Tells if the block is complete, so that the answer may end here.
    #[must_use]
    pub fn is_accepting(&self, state: State) -> bool {
        self.automaton.accepts(state.node)
    }

    /// The vocabulary that the table was built for.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The sizes of the table.
    #[must_use]
    pub fn info(&self) -> MaskInfo {
        let counts: Vec<usize> =
            self.masks.chunks(self.words.max(1)).map(|words| Mask { words }.count()).collect();
        let rows = || self.ids.iter().map(|id| counts.get(*id as usize).copied().unwrap_or(0));
        let tokens = self.vocabulary.iter().map(|(bytes, _)| bytes.len());
        let mask_bytes = size_of_val(self.masks.as_slice());
        let tables = size_of_val(self.rows.as_slice()) + size_of_val(self.ids.as_slice());
        MaskInfo {
            nodes: self.automaton.nodes(),
            byte_classes: self.automaton.classes(),
            tokens: self.vocabulary.len(),
            longest_token: tokens.clone().max().unwrap_or(0),
            rows: self.ids.len(),
            masks: counts.len(),
            mask_bytes,
            bytes: mask_bytes
                + tables
                + self.automaton.bytes()
                + tokens.map(|bytes| bytes + size_of::<Vec<u8>>()).sum::<usize>(),
            average_allowed: rows().sum::<usize>() as f64 / self.ids.len().max(1) as f64,
            most_allowed: counts.iter().copied().max().unwrap_or(0),
            forced_rows: rows().filter(|count| *count == 1).count(),
        }
    }
}

impl<'a> Mask<'a> {
    /// The bits, to be applied to a model's scores. Bits past the last token are clear.
    #[must_use]
    pub fn words(self) -> &'a [u64] {
        self.words
    }

    /// Tells if `token` is allowed.
    #[must_use]
    pub fn contains(self, token: u32) -> bool {
        self.words.get(token as usize / 64).is_some_and(|word| word >> (token % 64) & 1 == 1)
    }

    /// The allowed tokens, in order.
    pub fn tokens(self) -> impl Iterator<Item = u32> + 'a {
        self.words.iter().zip(0u32..).flat_map(|(word, at)| {
            (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }

    /// The number of allowed tokens.
    #[must_use]
    pub fn count(self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The sizes of a [`MaskTable`]. Its text form has a line for each.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskInfo {
    /// The nodes of the automaton, the dead one included.
    pub nodes: usize,
    /// The classes of bytes.
    pub byte_classes: usize,
    /// The tokens of the vocabulary, special ones included.
    pub tokens: usize,
    /// The bytes of the longest token.
    pub longest_token: usize,
    /// The rows of the table: one for each node, and more if a token can reach the limit of a counter.
    pub rows: usize,
    /// The different masks.
    pub masks: usize,
    /// The memory of the masks, in bytes.
    pub mask_bytes: usize,
    /// The memory of everything, in bytes: masks, rows, the automaton, the tokens.
    pub bytes: usize,
    /// The average number of tokens that a row allows.
    pub average_allowed: f64,
    /// The number of tokens that the widest mask allows.
    pub most_allowed: usize,
    /// The rows that allow only one token, so that the model need not be run.
    pub forced_rows: usize,
}

impl Display for MaskInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mb = |bytes: usize| bytes as f64 / 1e6;
        writeln!(f, "automaton       {} nodes, {} classes of bytes", self.nodes, self.byte_classes)?;
        writeln!(f, "vocabulary      {} tokens, the longest of {} bytes", self.tokens, self.longest_token)?;
        writeln!(f, "rows            {}, {} of them with one token", self.rows, self.forced_rows)?;
        writeln!(f, "distinct masks  {}", self.masks)?;
        writeln!(f, "memory          {:.1} MB, masks {:.1} MB", mb(self.bytes), mb(self.mask_bytes))?;
        write!(f, "allowed tokens  {:.1} on average, {} at most", self.average_allowed, self.most_allowed)
    }
}
