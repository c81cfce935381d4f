//! The running text of a page's frames in one piece, so that what is split over elements is read as a person
//! would read it.
//!
//! Short texts of controls are no part of it, and are read one by one: "Pay now", "Support chat", "Message" and
//! "Send message" below one another are a form, and read like an order only together.

use std::collections::HashMap;
use std::ops::Range;

use browser_signals::outline::{Line, Outline, Place, Purpose, Words, is_control};

/// A text of a control with more characters than this runs on with what stands around it.
const LONGEST_APART: usize = 32;

/// Running text of one frame and one place, or the text of one control.
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) place: classifier::Place,
    /// Whether it is the short text of a control.
    pub(crate) apart: bool,
    /// Where stretches of the outline's words begin in the text, in order.
    starts: Vec<Start>,
    line: usize,
}

struct Start {
    /// Where, in bytes of the text.
    byte: usize,
    /// How many bytes of ours stand before it.
    gap: usize,
    /// Which words of the outline.
    words: usize,
}

impl Reading {
    /// All running text of which `told` says whether it is told as unseen; none where it is not told.
    pub(crate) fn all(outline: &Outline, told: impl Fn(usize) -> Option<bool>) -> Vec<Reading> {
        let mut readings = Readings::default();
        let mut at = 0;
        for (number, line) in outline.lines.iter().enumerate() {
            let apart = stands_apart(line).then_some(number);
            for words in line.words() {
                if words.purpose == Purpose::Text
                    && let Some(unseen) = told(at)
                {
                    readings.take(
                        Of { frame: words.frame, place: place_in(outline, words), unseen, apart },
                        words,
                        at,
                        number,
                    );
                }
                at += 1;
            }
        }
        readings.all
    }

    /// The parts of words that lie in a span of the text.
    pub(super) fn parts(&self, span: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        let from = self.starts.partition_point(|start| start.byte <= span.start).saturating_sub(1);
        let mut parts = Vec::new();
        for (index, start) in self.starts.iter().enumerate().skip(from) {
            if start.byte >= span.end {
                break;
            }
            let next = self.starts.get(index + 1);
            // A line break of ours may stand before the next words; it belongs to nobody.
            let end = next.map_or(self.text.len(), |next| next.byte - next.gap);
            let byte = start.byte;
            let part = span.start.max(byte) - byte..span.end.min(end).max(byte) - byte;
            if !part.is_empty() {
                parts.push((start.words, part));
            }
        }
        parts
    }
}

/// Whether a line is the short text of a control. Those of links run on: they stand in the middle of sentences.
fn stands_apart(line: &Line) -> bool {
    let text = line.words().filter(|words| words.purpose == Purpose::Text);
    line.role().is_some_and(|role| role != "link" && is_control(role))
        && text.flat_map(|words| words.text.chars()).nth(LONGEST_APART).is_none()
}

/// Where words stood, for a classifier.
pub(crate) fn place_of(outline: &Outline, words: &Words) -> classifier::Place {
    let origin = |frame: usize| outline.frames.get(frame).cloned().flatten();
    match words.place {
        Place::Hidden => classifier::Place::Hidden,
        Place::Attribute => classifier::Place::Attribute,
        _ if words.frame != 0 && (origin(words.frame).is_none() || origin(words.frame) != origin(0)) => {
            classifier::Place::ForeignFrame
        }
        Place::Generated => classifier::Place::Generated,
        Place::Shown => classifier::Place::Shown,
    }
}

/// Where words stood; what a style sheet writes runs on with what is shown.
fn place_in(outline: &Outline, words: &Words) -> classifier::Place {
    match place_of(outline, words) {
        classifier::Place::Generated => classifier::Place::Shown,
        place => place,
    }
}

/// What a reading is of: words of one frame and one place, those told as unseen apart, and those of a line that
/// stands apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Of {
    frame: usize,
    place: classifier::Place,
    unseen: bool,
    apart: Option<usize>,
}

#[derive(Default)]
struct Readings {
    all: Vec<Reading>,
    by: HashMap<Of, usize>,
}

impl Readings {
    fn take(&mut self, of: Of, words: &Words, at: usize, line: usize) {
        let index = *self.by.entry(of).or_insert(self.all.len());
        if index == self.all.len() {
            self.all.push(Reading {
                text: String::new(),
                place: of.place,
                apart: of.apart.is_some(),
                starts: Vec::new(),
                line,
            });
        }
        let Some(reading) = self.all.get_mut(index) else { return };
        let new_line = reading.line != line;
        if new_line {
            reading.text.push('\n');
            reading.line = line;
        }
        reading.starts.push(Start { byte: reading.text.len(), gap: usize::from(new_line), words: at });
        reading.text.push_str(&words.text);
    }
}
