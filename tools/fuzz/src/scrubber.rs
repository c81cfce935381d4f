//! The rendered text of a page: any content, in any place, under both settings.

use std::sync::Arc;

use classifier::{Risk, Window, WindowClassifier};
use portcullis::page_text::{HiddenText, Quarantine, ScrubSettings, Scrubber};
use portcullis::signals::outline::{
    BESIDE, LinePart, Outline, OutlineLine, Purpose, TextPlace, UNSEEN, WITHHELD, Words, quoted, tidy,
};

use crate::input;

/// Judges windows with one word as an attack.
struct WordClassifier;

impl WindowClassifier for WordClassifier {
    fn risk(&self, window: &Window<'_>) -> Risk {
        if window.text.contains("zebra") { Risk::CERTAIN } else { Risk::NONE }
    }
}

/// Makes a page of the input, with one text for each line. The first character of a line chooses its place and purpose.
///
/// # Panics
/// The rendered text has a line, a head or a mark that the bridge did not write, or content is lost.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    let mut outline = Outline { frames: vec![None, None], ..Outline::default() };
    for line in text.split('\u{1}') {
        let first = line.chars().next().map_or(0, u32::from);
        let place = [TextPlace::Shown, TextPlace::Generated, TextPlace::Attribute, TextPlace::Hidden];
        let purpose = [Purpose::Text, Purpose::Echo, Purpose::Label, Purpose::Name, Purpose::Title];
        let words = Words {
            text: line.to_owned(),
            place: place.get(first as usize % 4).copied().unwrap_or(TextPlace::Hidden),
            purpose: purpose.get(first as usize / 4 % 5).copied().unwrap_or(Purpose::Text),
            frame: first as usize / 20 % 2,
        };
        match (words.purpose, outline.lines.last_mut()) {
            (Purpose::Text, Some(last)) if last.bare => last.text.push(words),
            (Purpose::Text, _) => outline.lines.push(OutlineLine {
                head: vec![LinePart::Own("- text".to_owned())],
                text: vec![words],
                bare: true,
                ..OutlineLine::default()
            }),
            _ => outline.lines.push(OutlineLine {
                head: vec![
                    LinePart::Own("- button".to_owned()),
                    LinePart::Page(words),
                    LinePart::Own(" [ref=e1]".to_owned()),
                ],
                ..OutlineLine::default()
            }),
        }
    }
    for hidden in [HiddenText::Drop, HiddenText::Quote] {
        let settings = ScrubSettings { hidden, ..ScrubSettings::default() };
        let scrubbed = Scrubber::new(settings, Some(Arc::new(WordClassifier))).scrub(&outline);
        for line in scrubbed.text.lines() {
            let rest: String = outside(line)
                .replace(WITHHELD, "")
                .replace(UNSEEN, "")
                .replace(BESIDE, "")
                .split_whitespace()
                .collect();
            // A further line of a text is in quotes as a whole.
            assert!(
                matches!(rest.as_str(), "" | "-text:" | "-button[ref=e1]"),
                "a line that the bridge did not write: {line}"
            );
        }
        let heads = scrubbed.text.lines().filter(|line| line.starts_with("- ")).count();
        assert!(heads <= outline.lines.len(), "more lines than the page has");
        let withheld: usize = scrubbed.withheld.iter().map(|it| letters(&it.words)).sum();
        let all: usize = outline.words().map(|it| letters(&it.text)).sum();
        assert_eq!(letters(&scrubbed.words) + withheld, all, "words were lost");
        let quarantine = Quarantine::default();
        quarantine.add(&scrubbed.withheld, 0);
    }
    let once = tidy(&text);
    assert_eq!(tidy(&once), once, "tidied twice");
    assert!(!quoted(&text).contains(char::is_control), "a control character in quotes");
}

/// The number of visible letters and digits.
fn letters(text: &str) -> usize {
    let shows = |c: &char| c.is_alphanumeric() && !tidy(c.encode_utf8(&mut [0; 4])).is_empty();
    text.chars().filter(shows).count()
}

/// A line without its quoted parts.
fn outside(line: &str) -> String {
    let (mut out, mut within, mut escaped) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '\\' if within && !escaped => escaped = true,
            '"' if !escaped => within = !within,
            _ => {
                escaped = false;
                if !within {
                    out.push(c);
                }
            }
        }
    }
    assert!(!within, "open quotes in {line}");
    out
}
