//! Parts of a value that a page shows by themselves: one word of a name, what stands before the @ of an e-mail
//! address, a street beside a house number.
//!
//! They are short, so each counts only where it stands as a word, and a part that is also an ordinary word only where
//! it is written with a capital letter.

use std::ops::Range;

use sirl::Field;
use unicode_normalization::char::decompose_compatible;
use zeroize::Zeroizing;

use super::find::{FEWEST, LONG, Needles};
use super::ordinary::{is_ordinary, is_title};
use super::stands_alone;
use super::street::{self, Beside};

/// From how many letters on a part of a name is found inside a longer word too.
const INSIDE: usize = 8;

/// Where a part of a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// One word of a name, or a local part.
    Name {
        /// How many letters and digits it has.
        letters: usize,
        /// Whether it is a word of the language too.
        ordinary: bool,
    },
    /// A street, with a house number on the side that the value has it, or else on the other.
    Street(Beside),
}

impl Needles {
    /// Adds the words of the value that was added last.
    pub(super) fn add_words(&mut self, field: Field, value: &[u8]) {
        let Ok(value) = std::str::from_utf8(value) else { return };
        match field {
            Field::Name => each_name(value, |name| self.add_name(name)),
            Field::Email => self.add_local(value),
            Field::Street => street::each_spelling(value, |pieces, beside| {
                self.add_word(pieces, Word::Street(beside));
            }),
            _ => {}
        }
    }

    fn add_name(&mut self, name: &str) {
        let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
        if letters >= FEWEST && !is_title(name) {
            self.add_word(&[name], Word::Name { letters, ordinary: is_ordinary(name) });
        }
    }

    /// An address of an office (`info@`) names nobody.
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

/// Gives `take` each part of a name: its words, and the words within one that a hyphen or an apostrophe joins.
fn each_name(name: &str, mut take: impl FnMut(&str)) {
    for word in name.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '(' | ')')) {
        take(word);
        let mut within = word.split(|c: char| !c.is_alphanumeric()).filter(|part| *part != word);
        within.by_ref().for_each(&mut take);
    }
}

/// Whether a part of a value counts at this place of a text; then also the place of the house number that goes with
/// it, which is empty for what is no street.
pub(super) fn counts(text: &str, span: &Range<usize>, word: Word) -> Option<Range<usize>> {
    match word {
        Word::Name { letters, ordinary } => {
            stands_as_name(text, span, letters, ordinary).then_some(span.end..span.end)
        }
        Word::Street(beside) => {
            stands_alone(text, span).then(|| street::house_number(text, span, beside)).flatten()
        }
    }
}

fn stands_as_name(text: &str, span: &Range<usize>, letters: usize, ordinary: bool) -> bool {
    let here = text.get(span.clone()).unwrap_or("");
    let alone = stands_alone(text, span) || is_genitive(text, span);
    match ordinary {
        true => alone && here.starts_with(char::is_uppercase) && !here.contains(char::is_whitespace),
        false => (alone || letters >= INSIDE) && is_joined(here, letters),
    }
}

/// Whether one `s` follows, and then the word's end.
fn is_genitive(text: &str, span: &Range<usize>) -> bool {
    text.get(span.end..).is_some_and(|after| after.starts_with('s'))
        && stands_alone(text, &(span.start..span.end + 1))
}

/// Whether what was found is one word, or was spelled: `Mart in` is two words and no Martin.
fn is_joined(here: &str, letters: usize) -> bool {
    if letters < LONG {
        return !here.contains(char::is_whitespace);
    }
    here.lines().map(str::trim).all(|line| {
        !line.contains(char::is_whitespace) || line.split_whitespace().all(|run| run.chars().count() <= 2)
    })
}

/// A word in small letters without accents or marks, to be compared with lists; wiped when dropped.
pub(super) fn plain(word: &str) -> Zeroizing<String> {
    let mut plain = Zeroizing::new(String::with_capacity(2 * word.len()));
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'ß' => plain.push_str("ss"),
            c => decompose_compatible(c, |part| plain.extend(part.is_alphanumeric().then_some(part))),
        }
    }
    plain
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
