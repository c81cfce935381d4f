//! The tokens that an n-gram sees.

use hmm_control::Token;

/// The longest n-gram, in tokens.
pub const LONGEST: usize = 5;

/// Stands before the first token of a text. It is in no vocabulary.
pub(crate) const START: Token = Token::MAX;

/// The last tokens of a text: as many as the longest n-gram looks back on, no further than the text's beginning.
///
/// The beginning itself is seen, so that a first word is known for a first word. Fixed size; a clone is a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The latest first.
    latest: [Token; LONGEST - 1],
    known: usize,
}

impl Default for History {
    fn default() -> History {
        History::start()
    }
}

impl History {
    /// The beginning of a text.
    pub fn start() -> History {
        History { latest: [START; LONGEST - 1], known: 1 }
    }

    /// After some tokens of a text that began with them.
    pub fn of(text: &[Token]) -> History {
        let mut history = History::start();
        text.iter().for_each(|&token| history.push(token));
        history
    }

    /// One more token.
    pub fn push(&mut self, token: Token) {
        self.latest.rotate_right(1);
        if let Some(first) = self.latest.first_mut() {
            *first = token;
        }
        self.known = (self.known + 1).min(LONGEST - 1);
    }

    /// The latest first, the beginning of the text last where it is near enough.
    pub(crate) fn back(&self) -> &[Token] {
        self.latest.get(..self.known).unwrap_or_default()
    }
}
