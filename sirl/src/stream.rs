//! Blocks and plans in text that is still being written.

mod lead;
mod machine;
mod remains;

use std::fmt;
use std::ops::Range;

use crate::{Block, ParseError, Plan, Schema};
use lead::Leads;
use machine::Machine;

/// How much of a push is searched at a time: little enough to stay in the processor's cache between the
/// searches.
const WINDOW: usize = 16 * 1024;

/// Finds request blocks and plans in a model's output while it arrives, in pieces of any size.
///
/// A piece may end anywhere, even within a character: what is found does not depend on where the pieces end.
/// Text that is no block passes at the speed of a search for the first columns of lines. At most
/// [`MAX_SCAN_BYTES`](crate::limits::MAX_SCAN_BYTES) are held back at any time, whatever arrives.
///
/// A block that is malformed is reported once, at the first error in it, so that a host can stop the model
/// there. What remains of it, up to its own last line, is passed over. So a block that is never closed takes
/// the rest of the stream, and nothing behind it is mistaken for a block of its own: use one scanner for each
/// answer of a model.
///
/// For text that is all there and holds one block, [`find_block`](crate::find_block) is simpler.
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
    leads: Leads,
    machine: Machine,
}

/// What a [`Scanner`] finds. Every place is counted in bytes from the start of the stream (up to the largest
/// `usize`, and no further).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A block of requests.
    Block {
        /// The bytes that it takes, without the line ending of its last line.
        span: Range<usize>,
        /// The requests.
        block: Block,
    },
    /// A plan.
    Plan {
        /// The bytes that it takes, without the line ending of its last line.
        span: Range<usize>,
        /// What is anticipated.
        plan: Plan,
    },
    /// A block or a plan that cannot be read, or that the stream leaves open.
    Malformed {
        /// Where it begins. Where it ends is not known yet.
        start: usize,
        /// The first error in it.
        error: ParseError,
    },
}

impl Scanner {
    /// A scanner at the start of a stream, for the kinds, fields and aliases that `schema` declares.
    #[must_use]
    pub fn new(schema: Schema) -> Scanner {
        Scanner { leads: Leads::new(), machine: Machine::new(schema) }
    }

    /// Reads the next bytes of the stream, and hands on what they complete.
    ///
    /// A block is complete with the line ending of its last line.
    pub fn push(&mut self, bytes: &[u8], mut on_event: impl FnMut(Event)) {
        for window in bytes.chunks(WINDOW) {
            let mut ahead = self.leads.ahead(window);
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

    /// Ends the stream. Returns the block whose last line had no line ending, or the error in the block that
    /// was left open.
    #[must_use = "the last block of the stream may come only now"]
    pub fn finish(self) -> Option<Event> {
        self.machine.finish()
    }

    /// How much memory holds what was read and may still be needed, in bytes: never more than
    /// [`MAX_SCAN_BYTES`](crate::limits::MAX_SCAN_BYTES).
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.machine.held_bytes()
    }
}

/// Shows nothing of what was read.
impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("held_bytes", &self.held_bytes()).finish_non_exhaustive()
    }
}
