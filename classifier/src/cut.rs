//! Where a text is cut into the windows that are judged.

use std::ops::Range;

/// A sentence longer than this many bytes is cut between words.
const LONGEST_UNIT: usize = 90;
/// The lengths, in bytes, that the windows from one beginning grow to.
const LENGTHS: [usize; 3] = [100, 180, 300];

/// The windows that a text is judged by: from every sentence, line, or piece of a long one, windows of growing length
/// up to about 300 bytes, so that what stands over a border stands whole in another window; and from each to the next
/// blank line, so that what follows a paragraph has no say in it. They come in order of
/// where they begin, at most five for each beginning, and their ends are character boundaries.
///
/// The time is linear in the text's length.
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

/// The sentences and lines of a text, without the space around them; long ones are cut between words. A quoted value
/// after a colon and what stands between angle brackets are units too. And where the blank lines are.
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
    /// Where the unit at work begins, and the end of its last visible character.
    begin: Option<usize>,
    end: usize,
    /// The last space in it.
    gap: Option<(usize, usize)>,
}

impl Cutter {
    fn take(&mut self, at: usize, after: usize) {
        let begin = *self.begin.get_or_insert(at);
        if after - begin > LONGEST_UNIT && at > begin {
            // A word without end is cut where it stands.
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
        // Whatever 100 bytes one takes, one window has them all.
        for start in 0..text.len() - 100 {
            assert!(
                windows.iter().any(|window| window.start <= start && start + 100 <= window.end),
                "{start}"
            );
        }
    }
}
