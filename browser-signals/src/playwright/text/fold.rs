//! The text of an element in the element's own line.

use super::lines::FrameItem;
use crate::outline::{LinePart, Purpose, TextPlace, Words, is_control, tidy};
use crate::playwright::visibility::Separation;

/// Merges the lines below an element into its own where they are text alone: one that only repeats the name is written
/// once, and a line without a name takes the text.
pub(super) fn fold(lines: &mut Vec<FrameItem>, at: usize, frame: usize) {
    let below = lines.get(at + 1..).unwrap_or_default();
    if below.is_empty() {
        return;
    }
    let mut texts: Vec<&[Words]> = Vec::with_capacity(below.len());
    for item in below {
        match item {
            FrameItem::Line(line) if line.bare => texts.push(&line.text),
            _ => return open(lines, at),
        }
    }
    let shown_of = |words: &&Words| words.place != TextPlace::Hidden;
    let shown: Vec<String> = texts
        .iter()
        .map(|words| words.iter().filter(shown_of).map(|it| it.text.as_str()).collect())
        .collect();
    let shown = shown.join("\n");
    let Some(FrameItem::Line(line)) = lines.get(at) else {
        return;
    };
    let name = line.head.iter().find_map(|part| match part {
        LinePart::Page(words) if words.purpose != Purpose::Address => Some(tidy(&words.text)),
        _ => None,
    });
    let repeats = name.as_ref().is_some_and(|name| *name == tidy(&shown));
    if !repeats && name.is_some() && !tidy(&shown).is_empty() {
        return open(lines, at);
    }
    let mut text: Vec<Words> = Vec::new();
    for line in lines.drain(at + 1..) {
        let FrameItem::Line(line) = line else { continue };
        if !text.is_empty() {
            text.push(separator(Separation::Line, frame));
        }
        text.extend(line.text);
    }
    let Some(FrameItem::Line(line)) = lines.get_mut(at) else {
        return;
    };
    if repeats && has_line_end(&shown) {
        // A name is on one line, and the text shows its lines. An agent finds a control by its name.
        let control = line.role().is_some_and(is_control);
        line.head.retain(|part| control || !matches!(part, LinePart::Page(_)));
    } else if repeats {
        text.retain(|words| words.place == TextPlace::Hidden);
        for part in &mut line.head {
            if let LinePart::Page(words) = part
                && words.purpose == Purpose::Echo
            {
                words.purpose = Purpose::Text;
            }
        }
    }
    line.text = text;
}

fn open(lines: &mut [FrameItem], at: usize) {
    if let Some(FrameItem::Line(line)) = lines.get_mut(at) {
        line.opens = true;
    }
}

/// White space between two texts. It is visible, whatever stands around it.
pub(super) fn separator(separation: Separation, frame: usize) -> Words {
    let text = separation.white_space().to_owned();
    Words { text, place: TextPlace::Shown, purpose: Purpose::Text, frame }
}

/// Whether a text has words on more than one line.
fn has_line_end(text: &str) -> bool {
    text.split('\n').filter(|line| !tidy(line).is_empty()).nth(1).is_some()
}
