//! Which tokens a model may write next.
//!
//! A [`MaskTable`] holds, for every place in a [`Grammar`], the tokens that lead on from it, computed once for
//! a [`Vocabulary`]. While a model writes, each token is a step of the automaton and one look-up. A mask
//! proves form, never intent: what is asked for is still decided by the policy.
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
mod info;
#[cfg(feature = "json")]
mod tokenizer;
mod trie;
mod vocabulary;

pub use info::MaskInfo;
pub use vocabulary::{Vocabulary, VocabularyError};

use crate::grammar::{Automaton, Grammar, State};

/// Where the masks of a node are. They differ by a counter only up to a bound: no token needs more.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// The first of the node's numbers in [`MaskTable::ids`].
    first: u32,
    /// The most characters that a token takes from the string that it begins in.
    chars: u8,
    /// The most requests that a token takes.
    requests: u8,
}

/// The masks of one grammar for one vocabulary.
///
/// Building takes tens to hundreds of milliseconds and the table some megabytes: [`MaskTable::info`] says
/// how many. The largest that a grammar of all kinds can take is its rows (some ten thousand) times the
/// tokens of the vocabulary in bits; equal masks are kept once, which makes it a few hundred masks.
#[derive(Debug, Clone)]
pub struct MaskTable {
    automaton: Automaton,
    vocabulary: Vocabulary,
    rows: Vec<Row>,
    /// For each row the number of its mask.
    ids: Vec<u32>,
    /// The masks, one after the other, `words` each.
    masks: Vec<u64>,
    words: usize,
}

/// A set of tokens: bit `n % 64` of word `n / 64` says whether token `n` is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask<'a> {
    words: &'a [u64],
}

impl MaskTable {
    /// The masks of `grammar` for `vocabulary`.
    ///
    /// A token is allowed if the grammar leads on behind all its bytes, so a token that goes past the end of
    /// the block (`REQ.end` and more than one line end) is not, and no block begins or ends within one.
    #[must_use]
    pub fn build(grammar: &Grammar, vocabulary: &Vocabulary) -> MaskTable {
        build::build(grammar, vocabulary)
    }

    /// Where a block begins.
    #[must_use]
    pub fn start(&self) -> State {
        State::START
    }

    /// The tokens that may stand next. Behind a token that ended the answer there is none.
    #[must_use]
    pub fn mask(&self, state: State) -> Mask<'_> {
        let row = self.rows.get(usize::from(state.node)).copied().unwrap_or_default();
        let chars = usize::from(state.room.min(row.chars));
        let at = chars * (usize::from(row.requests) + 1) + usize::from(state.requests.min(row.requests));
        let id = self.ids.get(row.first as usize + at).copied().unwrap_or(0) as usize;
        Mask { words: self.masks.get(id * self.words..(id + 1) * self.words).unwrap_or(&[]) }
    }

    /// The state behind `token`, if the mask of `state` allows it.
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

    /// Whether the answer may end here: the block is whole.
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
    /// The bits, to be laid over a model's scores. Bits past the last token are clear.
    #[must_use]
    pub fn words(self) -> &'a [u64] {
        self.words
    }

    /// Whether `token` is allowed.
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

    /// How many tokens are allowed.
    #[must_use]
    pub fn count(self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}
