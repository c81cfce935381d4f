//! Keys as the browser's protocol has them.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use crate::WritingKey;
use crate::key::selects_all;

/// The bits of held keys in the browser's protocol.
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// Keys that write nothing into a box of one line: name, key code, and the text that the key event has.
const NAMED: [(&str, u32, &str); 11] = [
    ("Enter", 13, "\r"),
    ("Tab", 9, ""),
    ("Escape", 27, ""),
    ("ArrowUp", 38, ""),
    ("ArrowDown", 40, ""),
    ("ArrowLeft", 37, ""),
    ("ArrowRight", 39, ""),
    ("PageUp", 33, ""),
    ("PageDown", 34, ""),
    ("Home", 36, ""),
    ("End", 35, ""),
];

/// The keys of a keyboard that write neither a letter nor a space: what they write alone and with Shift, code, and key code.
const LAYOUT: [(char, char, &str, u32); 21] = [
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// One key that goes down and up.
pub(super) struct Stroke {
    key: String,
    code: String,
    number: u32,
    held: u8,
    text: String,
    /// On macOS a key of the protocol edits nothing without the name of its command.
    command: Option<&'static str>,
}

/// The number keys of the protocol from `PageUp` to `ArrowDown`, which change the value of some controls.
const STEPPING: RangeInclusive<u32> = 33..=40;

impl Stroke {
    /// Returns true for the keys that some controls take as another value: the arrows, `PageUp`, `PageDown`, `Home` and `End`.
    pub(super) fn steps(&self) -> bool {
        STEPPING.contains(&self.number)
    }

    /// A key that changes no text, by its name.
    pub(super) fn named(wanted: &str) -> Option<Stroke> {
        if selects_all(wanted) {
            let held = if cfg!(target_os = "macos") { META } else { CONTROL };
            let (code, text) = ("KeyA".to_owned(), String::new());
            let command = Some("selectAll");
            return Some(Stroke { key: "a".to_owned(), code, number: 65, held, text, command });
        }
        let (name, number, text) = NAMED.iter().find(|(name, ..)| *name == wanted)?;
        Some(Stroke {
            key: (*name).to_owned(),
            code: (*name).to_owned(),
            number: *number,
            held: 0,
            text: (*text).to_owned(),
            command: None,
        })
    }

    /// A key that changes text.
    pub(super) fn writing(key: WritingKey) -> Stroke {
        let deleting = |name: &str, number, command| Stroke {
            key: name.to_owned(),
            code: name.to_owned(),
            number,
            held: 0,
            text: String::new(),
            command: Some(command),
        };
        match key {
            WritingKey::Backspace => deleting("Backspace", 8, "deleteBackward"),
            WritingKey::Delete => deleting("Delete", 46, "deleteForward"),
            WritingKey::Character(character) => Stroke::of_character(character),
        }
    }

    /// The key that writes a character. A character that is on no key of the layout has an event without a code, as from another
    /// keyboard.
    fn of_character(character: char) -> Stroke {
        let upper = character.to_ascii_uppercase();
        let on_layout = || {
            let found = LAYOUT.iter().find(|(alone, shifted, ..)| [*alone, *shifted].contains(&character));
            found.map(|(alone, _, code, number)| ((*code).to_owned(), *number, *alone != character))
        };
        let (code, number, shifted) = match character {
            ' ' => ("Space".to_owned(), 32, false),
            _ if upper.is_ascii_uppercase() => (format!("Key{upper}"), u32::from(upper), character == upper),
            _ => on_layout().unwrap_or_default(),
        };
        let (key, text) = (character.to_string(), character.to_string());
        Stroke { key, code, number, held: if shifted { SHIFT } else { 0 }, text, command: None }
    }

    /// The event of the key that goes down, and that of the key that goes up.
    pub(super) fn events(&self) -> [Value; 2] {
        let event = |kind: &str| {
            let mut event = Map::new();
            event.insert("type".to_owned(), json!(kind));
            event.insert("key".to_owned(), json!(self.key));
            event.insert("code".to_owned(), json!(self.code));
            event.insert("windowsVirtualKeyCode".to_owned(), json!(self.number));
            event.insert("modifiers".to_owned(), json!(self.held));
            event
        };
        let mut down = event(if self.text.is_empty() { "rawKeyDown" } else { "keyDown" });
        if !self.text.is_empty() {
            down.insert("text".to_owned(), json!(self.text));
        }
        if let Some(command) = self.command.filter(|_| cfg!(target_os = "macos")) {
            down.insert("commands".to_owned(), json!([command]));
        }
        [Value::Object(down), Value::Object(event("keyUp"))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(stroke: &Stroke) -> (String, String, u32, u8) {
        (stroke.key.clone(), stroke.code.clone(), stroke.number, stroke.held)
    }

    #[test]
    fn a_character_is_on_the_key_that_writes_it() {
        for (character, code, number, held) in [
            ('a', "KeyA", 65, 0),
            ('Z', "KeyZ", 90, SHIFT),
            ('7', "Digit7", 55, 0),
            ('@', "Digit2", 50, SHIFT),
            ('"', "Quote", 222, SHIFT),
            (' ', "Space", 32, 0),
            ('é', "", 0, 0),
        ] {
            let stroke = Stroke::writing(WritingKey::Character(character));
            assert_eq!(down(&stroke), (character.to_string(), code.to_owned(), number, held));
            let [event, _] = stroke.events();
            assert_eq!(event.get("type"), Some(&json!("keyDown")));
            assert_eq!(event.get("text"), Some(&json!(character.to_string())));
        }
    }

    #[test]
    fn keys_that_write_have_no_name_here() {
        for name in ["a", "Space", "Backspace", "Delete", "ControlOrMeta+v", "F12"] {
            assert!(Stroke::named(name).is_none(), "{name}");
        }
        assert!(Stroke::named("ControlOrMeta+a").is_some_and(|stroke| stroke.text.is_empty()));
    }
}
