//! The purpose of a form, by its structure. It is a hint from the page, and never widens what is allowed.

use super::matching::{Asked, Match, match_form};
use super::meaning::{Decisive, decisive};
use crate::{Control, FormWords, Sink};

const CARD_LABELS: [&str; 10] = [
    "card number",
    "cardnumber",
    "card no",
    "cvv",
    "cvc",
    "security code",
    "kartennummer",
    "numero de carte",
    "numero de tarjeta",
    "expiry",
];
const ADDRESS_HINTS: [&str; 12] = [
    "street-address",
    "address-line1",
    "address-line2",
    "address-line3",
    "address-level1",
    "address-level2",
    "address-level3",
    "address-level4",
    "postal-code",
    "country",
    "country-name",
    "shipping",
];

/// The sink that the controls of one form make it. A form for several kinds of data has the most sensitive sink: payment
/// before login, login before address.
pub fn sink_of(controls: &[Control]) -> Sink {
    let found = match_form(controls, &FormWords::default());
    let matched = || controls.iter().zip(&found).filter(|(control, _)| is_entry(control));
    let entries: Vec<&Control> = matched().map(|(control, _)| control).collect();
    let payment = matched().any(|(control, found)| asks_for_card(control, found));
    let login = entries.iter().any(|control| control.input_type == "password");
    let address = matched().filter(|(control, found)| asks_for_address(control, found)).count() >= 2;
    // A card form may have a billing address, and a registration form an address and a password.
    match (payment, login, address) {
        (true, _, _) => return Sink::PaymentForm,
        (false, true, _) => return Sink::LoginForm,
        (false, false, true) => return Sink::AddressForm,
        (false, false, false) => {}
    }
    let free = entries.iter().any(|control| is_free_text(control));
    let texts = entries.iter().filter(|control| is_text(control)).count();
    if free || (texts == 1 && entries.len() == 1) { Sink::FreeText } else { Sink::Other }
}

fn is_entry(control: &Control) -> bool {
    !matches!(control.tag.as_str(), "button" | "fieldset" | "output" | "object")
        && !matches!(control.input_type.as_str(), "hidden" | "submit" | "button" | "image" | "reset")
}

fn is_text(control: &Control) -> bool {
    control.tag == "input"
        && matches!(control.input_type.as_str(), "" | "text" | "search" | "email" | "tel" | "url" | "number")
}

fn is_free_text(control: &Control) -> bool {
    !matches!(control.tag.as_str(), "input" | "select" | "button") || control.input_type == "search"
}

/// Whether the control may hold a single value of a form. Free text never does.
pub fn is_form_field(control: &Control) -> bool {
    matches!(control.tag.as_str(), "input" | "select") && is_entry(control) && control.input_type != "search"
}

fn words(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect()
}

fn asks_for_card(control: &Control, found: &Match) -> bool {
    if !is_form_field(control) {
        return false;
    }
    if found.asked.is_some_and(is_of_a_card) {
        return true;
    }
    let hints = control.autocomplete.to_ascii_lowercase();
    let label = words(&control.label);
    hints.split_ascii_whitespace().any(|hint| hint.starts_with("cc-"))
        || CARD_LABELS.iter().any(|word| label.contains(word))
}

fn is_of_a_card(asked: Asked) -> bool {
    use Asked::{CardCode, CardExpiry, CardExpiryMonth, CardExpiryYear, CardNumber};
    matches!(asked, CardNumber | CardCode | CardExpiry | CardExpiryMonth | CardExpiryYear)
}

fn is_of_a_place(asked: Asked) -> bool {
    use Asked::{City, Country, HouseNumber, PostalCode, Region, Street, StreetLine2, StreetLine3};
    matches!(asked, Street | StreetLine2 | StreetLine3 | HouseNumber | City | Region | PostalCode | Country)
}

/// A text area may hold an address too.
fn asks_for_address(control: &Control, found: &Match) -> bool {
    if !is_form_field(control) && control.tag != "textarea" {
        return false;
    }
    if found.asked.is_some_and(is_of_a_place) {
        return true;
    }
    // An address of the web or of mail is none that goods go to.
    if found.refused || matches!(control.input_type.as_str(), "url" | "email") {
        return false;
    }
    let hints = control.autocomplete.to_ascii_lowercase();
    hints.split_ascii_whitespace().any(|hint| ADDRESS_HINTS.contains(&hint))
        || [&control.label, &control.name]
            .into_iter()
            .any(|text| decisive(&[text]) == Some(Decisive::Address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fact, NodeId};

    fn control(tag: &str, input_type: &str, autocomplete: &str, label: &str) -> Control {
        Control {
            node: NodeId(1),
            form: None,
            tag: tag.to_owned(),
            input_type: input_type.to_owned(),
            autocomplete: autocomplete.to_owned(),
            name: String::new(),
            label: label.to_owned(),
            visible: Fact::Known(true),
            hit: Fact::Known(true),
            editable: true,
            filled: false,
            words: Default::default(),
        }
    }

    #[test]
    fn forms_have_the_sink_of_their_controls() {
        let card = control("input", "text", "section-a cc-number", "");
        let labelled = control("input", "text", "", "Card number");
        let password = control("input", "password", "", "Password");
        let street = control("input", "text", "street-address", "");
        let city = control("input", "text", "", "City");
        let country = control("select", "", "country", "");
        let send = control("button", "submit", "", "Send");
        let chat = control("textarea", "", "cc-number", "Card number please");
        let search = control("input", "search", "", "");
        let note = control("input", "text", "", "Gift note");
        assert_eq!(sink_of(&[card.clone(), send.clone()]), Sink::PaymentForm);
        assert_eq!(sink_of(&[labelled]), Sink::PaymentForm);
        assert_eq!(sink_of(&[card.clone(), street.clone(), city.clone()]), Sink::PaymentForm);
        assert_eq!(sink_of(std::slice::from_ref(&password)), Sink::LoginForm);
        assert_eq!(sink_of(&[street.clone(), country]), Sink::AddressForm);
        assert_eq!(sink_of(&[street, city]), Sink::AddressForm);
        assert_eq!(sink_of(&[chat, send.clone()]), Sink::FreeText);
        assert_eq!(sink_of(&[search]), Sink::FreeText);
        assert_eq!(sink_of(&[note.clone(), send]), Sink::FreeText);
        assert_eq!(sink_of(&[note.clone(), note]), Sink::Other);
        assert_eq!(sink_of(&[card, password.clone()]), Sink::PaymentForm);
        let lines = control("textarea", "", "", "Anschrift und Straße");
        let town = control("input", "text", "", "Wohnort");
        assert_eq!(sink_of(&[lines.clone(), town.clone()]), Sink::AddressForm);
        assert_eq!(sink_of(&[lines, town, password]), Sink::LoginForm);
        assert_eq!(sink_of(&[]), Sink::Other);
        // WordPress' settings: addresses of the web.
        let web = |label: &str| control("input", "url", "", label);
        let settings = [web("WordPress Address (URL)"), web("Site Address (URL)")];
        assert_eq!(sink_of(&settings), Sink::Other);
        let words = |label: &str| control("input", "text", "", label);
        assert_eq!(sink_of(&[words("Numer karty")]), Sink::PaymentForm, "in Polish");
        assert_eq!(sink_of(&[words("郵便番号"), words("市区町村")]), Sink::AddressForm, "in Japanese");
    }
}
