//! The state machine of a scanner, and its events.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::skip::BlockSkipper;
use super::starts::{NoStart, form_of};
use crate::form::BlockForm;
use crate::limits::{LOOK_AHEAD, MAX_LINE_BYTES};
use crate::parse::BlockReader;
use crate::{Block, ParseError, Plan, Request, Schema};

/// The number of bytes of a line that show that it is too long, and where the error ends.
const LINE_BYTES: usize = MAX_LINE_BYTES + LOOK_AHEAD;

/// The length of a line ending and the longest incomplete prefix of a line of a block.
const PREFIX_BYTES: usize = BlockForm::Plan.prefix().len();

/// An event of a [`Scanner`](crate::Scanner). Places are counted in bytes from the start of the stream, up to the
/// largest `usize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A block of requests.
    Block {
        /// Its bytes, without the line ending of its last line.
        span: Range<usize>,
        /// The requests.
        block: Block,
    },
    /// A plan.
    Plan {
        /// Its bytes, without the line ending of its last line.
        span: Range<usize>,
        /// The anticipated requests.
        plan: Plan,
    },
    /// A block or a plan that is malformed, or that is still open at the end of the stream.
    Malformed {
        /// The place where it begins. Its end is not known yet.
        start: usize,
        /// The first error in it.
        error: ParseError,
    },
}

pub(super) struct Machine {
    schema: Schema,
    state: State,
    /// The number of bytes that were read.
    offset: usize,
    /// The number of the current line, from 1.
    number: usize,
    /// The part of the current line that was read, if it begins a block or belongs to one.
    line: Vec<u8>,
}

enum State {
    /// At the start of a line, or within a possible prefix of a block.
    LineStart,
    /// Within a line outside of blocks.
    Prose,
    /// Within a block that begins at this byte.
    Block { reader: BlockReader, start: usize },
    /// Within the rest of a malformed block.
    Skip(BlockSkipper),
}

impl Machine {
    pub(super) fn new(schema: Schema) -> Machine {
        let line = Vec::with_capacity(LINE_BYTES);
        Machine { schema, state: State::LineStart, offset: 0, number: 1, line }
    }

    /// Reads some of `bytes`, which are not empty, or none and goes on to a state that reads some. Returns the number
    /// of bytes and the event that they complete. `find` finds the next line ending in `bytes` that is followed by
    /// the prefix of a block.
    pub(super) fn step(
        &mut self,
        bytes: &[u8],
        find: impl FnOnce() -> Option<(usize, BlockForm)>,
    ) -> (usize, Option<Event>) {
        let (taken, event) = match &mut self.state {
            State::LineStart => (self.line_start(bytes), None),
            State::Prose => (self.prose(bytes, find()), None),
            State::Block { .. } => self.block(bytes),
            State::Skip(skipper) => {
                let (taken, is_last) = skipper.read(bytes);
                self.number = self.number.saturating_add(usize::from(is_last.is_some()));
                if is_last == Some(true) {
                    self.state = State::LineStart;
                }
                (taken, None)
            }
        };
        self.offset = self.offset.saturating_add(taken);
        (taken, event)
    }

    /// Finds out if the line begins a block, with as few bytes as possible.
    fn line_start(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            self.line.push(*byte);
            match form_of(&self.line) {
                Ok(None) => {}
                Ok(Some(form)) => {
                    let start = self.offset.saturating_add(at + 1) - self.line.len();
                    self.state = State::Block { reader: BlockReader::new(form), start };
                    return at + 1;
                }
                Err(NoStart) => {
                    self.line.clear();
                    self.state = State::Prose;
                    // The byte may be a line ending, which the other state reads.
                    return at;
                }
            }
        }
        bytes.len()
    }

    /// Skips to the prefix of a block, or to the end of `bytes`.
    fn prose(&mut self, bytes: &[u8], find: Option<(usize, BlockForm)>) -> usize {
        let taken = find.map_or(bytes.len(), |(line_ending, _)| line_ending + 1);
        let passed = bytes.get(..taken).unwrap_or(bytes);
        self.number = self.number.saturating_add(memchr_iter(b'\n', passed).count());
        if let Some((_, form)) = find {
            let start = self.offset.saturating_add(taken);
            self.state = State::Block { reader: BlockReader::new(form), start };
            return taken;
        }
        // The end of the bytes may cut the prefix of a block.
        let last = passed.get(passed.len().saturating_sub(PREFIX_BYTES)..).unwrap_or(passed);
        let prefix = memrchr(b'\n', last).and_then(|line_ending| last.get(line_ending + 1..));
        if let Some(prefix) = prefix.filter(|prefix| form_of(prefix).is_ok()) {
            self.line.extend_from_slice(prefix);
            self.state = State::LineStart;
        }
        taken
    }

    /// Reads to the end of a line of the block, or of `bytes`.
    fn block(&mut self, bytes: &[u8]) -> (usize, Option<Event>) {
        let end = memchr(b'\n', bytes);
        let room = LINE_BYTES - self.line.len();
        let text = bytes.get(..end.unwrap_or(bytes.len()).min(room)).unwrap_or(bytes);
        self.line.extend_from_slice(text);
        let offset = self.offset.saturating_add(text.len());
        let whole = end == Some(text.len());
        if !whole && self.line.len() < LINE_BYTES {
            return (text.len(), None);
        }
        let ending = usize::from(whole && self.line.ends_with(b"\r"));
        let length = self.line.len() - ending;
        match self.read_line(length, offset) {
            // After an error, the line ending is left to the state that skips the block.
            Some(event @ Event::Malformed { .. }) => (text.len(), Some(event)),
            event => {
                self.number = self.number.saturating_add(1);
                self.line.clear();
                (text.len() + 1, event)
            }
        }
    }

    /// Parses the first `length` bytes of the line as a line of the block. `offset` is the place up to which the line
    /// was read.
    fn read_line(&mut self, length: usize, offset: usize) -> Option<Event> {
        let State::Block { reader, start } = &mut self.state else { return None };
        let (form, start) = (reader.form(), *start);
        let line_start = offset - self.line.len();
        match reader.take_bytes(&self.schema, self.line.get(..length).unwrap_or(&self.line)) {
            Ok(None) => None,
            Ok(Some(requests)) => {
                self.state = State::LineStart;
                Some(complete(form, start..line_start.saturating_add(length), requests))
            }
            Err(error) => {
                let error = ParseError::in_stream(&self.line, line_start, self.number, error);
                self.state = State::Skip(BlockSkipper::behind(form, &self.line));
                self.line.clear();
                Some(Event::Malformed { start, error })
            }
        }
    }

    pub(super) fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty()
            && let Some(event) = self.read_line(self.line.len(), self.offset)
        {
            return Some(event);
        }
        let State::Block { reader, start } = &self.state else { return None };
        let error = reader.at_end(self.line.len());
        let line_start = self.offset - self.line.len();
        let error = ParseError::in_stream(&self.line, line_start, self.number, error);
        Some(Event::Malformed { start: *start, error })
    }

    pub(super) fn held_bytes(&self) -> usize {
        let State::Block { reader, .. } = &self.state else { return self.line.capacity() };
        self.line.capacity() + reader.held_bytes()
    }
}

fn complete(form: BlockForm, span: Range<usize>, requests: Vec<Request>) -> Event {
    match form {
        BlockForm::Requests => Event::Block { span, block: Block { requests } },
        BlockForm::Plan => Event::Plan { span, plan: Plan::of(requests) },
    }
}
