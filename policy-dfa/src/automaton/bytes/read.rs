//! From bytes to a table. Every number is validated before it is used.

use super::error::BytesError;
use super::layout::{OUTCOMES, ROOTS, STATES, first_difference, reasons, scope_from_word, start_words};
use super::write;
use crate::automaton::table::{Table, Target};
use crate::vocabulary::alphabet::Axis;
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::{Delivery, Outcome};
use crate::vocabulary::reason::Reason;

/// The most symbols of an axis: the bits of a mask.
const WIDEST: usize = 8;

/// Reads a file from front to back.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// The offset of `rest` in the file.
    at: usize,
    /// The part that is being read.
    part: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(body: &'a [u8], at: usize) -> Reader<'a> {
        Reader { rest: body.get(at..).unwrap_or_default(), at, part: "" }
    }

    fn malformed(&self, what: &'static str) -> BytesError {
        BytesError::Malformed { part: self.part, at: self.at, what }
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], BytesError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.malformed(what))?;
        self.rest = rest;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], BytesError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| self.malformed(what))?;
        self.rest = rest;
        self.at += N;
        Ok(*taken)
    }

    fn short(&mut self, what: &'static str) -> Result<u16, BytesError> {
        self.array(what).map(u16::from_le_bytes)
    }

    fn word(&mut self, what: &'static str) -> Result<&'a [u8], BytesError> {
        let length = self.short(what)?;
        self.take(usize::from(length), what)
    }

    /// The next part, which must have this tag.
    fn part(&mut self, tag: &'static str) -> Result<Reader<'a>, BytesError> {
        self.part = tag;
        let at = self.at;
        if self.take(tag.len(), "the part is missing")? != tag.as_bytes() {
            return Err(BytesError::Malformed { part: tag, at, what: "another part is there" });
        }
        let length = u32::from_le_bytes(self.array("the part has no length")?);
        let begin = self.at;
        let inside = self.take(length as usize, "the part is longer than the file")?;
        Ok(Reader { rest: inside, at: begin, part: tag })
    }

    fn end(self) -> Result<(), BytesError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("something is left over")) }
    }

    pub(super) fn text(&mut self, tag: &'static str) -> Result<&'a str, BytesError> {
        let part = self.part(tag)?;
        let ascii = Some(part.rest).filter(|text| text.is_ascii()).and_then(|text| str::from_utf8(text).ok());
        ascii.ok_or_else(|| part.malformed("the canonical text is ASCII"))
    }

    /// The signals and symbols. They must be those of this library, since a row has one target for each symbol.
    pub(super) fn axes(&mut self, tag: &'static str) -> Result<(), BytesError> {
        let part = self.part(tag)?;
        let ours = write::axes();
        if part.rest == ours {
            return Ok(());
        }
        Err(BytesError::OtherAlphabet {
            at: part.at + first_difference(part.rest, &ours),
            what: "a signal or symbol",
        })
    }

    /// Outcomes, states and starts. The successors of a state are outcomes and earlier states that read a later
    /// signal, so that every walk ends.
    pub(super) fn table(&mut self) -> Result<Table, BytesError> {
        let mut table = Table::default();
        let mut part = self.part(OUTCOMES)?;
        let reasons: Vec<_> = reasons().collect();
        for _ in 0..part.short("the number of outcomes")? {
            let outcome = part.outcome(&reasons)?;
            table.add_outcome(outcome).ok_or_else(|| part.malformed("more outcomes than a table holds"))?;
        }
        part.end()?;
        let mut part = self.part(STATES)?;
        for _ in 0..part.short("the number of states")? {
            let [number] = part.array("a state")?;
            let axis = axis(number).ok_or_else(|| part.malformed("no signal has this number"))?;
            let mut row = [Target::from_number(0); WIDEST];
            for slot in row.iter_mut().take(axis.symbols().len()) {
                *slot = Target::from_number(part.short("a state lacks a successor")?);
            }
            let row = row.get(..axis.symbols().len()).unwrap_or_default();
            let what = "a state goes on to what is not there, not before it, or reads no later signal";
            table.add_state(axis, row).ok_or_else(|| part.malformed(what))?;
        }
        part.end()?;
        let mut part = self.part(ROOTS)?;
        let count = part.short("the number of starts")?;
        let mut starts = 0;
        for root in Root::all() {
            let at = part.at;
            let (event, need) = start_words(root);
            let named = starts < count && part.word("a start")? == event.as_bytes();
            if !named || part.word("a start")? != need.as_bytes() {
                return Err(BytesError::OtherAlphabet { at, what: "an event" });
            }
            let target = Target::from_number(part.short("a start leads nowhere")?);
            table.add_start(target).ok_or_else(|| part.malformed("a start leads to what is not there"))?;
            starts += 1;
        }
        if starts != count {
            return Err(BytesError::OtherAlphabet { at: part.at, what: "an event" });
        }
        part.end()?;
        Ok(table)
    }

    fn outcome(&mut self, reasons: &[(String, Reason)]) -> Result<Outcome, BytesError> {
        let [verdict, number] = self.array("an outcome")?;
        let word = self.word("the word of an outcome")?;
        let delivery = || Delivery::ALL.into_iter().find(|known| known.as_str().as_bytes() == word);
        let found = match (verdict, axis(number), number) {
            (0, Some(axis), _) => {
                let reason = reasons.iter().find(|(code, _)| code.as_bytes() == word);
                let at = self.at;
                let (_, reason) = reason.ok_or(BytesError::OtherAlphabet { at, what: "a reason" })?;
                Some(Outcome::Deny(axis, *reason))
            }
            (1, _, u8::MAX) => scope_from_word(word).map(Outcome::Ask),
            (2, _, u8::MAX) if word.is_empty() => Some(Outcome::Grant(None)),
            (2, _, u8::MAX) => delivery().map(|delivery| Outcome::Grant(Some(delivery))),
            _ => None,
        };
        found.ok_or_else(|| self.malformed("an outcome that does not exist ends here"))
    }
}

fn axis(number: u8) -> Option<Axis> {
    Axis::ALL.get(usize::from(number)).copied()
}
