//! A verb as it is written in JSON, in a model's tool call and in what a program stores.
//!
//! The arguments have playwright-mcp's names where it has the same, since models know those.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::key::WritingKey;
use super::verb::{ClickManner, ElementRef, HeldKeys, MouseButton, PlaceInElement, TypeManner, Verb};

// The doc comments are the descriptions in the schema, which a model reads.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(super) enum Written {
    /// Open an address
    Open {
        /// The address
        url: String,
    },
    // With braces, since serde accepts any members beside a bare word.
    /// Read the page
    Read {},
    /// Click an element
    Click {
        /// The element, by its ref in the page's text, such as e12
        target: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        double_click: bool,
        /// The left one if left out; there is no middle one here
        #[serde(skip_serializing_if = "Option::is_none")]
        button: Option<Button>,
        /// The keys that are held
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<Modifier>,
        /// The place in the element, in pixels from its upper left corner; the centre if left out
        #[serde(skip_serializing_if = "Option::is_none")]
        position: Option<PlaceInElement>,
    },
    /// Move the mouse over an element
    Hover {
        /// The element, by its ref in the page's text, such as e12
        target: String,
    },
    /// Drag an element onto another one of the same document
    Drag {
        /// The element that is dragged, by its ref in the page's text
        start_target: String,
        /// The element that it is dropped on, by its ref in the page's text
        end_target: String,
    },
    /// Put text into a control, in the place of what it holds
    Type {
        /// The element, by its ref in the page's text, such as e12
        target: String,
        /// The text
        text: String,
        /// Press a key for each character, for a page that acts on keys
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        slowly: bool,
    },
    /// Choose the options of a select
    Select {
        /// The element, by its ref in the page's text, such as e12
        target: String,
        /// The options: one, or several of a list that takes several
        values: Vec<String>,
    },
    /// Set a check box or radio button
    Check {
        /// The element, by its ref in the page's text, such as e12
        target: String,
        /// True for on, false for off
        on: bool,
    },
    /// Press a key where the focus is
    Press {
        /// Its name, such as ArrowDown, or the character that it writes
        key: String,
    },
    /// Wait for the page
    Wait {
        /// The time
        #[serde(deserialize_with = "milliseconds")]
        milliseconds: u32,
    },
    /// Submit the form of an element
    Submit {
        /// The element, by its ref in the page's text, such as e12
        target: String,
    },
    /// Go back one page
    Back {},
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Button {
    Left,
    Right,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum Modifier {
    Alt,
    Control,
    ControlOrMeta,
    Meta,
    Shift,
}

// An enum of serde's own would also take a list, which no schema has.
impl<'de> Deserialize<'de> for Verb {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Verb, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object whose `do` says what is done")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Written, A::Error> {
                Written::deserialize(MapAccessDeserializer::new(members))
            }
        }

        deserializer.deserialize_map(Object).map(Verb::from)
    }
}

/// Reads a time. The longest that there is stands for a longer one, since the bridge caps both.
fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    struct Whole;

    impl Visitor<'_> for Whole {
        type Value = u32;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a whole number of milliseconds")
        }

        fn visit_u64<E>(self, milliseconds: u64) -> Result<u32, E> {
            Ok(u32::try_from(milliseconds).unwrap_or(u32::MAX))
        }
    }

    deserializer.deserialize_u64(Whole)
}

impl From<Written> for Verb {
    fn from(written: Written) -> Verb {
        match written {
            Written::Open { url } => Verb::Open { url },
            Written::Read {} => Verb::Read,
            Written::Click { target, double_click, button, modifiers, position } => {
                let button = match button {
                    None | Some(Button::Left) => MouseButton::Left,
                    Some(Button::Right) => MouseButton::Right,
                };
                let held = held(&modifiers);
                let manner = ClickManner { button, twice: double_click, held, place: position };
                Verb::Click { target: ElementRef(target), manner }
            }
            Written::Hover { target } => Verb::Hover { target: ElementRef(target) },
            Written::Drag { start_target, end_target } => {
                Verb::Drag { target: ElementRef(start_target), onto: ElementRef(end_target) }
            }
            Written::Type { target, text, slowly } => {
                let manner = if slowly { TypeManner::KeyByKey } else { TypeManner::AtOnce };
                Verb::Type { target: ElementRef(target), text, manner }
            }
            Written::Select { target, values } => {
                Verb::Select { target: ElementRef(target), options: values }
            }
            Written::Check { target, on } => Verb::Check { target: ElementRef(target), on },
            Written::Press { key } => Verb::Press { key },
            Written::Wait { milliseconds } => Verb::Wait { milliseconds },
            Written::Submit { target } => Verb::Submit { target: ElementRef(target) },
            Written::Back {} => Verb::Back,
        }
    }
}

impl From<Verb> for Written {
    fn from(verb: Verb) -> Written {
        match verb {
            Verb::Open { url } => Written::Open { url },
            Verb::Read => Written::Read {},
            Verb::Click { target, manner: ClickManner { button, twice, held, place } } => Written::Click {
                target: target.0,
                double_click: twice,
                button: (button == MouseButton::Right).then_some(Button::Right),
                modifiers: modifiers(held),
                position: place,
            },
            Verb::Hover { target } => Written::Hover { target: target.0 },
            Verb::Drag { target, onto } => Written::Drag { start_target: target.0, end_target: onto.0 },
            // The guard makes this one of a key that an agent pressed, and an agent cannot write it.
            Verb::Type { manner: TypeManner::Key(key), .. } => Written::Press { key: name(key) },
            Verb::Type { target, text, manner } => {
                Written::Type { target: target.0, text, slowly: manner == TypeManner::KeyByKey }
            }
            Verb::Select { target, options } => Written::Select { target: target.0, values: options },
            Verb::Check { target, on } => Written::Check { target: target.0, on },
            Verb::Press { key } => Written::Press { key },
            Verb::Wait { milliseconds } => Written::Wait { milliseconds },
            Verb::Submit { target } => Written::Submit { target: target.0 },
            Verb::Back => Written::Back {},
        }
    }
}

fn held(modifiers: &[Modifier]) -> HeldKeys {
    let mut held = HeldKeys::default();
    for modifier in modifiers {
        match modifier {
            Modifier::Alt => held.alt = true,
            Modifier::ControlOrMeta if cfg!(target_os = "macos") => held.meta = true,
            Modifier::Control | Modifier::ControlOrMeta => held.control = true,
            Modifier::Meta => held.meta = true,
            Modifier::Shift => held.shift = true,
        }
    }
    held
}

fn modifiers(held: HeldKeys) -> Vec<Modifier> {
    let HeldKeys { alt, control, meta, shift } = held;
    let all = [
        (alt, Modifier::Alt),
        (control, Modifier::Control),
        (meta, Modifier::Meta),
        (shift, Modifier::Shift),
    ];
    all.into_iter().filter_map(|(is_held, modifier)| is_held.then_some(modifier)).collect()
}

fn name(key: WritingKey) -> String {
    match key {
        WritingKey::Character(' ') => "Space".to_owned(),
        WritingKey::Character(character) => character.to_string(),
        WritingKey::Backspace => "Backspace".to_owned(),
        WritingKey::Delete => "Delete".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use serde_json::{Value, json};

    use super::*;

    fn read(written: Value) -> Result<Verb, String> {
        serde_json::from_value(written).map_err(|error| error.to_string())
    }

    #[test]
    fn every_verb_is_read_as_it_is_written() {
        let target = || ElementRef("e5".to_owned());
        let held = HeldKeys { control: true, shift: true, ..HeldKeys::default() };
        let place = Some(PlaceInElement { x: 3, y: 40 });
        let twice = ClickManner { button: MouseButton::Right, twice: true, held, place };
        let slowly = TypeManner::KeyByKey;
        for (verb, written) in [
            (Verb::Open { url: "a".into() }, json!({ "do": "open", "url": "a" })),
            (Verb::Read, json!({ "do": "read" })),
            (Verb::click(target()), json!({ "do": "click", "target": "e5" })),
            (
                Verb::Click { target: target(), manner: twice },
                json!({
                    "do": "click", "target": "e5", "doubleClick": true, "button": "right", "modifiers": ["Control", "Shift"],
                    "position": { "x": 3, "y": 40 },
                }),
            ),
            (Verb::Hover { target: target() }, json!({ "do": "hover", "target": "e5" })),
            (
                Verb::Drag { target: target(), onto: ElementRef("e6".to_owned()) },
                json!({ "do": "drag", "startTarget": "e5", "endTarget": "e6" }),
            ),
            (Verb::typed(target(), "two"), json!({ "do": "type", "target": "e5", "text": "two" })),
            (
                Verb::Type { target: target(), text: "two".into(), manner: slowly },
                json!({ "do": "type", "target": "e5", "text": "two", "slowly": true }),
            ),
            (Verb::select(target(), "2"), json!({ "do": "select", "target": "e5", "values": ["2"] })),
            (
                Verb::Check { target: target(), on: false },
                json!({ "do": "check", "target": "e5", "on": false }),
            ),
            (Verb::Press { key: "Tab".into() }, json!({ "do": "press", "key": "Tab" })),
            (Verb::Wait { milliseconds: 200 }, json!({ "do": "wait", "milliseconds": 200 })),
            (Verb::Submit { target: target() }, json!({ "do": "submit", "target": "e5" })),
            (Verb::Back, json!({ "do": "back" })),
        ] {
            assert_eq!(serde_json::to_value(&verb).unwrap(), written);
            assert_eq!(read(written), Ok(verb));
        }
    }

    #[test]
    fn what_is_no_verb_is_refused() {
        for (written, problem) in [
            (json!({ "do": "evaluate", "script": "1" }), "unknown variant `evaluate`"),
            (json!({ "do": "click" }), "missing field `target`"),
            (json!({ "do": "read", "target": "e5" }), "unknown field `target`"),
            (json!({ "do": "click", "target": "e5", "button": "middle" }), "unknown variant `middle`"),
            (json!({ "do": "wait", "milliseconds": -1 }), "expected a whole number of milliseconds"),
            (json!({ "do": "drag", "startTarget": "e5" }), "missing field `endTarget`"),
            (json!(["open", "https://shop.example"]), "expected an object whose `do` says what is done"),
            (json!("read"), "expected an object whose `do` says what is done"),
            (json!({ "target": "e5" }), "missing field `do`"),
            // A key with a text of its choice would be decided by another text than it types.
            (
                json!({ "do": "type", "target": "e5", "text": "two", "manner": { "key": "b" } }),
                "unknown field `manner`",
            ),
        ] {
            let error = read(written.clone()).unwrap_err();
            assert!(error.contains(problem), "{written}: {error}");
        }
    }

    #[test]
    fn a_key_that_types_is_written_as_the_key_that_was_pressed() {
        for name in ["a", "Space", "Backspace", "Delete"] {
            let manner = TypeManner::Key(WritingKey::named(name).unwrap());
            let verb = Verb::Type { target: ElementRef("e5".into()), text: "ba".into(), manner };
            assert_eq!(serde_json::to_value(verb).unwrap(), json!({ "do": "press", "key": name }));
        }
    }
}
