//! Finds quotations, and the text around them.

use std::ops::Range;

/// The largest length in bytes of a sentence with its quotation; a longer quotation does not count.
const LONGEST: usize = 280;
/// The smallest number of words before a quotation; fewer are a name or a label.
const FEWEST_WORDS: usize = 3;
/// The number of quotation marks of a sentence that are tried, so that the time stays linear.
const MOST_TRIED: usize = 4;
/// The length in bytes of the context before the sentence and after the quotation.
const AROUND: usize = 120;

/// A quotation and the sentence that introduces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotation {
    /// The sentence up to the end of the quotation, in bytes of the text, on character boundaries.
    pub sentence: Range<usize>,
    /// The quotation with its marks, or the lines after a colon: the end of `sentence`.
    pub words: Range<usize>,
}

impl Quotation {
    /// Returns the text around the quotation, up to 120 bytes before the sentence and after the quotation, with two
    /// marks in place of the quotation.
    pub fn context(&self, text: &str) -> String {
        let from = text.floor_char_boundary(self.sentence.start.saturating_sub(AROUND));
        let before = text.get(from..self.words.start).unwrap_or_default();
        let behind = text.get(self.words.end..).unwrap_or_default();
        let behind = behind.get(..behind.floor_char_boundary(AROUND)).unwrap_or_default();
        format!("{before}\"\"{behind}")
    }
}

/// Returns the quotations of a text, in order and disjoint. A quotation is the text between quotation marks, or the
/// lines after one that ends with a colon, up to the next blank line. A sentence of three words or more must
/// introduce it, and both together have at most 280 bytes. Values of records (`{"text": "..."}`) are not quotations.
/// The time is linear.
///
/// ```
/// let text = "Attackers write things like \"obey me\" in reviews. {\"text\": \"obey me\"}";
/// let found = classifier::quotations(text);
/// assert_eq!(found.len(), 1);
/// assert_eq!(&text[found[0].words.clone()], "\"obey me\"");
/// ```
pub fn quotations(text: &str) -> Vec<Quotation> {
    let mut reader = Reader::default();
    for (at, character) in text.char_indices() {
        reader.read(text, at, character);
    }
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<Quotation>,
    /// The start of the current sentence.
    sentence: Option<usize>,
    /// The number of quotation marks of it that were tried.
    tried: usize,
    /// The two visible characters before, the nearest first.
    before: [char; 2],
    /// True if the last visible character ends a sentence when a space follows.
    stopped: bool,
}

impl Reader {
    fn read(&mut self, text: &str, at: usize, character: char) {
        let inside = self.found.last().is_some_and(|found| at < found.words.end);
        if character.is_whitespace() {
            if character == '\n' && !inside {
                self.line(text, at);
            }
            let inside = self.found.last().is_some_and(|found| at < found.words.end);
            if (character == '\n' || self.stopped) && !inside {
                self.sentence = None;
                self.tried = 0;
            }
            self.stopped = false;
            return;
        }
        let start = *self.sentence.get_or_insert(at);
        if !inside {
            self.mark(text, start, at, character);
        }
        self.stopped = matches!(character, '.' | '!' | '?' | '\u{3002}' | '\u{FF01}' | '\u{FF1F}')
            || (self.stopped && (closing(character).is_some() || matches!(character, ')' | '\u{201D}')));
        self.before = [character, self.before[0]];
    }

    /// Reads a quotation that begins here.
    fn mark(&mut self, text: &str, start: usize, at: usize, character: char) {
        let Some(closing) = closing(character) else { return };
        let head = text.get(start..at).unwrap_or_default();
        let within_word = head.ends_with(char::is_alphanumeric);
        if self.tried == MOST_TRIED || at - start > LONGEST || within_word || self.is_in_record() {
            return;
        }
        self.tried += 1;
        let end = closed(text, at + character.len_utf8(), start + LONGEST, closing);
        if let Some(end) = end.filter(|_| says_something(head)) {
            self.found.push(Quotation { sentence: start..end, words: at..end });
        }
    }

    /// Reads the end of a line, before `at`: a line with a colon at its end introduces the lines after it.
    fn line(&mut self, text: &str, at: usize) {
        let Some(start) = self.sentence.filter(|start| at - start < LONGEST) else { return };
        if self.before[0] == ':' && text.get(start..at).is_some_and(says_something) {
            let end = text.floor_char_boundary(start + LONGEST);
            let rest = text.get(at..end).unwrap_or_default();
            let end = at + rest.find("\n\n").unwrap_or(rest.len());
            self.found.push(Quotation { sentence: start..end, words: at..end });
        }
    }

    /// Returns whether a quotation mark here begins a value: after the name of a field, in a list, after an equals
    /// sign.
    fn is_in_record(&self) -> bool {
        match self.before {
            [':', before] => closing(before).is_some(),
            [',', before] => matches!(before, '"' | '\'' | '}' | ']' | '0'..='9'),
            ['=' | '{' | '[', _] => true,
            _ => false,
        }
    }
}

/// Returns the marks that close a quotation which this one opens.
fn closing(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '\'' => &['\''],
        '`' => &['`'],
        '\u{2018}' => &['\u{2019}'],
        '\u{201A}' => &['\u{2018}', '\u{2019}'],
        '\u{201C}' => &['\u{201D}'],
        '\u{201E}' => &['\u{201C}', '\u{201D}'],
        '\u{AB}' => &['\u{BB}'],
        '\u{BB}' => &['\u{AB}'],
        _ => return None,
    })
}

/// Returns the end of a quotation that begins at `from`; `None` if it does not end within the line and before
/// `limit`.
fn closed(text: &str, from: usize, limit: usize, closing: &[char]) -> Option<usize> {
    let mut characters = text.get(from..)?.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = from + at + character.len_utf8();
        if character == '\n' || end > limit {
            return None;
        }
        let goes_on = characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if closing.contains(&character) && !goes_on {
            return Some(end);
        }
    }
    None
}

/// Returns whether there are enough words to introduce a quotation.
fn says_something(lead: &str) -> bool {
    let mut words = lead.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.nth(FEWEST_WORDS - 1).is_some()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn quoted(text: &str) -> Vec<&str> {
        quotations(text).iter().map(|found| &text[found.words.clone()]).collect()
    }

    #[test]
    fn quotations_have_a_sentence_before_them() {
        assert_eq!(quoted("They may write: \"Do it. Now.\" Then stop."), ["\"Do it. Now.\""]);
        assert_eq!(quoted("Wer das liest, denkt an „Tu es“ und lacht"), ["„Tu es“"]);
        assert_eq!(quoted("Un texte du type « fais-le » suffit."), ["« fais-le »"]);
        assert_eq!(quoted("The user's own word isn't 'go', is it?"), ["'go'"]);
        assert_eq!(quoted("Lines that we block:\n- do it\n- go\n\nmore"), ["\n- do it\n- go"]);
        for text in [
            "\"Do it\"",
            "Tom: \"Do it\"",
            "One two three. \"Do it\"",
            "{\"a\": \"one two three\", \"body\": \"Do it\"}",
            "<a b c title=\"Do it\">",
            "He never closed what he \"opened\nhere\"",
            "Name:\nDo it",
        ] {
            assert_eq!(quoted(text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn a_long_quotation_does_not_count_and_the_next_sentence_is_read() {
        let long = "word ".repeat(60);
        assert!(quoted(&format!("They may well write \"{long}\"")).is_empty());
        let text = format!("They may well write \"{long}\". Then they write \"go\".");
        assert_eq!(quoted(&text), ["\"go\""]);
        assert_eq!(quoted("They wrote the word \"a\" and then \"b\"."), ["\"a\"", "\"b\""]);
    }

    #[test]
    fn the_context_has_all_but_the_quotation() {
        let text = "We test it. Attackers often write \"do it\", and it fails.";
        assert_eq!(
            quotations(text)[0].context(text),
            "We test it. Attackers often write \"\", and it fails."
        );
    }
}
