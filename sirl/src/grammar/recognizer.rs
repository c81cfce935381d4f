//! A recognizer that follows a text byte by byte and can go back.

use super::{Grammar, State};

/// Follows a text through a grammar and can go back.
///
/// It stores four bytes for each byte of the text. Without going back, [`Grammar::step`] needs no memory.
///
/// ```
/// use sirl::{Grammar, Kind, Recognizer};
///
/// let grammar = Grammar::for_kinds(&[Kind::Otp])?;
/// let mut text = Recognizer::new(&grammar);
/// assert!(!text.try_push_bytes(b"REQ.otp\nREQ.address"), "not a kind of this grammar: nothing is kept");
/// assert!(text.try_push_bytes(b"REQ.otp\nREQ.end") && text.is_accepting());
/// text.rewind(3);
/// assert_eq!((text.len(), text.is_accepting()), (12, false));
/// # Ok::<(), sirl::GrammarError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recognizer<'a> {
    grammar: &'a Grammar,
    states: Vec<State>,
}

impl<'a> Recognizer<'a> {
    /// Makes a recognizer at the start of a block.
    #[must_use]
    pub fn new(grammar: &'a Grammar) -> Recognizer<'a> {
        Recognizer { grammar, states: Vec::new() }
    }

    /// Accepts `byte` if the grammar allows it; otherwise nothing changes.
    pub fn try_push_byte(&mut self, byte: u8) -> bool {
        let next = self.grammar.step(self.state(), byte);
        self.states.extend(next);
        next.is_some()
    }

    /// Accepts all of `bytes` if the grammar allows them; otherwise nothing changes.
    pub fn try_push_bytes(&mut self, bytes: &[u8]) -> bool {
        let before = self.states.len();
        let all = bytes.iter().all(|byte| self.try_push_byte(*byte));
        if !all {
            self.states.truncate(before);
        }
        all
    }

    /// Removes the last `bytes` bytes, or all if there are fewer.
    pub fn rewind(&mut self, bytes: usize) {
        self.states.truncate(self.states.len().saturating_sub(bytes));
    }

    /// The state after the text.
    #[must_use]
    pub fn state(&self) -> State {
        self.states.last().copied().unwrap_or(self.grammar.start())
    }

    /// Tells if the text is a complete block.
    #[must_use]
    pub fn is_accepting(&self) -> bool {
        self.grammar.is_accepting(self.state())
    }

    /// The number of accepted bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Tells if no byte was accepted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
