//! Placement: which control of a form takes which field.
//!
//! The page's description of its controls (`autocomplete`, names, labels) is a hint. It decides where a value goes
//! within a form, and never whether the form may have it. The form's destination decides that.

use browser_signals::{Control, Observed, Snapshot};
use policy_dfa::Placement;
use sirl::{Field, FieldSet};

/// The `autocomplete` tokens of the HTML standard that name a field.
const AUTOCOMPLETE: [(&str, Field); 20] = [
    ("name", Field::Name),
    ("cc-name", Field::Name),
    ("country", Field::Country),
    ("country-name", Field::Country),
    ("address-level1", Field::Region),
    ("address-level2", Field::City),
    ("tel", Field::Phone),
    ("tel-national", Field::Phone),
    ("email", Field::Email),
    ("username", Field::Email),
    ("street-address", Field::Street),
    ("address-line1", Field::Street),
    ("postal-code", Field::PostalCode),
    ("cc-number", Field::CardNumber),
    ("cc-exp", Field::CardExpiry),
    ("cc-csc", Field::CardCode),
    ("current-password", Field::Password),
    ("new-password", Field::Password),
    ("one-time-code", Field::OneTimeCode),
    ("given-name", Field::Name),
];

/// Words of names and labels that name a field, in order of precedence.
const WORDS: [(&str, Field); 34] = [
    ("card number", Field::CardNumber),
    ("cardnumber", Field::CardNumber),
    ("expiry", Field::CardExpiry),
    ("expiration", Field::CardExpiry),
    ("security code", Field::CardCode),
    ("cvv", Field::CardCode),
    ("cvc", Field::CardCode),
    ("postal", Field::PostalCode),
    ("postcode", Field::PostalCode),
    ("zip", Field::PostalCode),
    ("plz", Field::PostalCode),
    ("street", Field::Street),
    ("address line 1", Field::Street),
    ("strasse", Field::Street),
    ("straße", Field::Street),
    ("city", Field::City),
    ("town", Field::City),
    ("stadt", Field::City),
    ("ort", Field::City),
    ("region", Field::Region),
    ("state", Field::Region),
    ("province", Field::Region),
    ("country", Field::Country),
    ("land", Field::Country),
    ("e-mail", Field::Email),
    ("email", Field::Email),
    ("phone", Field::Phone),
    ("telephone", Field::Phone),
    ("mobile", Field::Phone),
    ("password", Field::Password),
    ("one-time", Field::OneTimeCode),
    ("verification code", Field::OneTimeCode),
    ("full name", Field::Name),
    ("name", Field::Name),
];

/// The field that a control seems to ask for.
pub fn field_of(control: &Control) -> Option<Field> {
    if control.input_type == "password" {
        return Some(Field::Password);
    }
    let hint = control.autocomplete.to_ascii_lowercase();
    let by_hint = hint
        .split_ascii_whitespace()
        .next_back()
        .and_then(|token| AUTOCOMPLETE.iter().find(|(name, _)| *name == token).map(|(_, field)| *field));
    by_hint.or_else(|| by_words(&control.label)).or_else(|| by_words(&control.name.replace(['_', '-'], " ")))
}

fn by_words(text: &str) -> Option<Field> {
    let text = text.to_lowercase();
    let is_word = |at: usize, word: &str| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    };
    WORDS
        .iter()
        .find(|(word, _)| text.match_indices(word).any(|(at, _)| is_word(at, word)))
        .map(|(_, field)| *field)
}

/// Whether a control can take a value at all: a visible, editable input or select.
fn can_take(control: &Control) -> bool {
    control.editable
        && matches!(control.tag.as_str(), "input" | "select")
        && control.visible.known() == Some(&true)
}

/// The placements of `fields` in the observed form: for each field the first control that fits.
pub fn place(page: &Snapshot, fields: FieldSet) -> Vec<Placement> {
    let mut placements: Vec<Placement> = Vec::new();
    for control in page.controls.iter().filter(|control| can_take(control)) {
        let Some(field) = field_of(control) else { continue };
        if fields.contains(field) && !placements.iter().any(|placement| placement.field == field) {
            placements.push(Placement { field, node: control.node });
        }
    }
    placements
}

/// The form that takes most of `fields`, and the earlier one of two that take as many. If no form takes any, this is
/// the first form, so that the policy can still give a reason.
pub fn best_form(forms: &[Observed<Snapshot>], fields: FieldSet) -> Option<&Observed<Snapshot>> {
    forms.iter().rev().max_by_key(|form| place(form.value(), fields).len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use browser_signals::{Fact, NodeId};

    fn control(autocomplete: &str, name: &str, label: &str) -> Control {
        Control {
            node: NodeId(1),
            form: None,
            tag: "input".into(),
            input_type: "text".into(),
            autocomplete: autocomplete.into(),
            name: name.into(),
            label: label.into(),
            visible: Fact::Known(true),
            hit: Fact::Known(true),
            editable: true,
            filled: false,
        }
    }

    #[test]
    fn the_hint_has_precedence_over_label_and_name() {
        assert_eq!(field_of(&control("shipping street-address", "x", "City")), Some(Field::Street));
        assert_eq!(field_of(&control("", "q", "Postal code")), Some(Field::PostalCode));
        assert_eq!(field_of(&control("", "ship_city", "")), Some(Field::City));
        assert_eq!(field_of(&control("off", "note", "Anything else?")), None);
        assert_eq!(field_of(&control("", "", "Sportiness")), None, "a word inside a word is not a label");
    }

    #[test]
    fn covered_or_free_text_controls_take_nothing() {
        let mut area = control("street-address", "", "");
        area.tag = "textarea".into();
        assert!(!can_take(&area));
        let mut hidden = control("street-address", "", "");
        hidden.visible = Fact::Unknown;
        assert!(!can_take(&hidden));
    }
}
