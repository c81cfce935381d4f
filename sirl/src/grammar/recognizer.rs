//! A text, byte by byte, that can be taken back.

use super::{Grammar, State};

/// Follows a text through a grammar and can go back.
///
/// It keeps four bytes for each byte of the text. Where nothing is taken back, [`Grammar::step`] needs none.
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
    /// At the start of a block.
    #[must_use]
    pub fn new(grammar: &'a Grammar) -> Recognizer<'a> {
        Recognizer { grammar, states: Vec::new() }
    }

    /// Takes `byte`, if the grammar leads on with it; otherwise nothing changes.
    pub fn try_push_byte(&mut self, byte: u8) -> bool {
        let next = self.grammar.step(self.state(), byte);
        self.states.extend(next);
        next.is_some()
    }

    /// Takes all of `bytes`, if the grammar leads on with them; otherwise nothing changes.
    pub fn try_push_bytes(&mut self, bytes: &[u8]) -> bool {
        let before = self.states.len();
        let all = bytes.iter().all(|byte| self.try_push_byte(*byte));
        if !all {
            self.states.truncate(before);
        }
        all
    }

    /// Takes back the last `bytes` bytes, or all where there are fewer.
    pub fn rewind(&mut self, bytes: usize) {
        self.states.truncate(self.states.len().saturating_sub(bytes));
    }

    /// Where the text has come to.
    #[must_use]
    pub fn state(&self) -> State {
        self.states.last().copied().unwrap_or(self.grammar.start())
    }

    /// Whether the text is a whole block.
    #[must_use]
    pub fn is_accepting(&self) -> bool {
        self.grammar.is_accepting(self.state())
    }

    /// How many bytes have been taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no byte has been taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
