//! A task's sentence, and what the solver remembers from page to page.

use std::collections::BTreeMap;

use crate::agent::Action;

/// A task as its sentence states it.
#[derive(Debug, Clone, Default)]
pub(super) struct Task {
    /// The sentence.
    pub(super) sentence: String,
    /// The sentence in lower case.
    pub(super) lower: String,
    /// The quoted words of the sentence, in order.
    pub(super) quoted: Vec<String>,
    /// The page's origin.
    pub(super) origin: String,
}

/// The solver's move after a look at the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// These steps, and the task is done.
    Last(Vec<Action>),
    /// These steps, and another look.
    Look(Vec<Action>),
}

/// The state of a task between two looks at the page.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The number of looks before this one.
    pub(super) looks: usize,
    /// What was tried or seen.
    pub(super) notes: Vec<String>,
    /// A number to go on from.
    pub(super) count: usize,
    /// The numbers that were seen, by the refs of their elements.
    pub(super) values: BTreeMap<String, i64>,
}

impl Memory {
    /// Keeps the number of an element.
    pub(super) fn see(&mut self, element: &str, value: i64) {
        self.values.insert(element.to_owned(), value);
    }

    /// Notes something; true if it is new.
    pub(super) fn note(&mut self, what: &str) -> bool {
        let is_new = !self.notes.iter().any(|noted| noted == what);
        if is_new {
            self.notes.push(what.to_owned());
        }
        is_new
    }
}

impl Task {
    /// The task of a sentence.
    pub(super) fn new(sentence: &str, origin: &str) -> Task {
        Task {
            sentence: sentence.to_owned(),
            lower: sentence.to_lowercase(),
            quoted: sentence.split('"').skip(1).step_by(2).map(str::to_owned).collect(),
            origin: origin.to_owned(),
        }
    }

    /// The first quoted words.
    pub(super) fn first(&self) -> &str {
        self.quoted.first().map_or("", String::as_str)
    }

    /// Returns true if the sentence holds these words (lower case).
    pub(super) fn has(&self, words: &str) -> bool {
        self.lower.contains(words)
    }

    /// Returns true if the sentence starts with these words (lower case).
    pub(super) fn starts(&self, words: &str) -> bool {
        self.lower.starts_with(words)
    }

    /// What stands between two pieces of the sentence.
    pub(super) fn between(&self, before: &str, after: &str) -> Option<&str> {
        let (_, rest) = self.sentence.split_once(before)?;
        let (found, _) = rest.split_once(after)?;
        Some(found.trim())
    }

    /// The ordinal numbers of the sentence, in order: 2 for `2nd`.
    pub(super) fn ordinals(&self) -> Vec<usize> {
        let words = self.lower.split_whitespace();
        let number = |word: &str| {
            let ends = ["st", "nd", "rd", "th"];
            ends.iter().find_map(|end| word.strip_suffix(end)?.parse().ok())
        };
        words.filter_map(number).collect()
    }

    /// The whole numbers of the sentence, in order.
    pub(super) fn numbers(&self) -> Vec<i64> {
        numbers(&self.sentence)
    }
}

/// The whole numbers of a text, in order. A hyphen between two of them is no sign.
pub(super) fn numbers(text: &str) -> Vec<i64> {
    let mut found = Vec::new();
    let (mut digits, mut before) = (String::new(), ' ');
    for character in text.chars().chain([' ']) {
        if character.is_ascii_digit() {
            if digits.is_empty() && before == '-' {
                digits.push('-');
            }
            digits.push(character);
        } else {
            found.extend(digits.parse::<i64>().ok());
            digits.clear();
        }
        before = character;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_gives_its_numbers_and_quotations() {
        let task =
            Task::new("Check the 1st radio button and enter the number \"-16\" into the 3rd textbox.", "");
        assert_eq!(task.ordinals(), [1, 3]);
        assert_eq!(task.first(), "-16");
        assert_eq!(numbers("Set [5,11,-10], x1 2016"), [5, 11, -10, 1, 2016]);
        assert_eq!(task.between("enter the", "\""), Some("number"));
    }

    #[test]
    fn what_was_noted_is_not_new() {
        let mut memory = Memory::default();
        assert!(memory.note("a") && !memory.note("a") && memory.note("b"));
    }
}
