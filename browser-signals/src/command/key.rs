//! The keys that change the text of a control, by their names.

use std::ops::Range;

/// The first character that may combine with the one before it. How many of these a key deletes depends on the browser.
const FIRST_COMBINING: char = '\u{300}';

/// The most characters of a text that goes in key by key.
pub const MAX_KEYS: usize = 1_000;

/// A key that changes the text of the control with the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritingKey {
    /// It writes this character.
    Character(char),
    /// It deletes the selection, or the character before the caret.
    Backspace,
    /// It deletes the selection, or the character after the caret.
    Delete,
}

impl WritingKey {
    /// The key of a name: a printable character, `Space`, `Shift+` and a letter, `Backspace` or `Delete`.
    pub fn named(name: &str) -> Option<WritingKey> {
        match name {
            "Backspace" => return Some(WritingKey::Backspace),
            "Delete" => return Some(WritingKey::Delete),
            "Space" => return Some(WritingKey::Character(' ')),
            _ => {}
        }
        let (only, shifted) = match name.strip_prefix("Shift+") {
            Some(rest) => (only_character(rest)?, true),
            None => (only_character(name)?, false),
        };
        match shifted {
            true if only.is_ascii_alphabetic() => Some(WritingKey::Character(only.to_ascii_uppercase())),
            true => None,
            false => (!only.is_control()).then_some(WritingKey::Character(only)),
        }
    }

    /// The text of a control after this key, where `selected` is the selection, in UTF-16 units. `None` where the key deletes a
    /// character that may be one of several that belong together.
    pub fn text_after(self, text: &str, selected: &Range<usize>) -> Option<String> {
        let before = text.get(..byte_at(text, selected.start)?)?;
        let after = text.get(byte_at(text, selected.end)?..)?;
        let (mut to_the_left, mut to_the_right) = (before.chars(), after.chars());
        Some(match self {
            WritingKey::Character(written) => format!("{before}{written}{after}"),
            _ if !selected.is_empty() => [before, after].concat(),
            WritingKey::Backspace => match to_the_left.next_back() {
                None => after.to_owned(),
                Some(deleted) if stands_alone(deleted) => [to_the_left.as_str(), after].concat(),
                Some(_) => return None,
            },
            WritingKey::Delete => match to_the_right.next() {
                None => before.to_owned(),
                Some(deleted)
                    if stands_alone(deleted) && to_the_right.clone().next().is_none_or(stands_alone) =>
                {
                    [before, to_the_right.as_str()].concat()
                }
                Some(_) => return None,
            },
        })
    }
}

/// Returns true for the name of the key that selects everything in the control with the focus.
pub fn selects_all(name: &str) -> bool {
    let own = if cfg!(target_os = "macos") { "Meta+a" } else { "Control+a" };
    [own, "ControlOrMeta+a"].iter().any(|key| key.eq_ignore_ascii_case(name))
}

/// The keys that write a text, one for each character. `None` where it has more than [`MAX_KEYS`], or a line break or tab, whose keys
/// do something else in most boxes.
pub fn keys_of(text: &str) -> Option<Vec<WritingKey>> {
    let key = |character: char| (!character.is_control()).then_some(WritingKey::Character(character));
    let keys: Vec<WritingKey> = text.chars().take(MAX_KEYS + 1).map(key).collect::<Option<_>>()?;
    (keys.len() <= MAX_KEYS).then_some(keys)
}

fn only_character(name: &str) -> Option<char> {
    let mut characters = name.chars();
    characters.next().filter(|_| characters.next().is_none())
}

const fn stands_alone(character: char) -> bool {
    (character as u32) < FIRST_COMBINING as u32
}

/// The place in a text that a browser counts in UTF-16 units.
fn byte_at(text: &str, units: usize) -> Option<usize> {
    let mut passed = 0;
    for (at, character) in text.char_indices() {
        if passed >= units {
            return (passed == units).then_some(at);
        }
        passed += character.len_utf16();
    }
    (passed == units).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use WritingKey::{Backspace, Character, Delete};

    #[test]
    fn keys_are_read_by_their_names() {
        for (name, key) in [
            ("a", Some(Character('a'))),
            ("A", Some(Character('A'))),
            ("é", Some(Character('é'))),
            ("+", Some(Character('+'))),
            ("Space", Some(Character(' '))),
            (" ", Some(Character(' '))),
            ("Shift+q", Some(Character('Q'))),
            ("Shift+Q", Some(Character('Q'))),
            ("Backspace", Some(Backspace)),
            ("Delete", Some(Delete)),
            ("Shift+1", None),
            ("Shift+Delete", None),
            ("Control+v", None),
            ("ControlOrMeta+z", None),
            ("Enter", None),
            ("ab", None),
            ("\n", None),
            ("", None),
        ] {
            assert_eq!(WritingKey::named(name), key, "{name}");
        }
        assert!(selects_all("ControlOrMeta+a") && selects_all("ControlOrMeta+A"));
        assert!(!selects_all("ControlOrMeta+c") && !selects_all("a"));
    }

    #[test]
    fn a_text_goes_in_by_a_key_for_each_character() {
        assert_eq!(keys_of("Hé!"), Some(vec![Character('H'), Character('é'), Character('!')]));
        assert_eq!(keys_of(""), Some(Vec::new()));
        for text in ["two\nlines", "a\tb", &"a".repeat(MAX_KEYS + 1)] {
            assert_eq!(keys_of(text), None);
        }
        assert_eq!(keys_of(&"é".repeat(MAX_KEYS)).map(|keys| keys.len()), Some(MAX_KEYS));
    }

    #[test]
    fn a_key_changes_the_text_at_the_selection() {
        for (key, text, selected, after) in [
            (Character('c'), "ab", 2..2, Some("abc")),
            (Character('c'), "ab", 0..2, Some("c")),
            (Character('c'), "ab", 1..1, Some("acb")),
            (Character('x'), "", 0..0, Some("x")),
            (Backspace, "ab", 2..2, Some("a")),
            (Backspace, "ab", 0..0, Some("ab")),
            (Backspace, "ab", 0..2, Some("")),
            (Backspace, "é", 1..1, Some("")),
            (Delete, "ab", 0..0, Some("b")),
            (Delete, "ab", 2..2, Some("ab")),
            (Delete, "abc", 1..3, Some("a")),
            // A letter and its accent, and a face of two UTF-16 units.
            (Backspace, "e\u{301}", 2..2, None),
            (Delete, "e\u{301}", 0..0, None),
            (Backspace, "😀", 2..2, None),
            (Character('!'), "😀", 2..2, Some("😀!")),
            (Backspace, "😀", 0..2, Some("")),
            (Character('!'), "😀", 1..1, None),
            (Character('!'), "ab", 3..3, None),
        ] {
            assert_eq!(key.text_after(text, &selected).as_deref(), after, "{key:?} {text} {selected:?}");
        }
    }
}
