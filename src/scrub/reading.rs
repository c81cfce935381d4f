//! The running text of a page's frames in one piece, so that what is split over elements is read as a person
//! would read it.

use std::ops::Range;

use browser_signals::outline::{Outline, Purpose, Words};

use super::place_of;

/// Running text of one frame and one place.
pub(super) struct Reading {
    pub(super) text: String,
    pub(super) place: classifier::Place,
    frame: usize,
    unseen: bool,
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
    pub(super) fn all(outline: &Outline, told: impl Fn(usize) -> Option<bool>) -> Vec<Reading> {
        let mut readings: Vec<Reading> = Vec::new();
        let mut at = 0;
        for (number, line) in outline.lines.iter().enumerate() {
            for words in line.words() {
                if words.purpose == Purpose::Text
                    && let Some(unseen) = told(at)
                {
                    take(&mut readings, outline, words, unseen, at, number);
                }
                at += 1;
            }
        }
        readings
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

fn take(readings: &mut Vec<Reading>, outline: &Outline, words: &Words, unseen: bool, at: usize, line: usize) {
    let place = place_of(outline, words);
    // What a style sheet writes runs on with what is shown.
    let place = if place == classifier::Place::Generated { classifier::Place::Shown } else { place };
    let same = |it: &Reading| it.frame == words.frame && it.place == place && it.unseen == unseen;
    let index = match readings.iter().position(same) {
        Some(index) => index,
        None => {
            readings.push(Reading {
                text: String::new(),
                place,
                frame: words.frame,
                unseen,
                starts: Vec::new(),
                line,
            });
            readings.len() - 1
        }
    };
    let Some(reading) = readings.get_mut(index) else { return };
    let new_line = reading.line != line;
    if new_line {
        reading.text.push('\n');
        reading.line = line;
    }
    reading.starts.push(Start { byte: reading.text.len(), gap: usize::from(new_line), words: at });
    reading.text.push_str(&words.text);
}
