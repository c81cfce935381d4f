//! The controls that a model points at.

use crate::{Field, FieldSet};

/// The longest ref of a control, in bytes.
pub const MAX_REF_BYTES: usize = 16;

/// The controls that a model points at: the `at` of a request, with at most one control for each field.
///
/// It is a proposal and no evidence: the guard compares it with what the page says about the control. A control is
/// named by its ref in the page's text, such as `e12`.
///
/// ```
/// use sirl::{Field, Pointers};
///
/// let at = Pointers::default().with(Field::Street, "e12").unwrap();
/// assert_eq!(at.get(Field::Street), Some("e12"));
/// assert!(at.with(Field::City, "the box below").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pointers {
    /// In the order of [`Field::ALL`].
    pointed: Vec<(Field, Box<str>)>,
}

impl Pointers {
    /// Adds the control for a field, in place of an earlier one. Returns `None` if the text is no ref: a small letter,
    /// then small letters and digits, at most [`MAX_REF_BYTES`].
    #[must_use]
    pub fn with(mut self, field: Field, control: &str) -> Option<Pointers> {
        if !is_ref(control) {
            return None;
        }
        self.pointed.retain(|(earlier, _)| *earlier != field);
        self.pointed.push((field, control.into()));
        self.pointed.sort_by_key(|(field, _)| *field);
        self.pointed.shrink_to_fit();
        Some(self)
    }

    /// The ref of the control for a field, if the model points at one.
    #[must_use]
    pub fn get(&self, field: Field) -> Option<&str> {
        self.iter().find(|(pointed, _)| *pointed == field).map(|(_, control)| control)
    }

    /// The fields with the refs of their controls, in the order of [`Field::ALL`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Field, &str)> {
        self.pointed.iter().map(|(field, control)| (*field, &**control))
    }

    /// The fields that the model points at a control for.
    #[must_use]
    pub fn fields(&self) -> FieldSet {
        self.iter().map(|(field, _)| field).collect()
    }

    /// Tells if the model points at nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pointed.is_empty()
    }

    /// The memory that it holds, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let texts = self.pointed.iter().map(|(_, control)| control.len());
        self.pointed.capacity() * size_of::<(Field, Box<str>)>() + texts.sum::<usize>()
    }
}

fn is_ref(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= MAX_REF_BYTES
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(plain)
}
