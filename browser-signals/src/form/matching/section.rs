//! Sections: the parts of a form that ask for the same fields for different ends.

use super::Match;
use super::folded::words;
use super::vocabulary::Said;
use crate::Control;

/// A section of a form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Section {
    /// The place that goods are sent to.
    Shipping,
    /// The place that a bill is sent to.
    Billing,
    /// A section that the page names by a `section-` token.
    Named(String),
}

impl Section {
    /// The name: `shipping`, `billing`, or the page's own token.
    pub fn as_str(&self) -> &str {
        match self {
            Section::Shipping => "shipping",
            Section::Billing => "billing",
            Section::Named(name) => name,
        }
    }
}

/// Names the section of each control: by its tokens, else by the words of its name, id and legend.
pub fn divide(controls: &[&Control], found: &mut [Match]) {
    for (control, found) in controls.iter().zip(found) {
        found.section = by_tokens(&control.autocomplete)
            .or_else(|| found.asked.filter(|asked| asked.is_of_an_address()).and_then(|_| by_words(control)));
    }
}

/// The section of a control of an address, whatever the page says of it otherwise.
pub fn section_of(control: &Control) -> Option<Section> {
    by_tokens(&control.autocomplete).or_else(|| by_words(control))
}

fn by_tokens(autocomplete: &str) -> Option<Section> {
    let small = autocomplete.to_ascii_lowercase();
    let tokens = || small.split_ascii_whitespace();
    if tokens().any(|token| token == "shipping") {
        return Some(Section::Shipping);
    }
    if tokens().any(|token| token == "billing") {
        return Some(Section::Billing);
    }
    tokens().find(|token| token.starts_with("section-")).map(|token| Section::Named(token.to_owned()))
}

fn by_words(control: &Control) -> Option<Section> {
    let texts = [(&control.name, true), (&control.words.id, true), (&control.words.legend, false)];
    texts.into_iter().find_map(|(text, is_identifier)| {
        let said = Said::of(&words(text), is_identifier);
        match (said.shipping(), said.billing()) {
            (true, false) => Some(Section::Shipping),
            (false, true) => Some(Section::Billing),
            _ => None,
        }
    })
}
