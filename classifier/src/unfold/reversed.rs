//! Text written backwards.

use std::ops::Range;

use super::collector::{Collector, Disguise};
use super::words::{Reading, reading};

/// The points that a stretch gains and loses by a word.
const BACKWARDS: i32 = 4;
const UNKNOWN: i32 = -1;
const FORWARDS: i32 = -4;

/// The smallest number of reversed words in a stretch; two are enough if they are long.
const FEWEST: usize = 3;
const LONG: usize = 11;

/// The length of the unknown words on either side of a stretch that are taken along, in bytes.
const AROUND: usize = 200;

/// Finds stretches whose words are common ones when read backwards, and not as they are written. A stretch is
/// reported twice, read backwards as a whole and with each word read backwards in its place, since both are in use.
///
/// Only common words count: a short text without two or three of them is not recognised. In return, texts of
/// languages that are not in the list are left alone.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut stretch = Stretch::default();
    for word in words(text) {
        match reading(text.get(word.clone()).unwrap_or_default()) {
            Reading::Backwards => stretch.gain(word),
            Reading::Forwards => stretch.lose(collector, FORWARDS),
            Reading::Unknown => stretch.lose(collector, UNKNOWN),
        }
    }
    stretch.close(collector);
}

/// Returns the runs of letters of a text.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(char::is_alphabetic)?;
        let run = text.get(start..)?;
        let length = run.find(|character: char| !character.is_alphabetic()).unwrap_or(run.len());
        at = start + length;
        Some(start..at)
    })
}

/// The words since the first reversed one, while there are points left.
#[derive(Default)]
struct Stretch {
    points: i32,
    count: usize,
    letters: usize,
    at: Range<usize>,
}

impl Stretch {
    fn gain(&mut self, word: Range<usize>) {
        if self.count == 0 {
            self.at.start = word.start;
        }
        self.at.end = word.end;
        self.count += 1;
        self.letters += word.len();
        // The points are bounded, so that a long stretch does not include all the text after it.
        self.points = (self.points + BACKWARDS).min(6 * BACKWARDS);
    }

    fn lose(&mut self, collector: &mut Collector<'_>, points: i32) {
        if self.count > 0 {
            self.points += points;
            if self.points <= 0 {
                self.close(collector);
            }
        }
    }

    fn close(&mut self, collector: &mut Collector<'_>) {
        let Stretch { count, letters, at, .. } = std::mem::take(self);
        if count >= FEWEST || (count == 2 && letters >= LONG) {
            report(collector, widened(collector.text(), at));
        }
    }
}

/// Returns the stretch with the unknown words on either side, in its line.
fn widened(text: &str, at: Range<usize>) -> Range<usize> {
    let is_forwards = |part: &str, word: &Range<usize>| {
        reading(part.get(word.clone()).unwrap_or_default()) == Reading::Forwards
    };
    let cut = text.ceil_char_boundary(at.start.saturating_sub(AROUND)).min(at.start);
    let before = text.get(cut..at.start).unwrap_or_default();
    let line = cut + before.rfind('\n').map_or(0, |place| place + 1);
    let before = text.get(line..at.start).unwrap_or_default();
    let mut start = None;
    // A first word that may have been cut in two is left out.
    for word in words(before).filter(|word| word.start > 0 || line == 0 || line > cut) {
        start = if is_forwards(before, &word) { None } else { start.or(Some(line + word.start)) };
    }
    let start = start.unwrap_or(at.start);
    let after_end = text.floor_char_boundary(at.end.saturating_add(AROUND).min(text.len()));
    let after = text.get(at.end..after_end).unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let mut end = at.end;
    for word in words(after) {
        if is_forwards(after, &word) {
            break;
        }
        end = at.end + word.end;
    }
    start..end
}

fn report(collector: &mut Collector<'_>, at: Range<usize>) {
    let text = collector.text().get(at.clone()).unwrap_or_default();
    let whole: String = text.chars().rev().collect();
    let mut each = String::with_capacity(text.len());
    let mut copied = 0;
    for word in words(text) {
        each.push_str(text.get(copied..word.start).unwrap_or_default());
        each.extend(text.get(word.clone()).unwrap_or_default().chars().rev());
        copied = word.end;
    }
    each.push_str(text.get(copied..).unwrap_or_default());
    collector.whole(Disguise::Reversed, at.clone(), &whole, true);
    collector.whole(Disguise::Reversed, at, &each, true);
}
