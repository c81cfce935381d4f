//! Windows of a text: how a text is cut into them, the place of a text on a page, and the traits of classifiers.

use std::ops::Range;

use super::score::Risk;

/// A piece of text that is judged by itself: a few sentences, up to a few hundred characters.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The text, normalised (see [`crate::Normalised`]).
    pub text: &'a str,
    /// The place of the text on the page.
    pub place: WindowPlace,
}

/// A part of the window, and how much it added to the judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// The part, in bytes of the window's text, on character boundaries.
    pub span: Range<usize>,
    /// The amount that it added to the log odds of harm; below 0 if it lowered them.
    pub weight: f32,
}

/// A judgement of one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The probability that the window is harmful, calibrated if the classifier is [`Calibrated`].
    pub risk: Risk,
    /// The few parts that weighed most, heaviest first.
    pub contributions: Vec<Contribution>,
}

/// A classifier of windows of text.
///
/// It accepts any text, and its time is linear in the length. A framework plugs in a model of its own with this
/// trait, and gives it calibrated risks with [`Calibrated`].
pub trait WindowClassifier: Send + Sync {
    /// Returns the risk alone, as cheaply as possible.
    fn risk(&self, window: &Window<'_>) -> Risk;

    /// Returns the risk and the contributions.
    fn judge(&self, window: &Window<'_>) -> Judgement {
        Judgement { risk: self.risk(window), contributions: Vec::new() }
    }

    /// Returns the risks of many windows of one text, each judged by itself. A classifier that can share work between
    /// overlapping windows does it here. A window that is not on character boundaries of the text has the risk 1.
    fn risks(&self, text: &str, place: WindowPlace, windows: &[Range<usize>]) -> Vec<Risk> {
        let risk = |part: &Range<usize>| {
            text.get(part.clone()).map_or(Risk::CERTAIN, |text| self.risk(&Window { text, place }))
        };
        windows.iter().map(risk).collect()
    }
}

/// A classifier whose risks are frequencies: of the windows with the risk r, a share of r is harmful.
pub trait Calibrated: WindowClassifier {
    /// Returns the lowest risk that keeps this false-positive rate, as the model's card defines it: for the shipped models of
    /// injections, scams and insult words the rate is that of whole honest pages, each judged by its worst window (a
    /// split-conformal bound); for `mention.model` it is that of harmless texts. `None` if the model has no threshold for
    /// that rate.
    fn threshold(&self, false_positive_rate: f64) -> Option<Risk>;

    /// Returns the measured expected calibration error, in `[0, 1]`.
    fn calibration_error(&self) -> f64;
}

/// The place of a text on a page, as the browser reports it and not the page. It is a feature of the classifiers, and
/// decides which text a reader is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WindowPlace {
    /// Text that a person sees.
    Shown,
    /// Text in the document that a person does not see: not displayed, transparent, tiny, clipped, outside the
    /// page, of the background's colour, or covered.
    Hidden,
    /// The name of an element, its title, alternative text, placeholder or another attribute.
    Attribute,
    /// Text that is never displayed: comments, `noscript`, `template`, metadata.
    Markup,
    /// Text that a style sheet generates (`content`).
    Generated,
    /// Text of a frame with another origin than the page's.
    ForeignFrame,
    /// The place is unknown.
    Unknown,
}

impl WindowPlace {
    /// Every place.
    pub const ALL: [WindowPlace; 7] = [
        WindowPlace::Shown,
        WindowPlace::Hidden,
        WindowPlace::Attribute,
        WindowPlace::Markup,
        WindowPlace::Generated,
        WindowPlace::ForeignFrame,
        WindowPlace::Unknown,
    ];
}

/// The longest unit in bytes; a longer sentence is cut between words.
const LONGEST_UNIT: usize = 90;
/// The lengths, in bytes, of the windows from one start.
const LENGTHS: [usize; 3] = [100, 180, 300];

/// Returns the windows in which a text is judged. From every sentence, line, or piece of a long one begin windows of
/// growing length up to about 300 bytes, so that a sentence across a border is complete in another window, and one
/// that ends at the next blank line, so that the next paragraph does not affect it. They are in order of their start,
/// at most five for each, and their ends are character boundaries.
///
/// The time is linear in the length of the text.
///
/// ```
/// let text = "Black. Ships in two days.\nWash cold.";
/// let windows: Vec<&str> = classifier::windows(text).into_iter().map(|window| &text[window]).collect();
/// assert_eq!(windows[..3], ["Black.", text, "Ships in two days."]);
/// ```
pub fn windows(text: &str) -> Vec<Range<usize>> {
    let (units, blank) = units(text);
    let mut found: Vec<Range<usize>> = Vec::with_capacity(units.len() * 3);
    for (at, first) in units.iter().enumerate() {
        found.push(first.clone());
        let mut end = first.end;
        let mut lengths = LENGTHS.into_iter().peekable();
        let paragraph = blank.get(blank.partition_point(|line| *line < first.end));
        for next in units.iter().skip(at + 1) {
            let grown = next.end - first.start;
            while lengths.next_if(|length| grown > *length).is_some() {
                if found.last().is_some_and(|last| last.end < end) {
                    found.push(first.start..end);
                }
            }
            if lengths.peek().is_none() {
                break;
            }
            let ends = paragraph.is_some_and(|line| end <= *line && *line <= next.start);
            if ends && found.last().is_some_and(|last| last.end < end) {
                found.push(first.start..end);
            }
            end = next.end;
        }
        if found.last().is_some_and(|last| last.end < end) {
            found.push(first.start..end);
        }
    }
    found
}

/// Returns the sentences and lines of a text without the space around them, and the positions of the blank lines.
/// Long sentences are cut between words. A quoted value after a colon, and the text between angle brackets, are units
/// too.
fn units(text: &str) -> (Vec<Range<usize>>, Vec<usize>) {
    let mut blank = Vec::new();
    let mut line_is_blank = false;
    let mut cutter = Cutter { units: Vec::new(), begin: None, end: 0, gap: None };
    let (mut last, mut stopped) = (' ', false);
    for (at, character) in text.char_indices() {
        let after = at + character.len_utf8();
        if character.is_whitespace() {
            if character == '\n' || stopped {
                cutter.cut();
            } else if cutter.begin.is_some() {
                cutter.gap = Some((cutter.end, after));
            }
            stopped = false;
            if character == '\n' {
                if line_is_blank {
                    blank.push(at);
                }
                line_is_blank = true;
            }
            continue;
        }
        line_is_blank = false;
        if character == '<' || (is_quote(character) && last == ':') {
            cutter.cut();
        }
        cutter.take(at, after);
        stopped =
            matches!(character, '.' | '!' | '?') || (stopped && (is_quote(character) || character == ')'));
        if matches!(character, '>' | '\u{3002}' | '\u{FF01}' | '\u{FF1F}') {
            cutter.cut();
        }
        last = character;
    }
    cutter.cut();
    (cutter.units, blank)
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '\u{2018}'..='\u{201F}')
}

struct Cutter {
    units: Vec<Range<usize>>,
    /// The start of the current unit, and the end of its last visible character.
    begin: Option<usize>,
    end: usize,
    /// The last space in it.
    gap: Option<(usize, usize)>,
}

impl Cutter {
    fn take(&mut self, at: usize, after: usize) {
        let begin = *self.begin.get_or_insert(at);
        if after - begin > LONGEST_UNIT && at > begin {
            // A word longer than a unit is cut at the limit.
            let (stop, next) = self.gap.take().unwrap_or((at, at));
            self.units.push(begin..stop);
            self.begin = Some(next);
        }
        self.end = after;
    }

    fn cut(&mut self) {
        if let Some(begin) = self.begin.take() {
            self.units.push(begin..self.end);
        }
        self.gap = None;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn sentences_lines_values_and_tags_are_units() {
        let cut =
            |text: &'static str| -> Vec<&str> { units(text).0.into_iter().map(|unit| &text[unit]).collect() };
        assert_eq!(cut(" One two.  Three!\nfour e.g.five "), ["One two.", "Three!", "four e.g.five"]);
        assert_eq!(cut("{'body': 'Do it'}"), ["{'body':", "'Do it'}"]);
        assert_eq!(cut("<p>Do it</p>x"), ["<p>", "Do it", "</p>", "x"]);
        assert_eq!(cut("He said \"go.\" Then"), ["He said \"go.\"", "Then"]);
        assert_eq!(cut(""), [] as [&str; 0]);
    }

    #[test]
    fn long_lines_are_cut_between_words_and_long_words_anywhere() {
        let text = "word ".repeat(100);
        assert!(
            units(&text)
                .0
                .iter()
                .all(|unit| unit.len() <= LONGEST_UNIT && text[unit.clone()].ends_with("word"))
        );
        let text = "é".repeat(1000);
        let (units, _) = units(&text);
        assert!(units.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!((units[0].start, units[units.len() - 1].end), (0, text.len()));
    }

    #[test]
    fn windows_overlap_and_stay_short() {
        let text = "Some words stand here, and more of them. ".repeat(50);
        let windows = windows(&text);
        assert!(windows.iter().all(|window| window.len() <= LENGTHS[2]));
        assert!(windows.windows(2).all(|pair| pair[0].start <= pair[1].start));
        // One window contains any 100 bytes completely.
        for start in 0..text.len() - 100 {
            assert!(
                windows.iter().any(|window| window.start <= start && start + 100 <= window.end),
                "{start}"
            );
        }
    }
}
