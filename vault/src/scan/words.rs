//! Parts of a value that a page shows by themselves: one word of a name, the local part of an e-mail address, a
//! street next to a house number.
//!
//! They are short, so a part counts only as a word of the text, and one that is also an ordinary word only with a
//! capital letter.

use std::ops::Range;

use sirl::Field;

use super::find::{FEWEST, LONG, Needles};
use super::street;
use super::word::{WordPart, is_ordinary, is_title, is_whole_word};

/// A part of a name with at least so many letters is found inside a longer word too.
const FEWEST_INSIDE: usize = 8;

impl Needles {
    /// Adds the parts of the value that was added last.
    pub(super) fn add_words(&mut self, field: Field, value: &[u8]) {
        let Ok(value) = std::str::from_utf8(value) else { return };
        match field {
            Field::Name => each_name(value, |name| self.add_name(name)),
            Field::Email => self.add_local(value),
            Field::Street => street::each_spelling(value, |pieces, side| {
                self.add_word(pieces, WordPart::Street(side));
            }),
            _ => {}
        }
    }

    fn add_name(&mut self, name: &str) {
        let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
        if letters >= FEWEST && !is_title(name) {
            self.add_word(&[name], WordPart::Name { letters, ordinary: is_ordinary(name) });
        }
    }

    /// Adds the local part of an address, unless it is that of an office (`info@`).
    fn add_local(&mut self, address: &str) {
        let Some((local, _)) = address.rsplit_once('@') else { return };
        let base = local.split('+').next().filter(|base| *base != local);
        for local in [Some(local), base].into_iter().flatten() {
            if !is_ordinary(local) {
                self.add_name(local);
            }
        }
    }
}

/// Passes each part of a name to `take`: its words, and the words within one that a hyphen or an apostrophe joins.
fn each_name(name: &str, mut take: impl FnMut(&str)) {
    for word in name.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '(' | ')')) {
        take(word);
        let mut within = word.split(|c: char| !c.is_alphanumeric()).filter(|part| *part != word);
        within.by_ref().for_each(&mut take);
    }
}

/// Tells if a part of a value counts at this place of a text, and returns the place of the house number next to it,
/// which is empty if the part is no street.
pub(super) fn counts(text: &str, span: &Range<usize>, word: WordPart) -> Option<Range<usize>> {
    match word {
        WordPart::Name { letters, ordinary } => {
            is_name(text, span, letters, ordinary).then_some(span.end..span.end)
        }
        WordPart::Street(side) => {
            is_whole_word(text, span).then(|| street::house_number(text, span, side)).flatten()
        }
    }
}

fn is_name(text: &str, span: &Range<usize>, letters: usize, ordinary: bool) -> bool {
    let here = text.get(span.clone()).unwrap_or("");
    let alone = is_whole_word(text, span) || is_genitive(text, span);
    match ordinary {
        true => alone && here.starts_with(char::is_uppercase) && !here.contains(char::is_whitespace),
        false => (alone || letters >= FEWEST_INSIDE) && is_joined(here, letters),
    }
}

/// Tells if one `s` follows, and then the end of the word.
fn is_genitive(text: &str, span: &Range<usize>) -> bool {
    text.get(span.end..).is_some_and(|after| after.starts_with('s'))
        && is_whole_word(text, &(span.start..span.end + 1))
}

/// Tells if the place is one word or single letters: `Mart in` is two words and not the name Martin.
fn is_joined(here: &str, letters: usize) -> bool {
    if letters < LONG {
        return !here.contains(char::is_whitespace);
    }
    here.lines().map(str::trim).all(|line| {
        !line.contains(char::is_whitespace) || line.split_whitespace().all(|run| run.chars().count() <= 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_words_and_those_within_them() {
        let mut parts = Vec::new();
        each_name("Vandersloot, Anne-Marie O'Brien", |part| parts.push(part.to_owned()));
        let found: Vec<&str> = parts.iter().map(String::as_str).filter(|part| part.len() >= 4).collect();
        assert_eq!(found, ["Vandersloot", "Anne-Marie", "Anne", "Marie", "O'Brien", "Brien"]);
    }

    #[test]
    fn two_words_are_no_name() {
        assert!(is_joined("Martin", 6) && is_joined("M a r t i n", 6) && is_joined("Mar\ntin", 6));
        assert!(!is_joined("mart in", 6) && !is_joined("a nn a", 4));
    }
}
