//! The state of a scanner.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::Event;
use super::lead::{NoLead, form_of};
use super::remains::Remains;
use crate::limits::MAX_LINE_BYTES;
use crate::parse::{Form, LOOK_AHEAD, Reader};
use crate::{Block, ParseError, Plan, Request, Schema};

/// As much of a line as tells that it is too long, and where the error ends.
const LINE_BYTES: usize = MAX_LINE_BYTES + LOOK_AHEAD;

/// A line ending and the most of the first word of a block that is not yet the whole word.
const LEAD_BYTES: usize = Form::Plan.lead().len();

pub(super) struct Machine {
    schema: Schema,
    state: State,
    /// How many bytes have been read.
    offset: usize,
    /// The number, from 1, of the line that the next byte belongs to.
    number: usize,
    /// What was read of that line, where it begins a block or belongs to one.
    line: Vec<u8>,
}

enum State {
    /// At the first column of a line, or within what may become the first word of a block.
    LineStart,
    /// Within a line that does not matter.
    Prose,
    /// Within a block that begins at this byte.
    Block { reader: Reader, start: usize },
    /// Within what remains of a malformed block.
    Remains(Remains),
}

impl Machine {
    pub(super) fn new(schema: Schema) -> Machine {
        let line = Vec::with_capacity(LINE_BYTES);
        Machine { schema, state: State::LineStart, offset: 0, number: 1, line }
    }

    /// Reads some of `bytes`, which are not empty, or none and goes on to a state that reads some. Returns how
    /// many were read and what they completed. `find` tells where in `bytes` the next line ending is that
    /// stands before the first word of a block.
    pub(super) fn step(
        &mut self,
        bytes: &[u8],
        find: impl FnOnce() -> Option<(usize, Form)>,
    ) -> (usize, Option<Event>) {
        let (taken, event) = match &mut self.state {
            State::LineStart => (self.line_start(bytes), None),
            State::Prose => (self.prose(bytes, find()), None),
            State::Block { .. } => self.block(bytes),
            State::Remains(remains) => {
                let (taken, is_last) = remains.read(bytes);
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

    /// Tells whether the line begins a block, as soon as that can be told.
    fn line_start(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            self.line.push(*byte);
            match form_of(&self.line) {
                Ok(None) => {}
                Ok(Some(form)) => {
                    let start = self.offset.saturating_add(at + 1) - self.line.len();
                    self.state = State::Block { reader: Reader::new(form), start };
                    return at + 1;
                }
                Err(NoLead) => {
                    self.line.clear();
                    self.state = State::Prose;
                    // The byte may be a line ending, for which the other state looks.
                    return at;
                }
            }
        }
        bytes.len()
    }

    /// Goes on to the first word of a block, or to the end of `bytes`.
    fn prose(&mut self, bytes: &[u8], find: Option<(usize, Form)>) -> usize {
        let taken = find.map_or(bytes.len(), |(line_ending, _)| line_ending + 1);
        let passed = bytes.get(..taken).unwrap_or(bytes);
        self.number = self.number.saturating_add(memchr_iter(b'\n', passed).count());
        if let Some((_, form)) = find {
            let start = self.offset.saturating_add(taken);
            self.state = State::Block { reader: Reader::new(form), start };
            return taken;
        }
        // The word may be cut off by the end of the bytes.
        let last = passed.get(passed.len().saturating_sub(LEAD_BYTES)..).unwrap_or(passed);
        let word = memrchr(b'\n', last).and_then(|line_ending| last.get(line_ending + 1..));
        if let Some(word) = word.filter(|word| form_of(word).is_ok()) {
            self.line.extend_from_slice(word);
            self.state = State::LineStart;
        }
        taken
    }

    /// Reads to the end of a line, or of `bytes`.
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
            // An error leaves the line ending to the state that looks for the last line.
            Some(event @ Event::Malformed { .. }) => (text.len(), Some(event)),
            event => {
                self.number = self.number.saturating_add(1);
                self.line.clear();
                (text.len() + 1, event)
            }
        }
    }

    /// Reads the first `length` bytes of the line as a line of the block; `offset` is where what was read of
    /// the line ends.
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
            Err(misfit) => {
                let error = ParseError::in_stream(&self.line, line_start, self.number, misfit);
                self.state = State::Remains(Remains::behind(form, &self.line));
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
        let misfit = reader.at_end(self.line.len());
        let line_start = self.offset - self.line.len();
        let error = ParseError::in_stream(&self.line, line_start, self.number, misfit);
        Some(Event::Malformed { start: *start, error })
    }

    pub(super) fn held_bytes(&self) -> usize {
        let State::Block { reader, .. } = &self.state else { return self.line.capacity() };
        self.line.capacity() + reader.held_bytes()
    }
}

fn complete(form: Form, span: Range<usize>, requests: Vec<Request>) -> Event {
    match form {
        Form::Requests => Event::Block { span, block: Block { requests } },
        Form::Plan => Event::Plan { span, plan: Plan::of(requests) },
    }
}
