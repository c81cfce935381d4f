//! The verbs of an agent. Every verb is decided before it is carried out.

use super::key::WritingKey;
#[cfg(feature = "serde")]
use super::written::Written;

/// The ref of an element in the text that the model read, such as `e12` or `f1e3`. It is valid for the read
/// that produced it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ElementRef(pub String);

/// One action of an agent.
///
/// With the feature `serde` it is read from a model's tool call and written as it is read; its member `do` says which verb it is.
/// Arguments and words that it does not know are errors. A model's interface takes the schemas of the module `tool`, with the
/// feature `schema`.
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use browser_signals::{ElementRef, Verb};
///
/// let call = r#"{ "do": "type", "target": "e12", "text": "two kettles" }"#;
/// let verb: Verb = serde_json::from_str(call).unwrap();
/// assert_eq!(verb, Verb::typed(ElementRef("e12".to_owned()), "two kettles"));
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(into = "Written"))]
pub enum Verb {
    /// Go to an address.
    Open {
        /// The address, as the agent wrote it.
        url: String,
    },
    /// Read the page.
    Read,
    /// Click an element.
    Click {
        /// The element.
        target: ElementRef,
        /// The button, the number of clicks, the held keys, and the place.
        manner: ClickManner,
    },
    /// Move the mouse over an element.
    Hover {
        /// The element.
        target: ElementRef,
    },
    /// Drag an element onto another one of the same document, with the left button.
    Drag {
        /// The element that is dragged.
        target: ElementRef,
        /// The element that it is dropped on.
        onto: ElementRef,
    },
    /// Put text into a control.
    Type {
        /// The control.
        target: ElementRef,
        /// The whole text of the control afterwards.
        text: String,
        /// How it gets there.
        manner: TypeManner,
    },
    /// Choose these options of a select and no others. One that is not a list of several takes exactly one.
    Select {
        /// The control.
        target: ElementRef,
        /// The visible label or the value of each option.
        options: Vec<String>,
    },
    /// Set a check box or radio button.
    Check {
        /// The control.
        target: ElementRef,
        /// On or off.
        on: bool,
    },
    /// Press one key where the focus is. One that changes the text of a control is decided and carried out as [`Verb::Type`] of the
    /// text that it leads to.
    Press {
        /// The name of the key.
        key: String,
    },
    /// Wait for the page.
    Wait {
        /// Milliseconds; the bridge caps them.
        milliseconds: u32,
    },
    /// Submit the form that owns the element.
    Submit {
        /// The form, or a control of it.
        target: ElementRef,
    },
    /// Go back one page.
    Back,
}

impl Verb {
    /// One click with the left button.
    pub fn click(target: ElementRef) -> Verb {
        Verb::Click { target, manner: ClickManner::default() }
    }

    /// A text, put into a control at once.
    pub fn typed(target: ElementRef, text: impl Into<String>) -> Verb {
        Verb::Type { target, text: text.into(), manner: TypeManner::AtOnce }
    }

    /// The elements that it is about: none, one, or the two of a drag.
    pub fn elements_mut(&mut self) -> impl Iterator<Item = &mut ElementRef> {
        let (one, other) = match self {
            Verb::Drag { target, onto } => (Some(target), Some(onto)),
            Verb::Click { target, .. }
            | Verb::Hover { target }
            | Verb::Type { target, .. }
            | Verb::Select { target, .. }
            | Verb::Check { target, .. }
            | Verb::Submit { target } => (Some(target), None),
            Verb::Open { .. } | Verb::Read | Verb::Press { .. } | Verb::Wait { .. } | Verb::Back => {
                (None, None)
            }
        };
        one.into_iter().chain(other)
    }

    /// One option of a select, by its visible label or its value.
    pub fn select(target: ElementRef, option: impl Into<String>) -> Verb {
        Verb::Select { target, options: vec![option.into()] }
    }
}

/// How a text gets into a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TypeManner {
    /// As a whole, in the place of what the control held.
    #[default]
    AtOnce,
    /// By a key for each character, in the place of what the control held.
    KeyByKey,
    /// By one key, pressed in the text that the control holds.
    Key(WritingKey),
}

/// The manner of a click: one click with the left button, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClickManner {
    /// The button.
    pub button: MouseButton,
    /// True for a double click.
    pub twice: bool,
    /// The keys that are held.
    pub held: HeldKeys,
    /// The place in the element; its centre without one.
    pub place: Option<PlaceInElement>,
}

/// A place in an element, in CSS pixels from the upper left corner of its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, expecting = "an object with whole numbers `x` and `y`")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceInElement {
    /// To the right.
    pub x: i32,
    /// Down.
    pub y: i32,
}

/// A button of the mouse. The middle one is left out: on Linux it pastes what was selected last, also by the user in another
/// program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseButton {
    /// The main button.
    #[default]
    Left,
    /// The button of the context menu.
    Right,
}

/// The keys that are held during a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a key")]
pub struct HeldKeys {
    /// Alt.
    pub alt: bool,
    /// Control.
    pub control: bool,
    /// The Windows or Command key.
    pub meta: bool,
    /// Shift.
    pub shift: bool,
}
