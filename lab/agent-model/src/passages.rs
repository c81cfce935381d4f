//! The texts that an answer may repeat: whole values of the task with their names, and a place from the page.
//!
//! Such a text is values joined by `, `, optionally followed by `Please ship to ` and words of the page, or the latter
//! alone. Values are vault handles such as `[card:me]`, and the text after the names of [`turn`](crate::turn) up to a
//! comma, a semicolon or a full stop and a space, so that a number in four groups is repeated whole or not at all. In a
//! task without names, every such piece is a value.

use crate::turn::{ADDRESS, CARD};
use std::collections::BTreeSet;

/// The separator of two values.
const JOIN: &str = ", ";

/// The text before a place, after values and alone.
const PLACE: [&str; 2] = [". Please ship to ", "Please ship to "];

/// The texts that an answer may repeat.
#[derive(Debug, Clone)]
pub(crate) struct Passages {
    values: Vec<Vec<u8>>,
    /// The suffixes of the page's lines, one from each word.
    words: Vec<Vec<u8>>,
}

impl Passages {
    /// The texts of a task and a page.
    pub(crate) fn of(task: &str, page: &str) -> Passages {
        let pieces: BTreeSet<&str> = pieces(task).collect();
        let mut values: Vec<Vec<u8>> =
            pieces.iter().filter_map(|piece| value(piece)).map(|value| value.as_bytes().to_vec()).collect();
        if values.is_empty() {
            values = pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect();
        }
        let starts = |line: &str| {
            let rest = line.match_indices(' ').map(|(at, _)| at + 1);
            std::iter::once(0).chain(rest).collect::<Vec<_>>()
        };
        let from = |line: &str, at: usize| line.as_bytes().get(at..).map(<[u8]>::to_vec);
        let words =
            page.lines().flat_map(|line| starts(line).into_iter().filter_map(move |at| from(line, at)));
        Passages { values, words: words.filter(|words| !words.is_empty()).collect() }
    }

    /// True if `text` begins such a text; where `whole`, if it is one.
    pub(crate) fn spell(&self, text: &[u8], whole: bool) -> bool {
        let [behind, alone] = PLACE;
        let mut starts = BTreeSet::from([0]);
        if self.leads(text, alone, whole) {
            return true;
        }
        while let Some(start) = starts.pop_first() {
            let Some(rest) = text.get(start..) else { continue };
            for value in &self.values {
                if !whole && value.starts_with(rest) {
                    return true;
                }
                let Some(after) = rest.strip_prefix(value.as_slice()) else { continue };
                let joins = !whole && JOIN.as_bytes().starts_with(after);
                if after.is_empty() || joins || self.leads(after, behind, whole) {
                    return true;
                }
                if after.starts_with(JOIN.as_bytes()) {
                    starts.insert(start + value.len() + JOIN.len());
                }
            }
        }
        false
    }

    /// True if a text is `lead` and words of the page, or the beginning of that.
    fn leads(&self, text: &[u8], lead: &str, whole: bool) -> bool {
        let Some(place) = text.strip_prefix(lead.as_bytes()) else {
            // Without a page there is no place to name.
            return !whole && !self.words.is_empty() && lead.as_bytes().starts_with(text);
        };
        let ends = |words: &[u8]| words.get(place.len()).is_none_or(|next| !next.is_ascii_alphanumeric());
        self.words
            .iter()
            .any(|words| words.starts_with(place) && (!whole || (!place.is_empty() && ends(words))))
    }
}

/// The value of a piece with its name, or the handle.
fn value(piece: &str) -> Option<&str> {
    let names = ADDRESS.iter().chain(&CARD);
    let named = names.filter_map(|name| piece.get(piece.find(name)?..)).min_by_key(|named| named.len())?;
    match named.find('[') {
        Some(at) => named.get(at..),
        None => Some(named),
    }
}

/// Parts of a text between commas, semicolons and full stops before a space or the end.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let marks = [',', ';', '.'];
    text.split_inclusive(' ')
        .scan((0, 0), move |(from, at), word| {
            *at += word.len();
            let ends = word.trim_end().ends_with(marks) || *at == text.len();
            let piece = if ends { text.get(std::mem::replace(from, *at)..*at) } else { Some("") };
            piece.map(|piece| piece.trim_end().trim_end_matches(marks))
        })
        .filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "Buy 1 x \"Pan, red\" at https://a.test. Ship it to: name: Ana Rui; street: 12 Low Lane; email: \
                        a.b@mail.test. Pay with card number 4111 11, exp [card:me].";

    #[test]
    fn a_task_holds_values_with_their_names() {
        let values: Vec<&str> = pieces(TASK).filter_map(value).collect();
        assert_eq!(
            values,
            [
                "name: Ana Rui",
                "street: 12 Low Lane",
                "email: a.b@mail.test",
                "card number 4111 11",
                "[card:me]"
            ]
        );
    }

    #[test]
    fn values_are_repeated_whole() {
        let passages = Passages::of(TASK, "Go to 9 Salt Way, now");
        for (text, viable, whole) in [
            ("card number 4111 11", true, true),
            ("card number 4111", true, false),
            ("4111 11", false, false),
            ("card number 4111 12", false, false),
            ("name: Ana Rui, card number 4111 11", true, true),
            ("name: Ana Rui, ", true, false),
            ("[card:me]. Please ship to 9 Salt Way", true, true),
            ("Please ship to 9 Sal", true, false),
            ("Please ship to ", true, false),
            ("9 Salt Way", false, false),
            ("Go", false, false),
            ("", true, false),
        ] {
            let bytes = text.as_bytes();
            assert_eq!(
                (passages.spell(bytes, false), passages.spell(bytes, true)),
                (viable, whole),
                "{text}"
            );
        }
    }
}
