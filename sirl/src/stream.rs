//! Blocks and plans in text that is still being written.

mod machine;
mod skip;
mod starts;

use std::fmt;

use crate::Schema;
pub use machine::Event;
use machine::Machine;
use starts::BlockStarts;

/// The number of bytes of a push that are searched at a time, so few that they stay in the processor's cache between
/// the searches.
const WINDOW: usize = 16 * 1024;

/// Finds request blocks and plans in a model's output while it arrives, in pieces of any size.
///
/// A piece may end anywhere, even within a character: the events do not depend on where the pieces end. Text
/// outside of blocks is skipped at the speed of a search for the starts of lines. At most
/// [`MAX_SCAN_BYTES`](crate::limits::MAX_SCAN_BYTES) are held at any time, for any input.
///
/// A malformed block is reported once, at its first error, so that a host can stop the model there. The rest of
/// it, up to its own last line, is skipped. So a block that is never closed takes the rest of the stream, and no
/// text after it is mistaken for another block. Use one scanner for each answer of a model.
///
/// For a complete text with one block, [`find_block`](crate::find_block) is simpler.
///
/// ```
/// use sirl::{Event, Scanner, Schema};
///
/// let mut found = Vec::new();
/// let mut scanner = Scanner::new(Schema::default());
/// for token in ["I need a co", "de.\nRE", "Q.otp\nREQ.", "end\nREQ.pass", "word\nREQ.end\n"] {
///     scanner.push(token.as_bytes(), |event| found.push(event));
/// }
/// found.extend(scanner.finish());
///
/// assert!(matches!(&found[0], Event::Block { span, block } if span == &(15..30) && block.requests.len() == 1));
/// assert!(matches!(&found[1], Event::Malformed { start: 31, error } if error.span == (35..43)));
/// assert_eq!(found.len(), 2);
/// ```
pub struct Scanner {
    starts: BlockStarts,
    machine: Machine,
}

impl Scanner {
    /// Makes a scanner at the start of a stream, for the kinds, fields and aliases that `schema` declares.
    #[must_use]
    pub fn new(schema: Schema) -> Scanner {
        Scanner { starts: BlockStarts::new(), machine: Machine::new(schema) }
    }

    /// Reads the next bytes of the stream, and passes the events that they complete to `on_event`.
    ///
    /// A block is complete with the line ending of its last line.
    pub fn push(&mut self, bytes: &[u8], mut on_event: impl FnMut(Event)) {
        for window in bytes.chunks(WINDOW) {
            let mut ahead = self.starts.ahead(window);
            let mut at = 0;
            while let Some(rest) = window.get(at..).filter(|rest| !rest.is_empty()) {
                let (taken, event) = self.machine.step(rest, || ahead.next_from(at));
                at += taken;
                if let Some(event) = event {
                    on_event(event);
                }
            }
        }
    }

    /// Ends the stream. Returns a block whose last line had no line ending, or the error of a block that was left
    /// open.
    #[must_use = "the last block of the stream may be reported only now"]
    pub fn finish(self) -> Option<Event> {
        self.machine.finish()
    }

    /// The memory for input that may still be needed, in bytes: never more than
    /// [`MAX_SCAN_BYTES`](crate::limits::MAX_SCAN_BYTES).
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.machine.held_bytes()
    }
}

/// Shows no input.
impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("held_bytes", &self.held_bytes()).finish_non_exhaustive()
    }
}
