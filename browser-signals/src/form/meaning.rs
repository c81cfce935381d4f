//! Classifies a control or a button by the words that the page uses for it, in six languages.
//!
//! These words come from the page. They decide how much a user is shown, and which controls an agent may still type into
//! next to a form that only grants fill; one decisive word outweighs every harmless one.

use super::words::{DECISIVE, FINISHES, HARMLESS, LEADS_ON};
pub use super::words::{Decisive, Harmless};
use crate::Control;

/// The meaning of words. Unknown words do not count as harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// They decide something.
    Decisive(Decisive),
    /// They are known to decide nothing.
    Harmless(Harmless),
    /// No known word is among them.
    Unknown,
}

impl Meaning {
    /// The meaning of a control, by its label, its name and its hints.
    pub fn of(control: &Control) -> Meaning {
        let hints = control.autocomplete.to_ascii_lowercase();
        let hinted = hints.split_ascii_whitespace().any(|hint| !matches!(hint, "on" | "off"));
        let texts = [control.label.as_str(), control.name.as_str()];
        if control.input_type == "password" {
            return Meaning::Decisive(Decisive::Account);
        }
        if matches!(control.input_type.as_str(), "email" | "tel") {
            return Meaning::Decisive(Decisive::Person);
        }
        match Meaning::of_words(&texts) {
            // `autocomplete` says that the browser may fill the control with the user's data.
            Meaning::Harmless(_) | Meaning::Unknown if hinted => match decisive(&[&hints]) {
                Some(decisive) => Meaning::Decisive(decisive),
                None if hints.contains("cc-") => Meaning::Decisive(Decisive::Payment),
                None => Meaning::Unknown,
            },
            Meaning::Unknown if control.input_type == "search" => Meaning::Harmless(Harmless::Search),
            meaning => meaning,
        }
    }

    /// The meaning of all these words together.
    pub fn of_words(texts: &[&str]) -> Meaning {
        if let Some(decisive) = decisive(texts) {
            return Meaning::Decisive(decisive);
        }
        let found = HARMLESS.iter().find(|(_, stems)| has_stem(texts, stems));
        found.map_or(Meaning::Unknown, |(harmless, _)| Meaning::Harmless(*harmless))
    }
}

/// The decisive subject of these words, if they have one.
pub fn decisive(texts: &[&str]) -> Option<Decisive> {
    DECISIVE.iter().find(|(_, stems)| has_stem(texts, stems)).map(|(decisive, _)| *decisive)
}

/// Whether a button with these words only leads to a next step: it finishes nothing and decides nothing.
pub fn leads_on(label: &str) -> bool {
    let texts = [label];
    let goes_on = has_stem(&texts, &LEADS_ON) || matches!(Meaning::of_words(&texts), Meaning::Harmless(_));
    goes_on && decisive(&texts).is_none() && !has_stem(&texts, &FINISHES)
}

fn has_stem(texts: &[&str], stems: &[&str]) -> bool {
    texts.iter().flat_map(|text| words(text)).any(|word| {
        stems.iter().any(|stem| match (stem.strip_prefix('*'), stem.strip_prefix('=')) {
            (Some(part), _) => word.contains(part),
            (None, Some(whole)) => word == whole,
            (None, None) => word.starts_with(stem),
        })
    })
}

/// The words of a text in small letters. `shipToName` is three; `e-mail` is one.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.replace("e-mail", "email").replace("E-Mail", "email").replace("E-mail", "email").chars() {
        if !c.is_alphanumeric() || (was_small && c.is_uppercase()) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisive_words_outweigh_harmless_ones() {
        for (text, meaning) in [
            ("Street and number", Meaning::Decisive(Decisive::Address)),
            ("Hausnummer", Meaning::Decisive(Decisive::Address)),
            ("Lieferadresse", Meaning::Decisive(Decisive::Address)),
            ("Point relais", Meaning::Decisive(Decisive::Delivery)),
            ("Ciudad", Meaning::Decisive(Decisive::Address)),
            ("Indirizzo", Meaning::Decisive(Decisive::Address)),
            ("Straatnaam", Meaning::Decisive(Decisive::Address)),
            ("shipToName", Meaning::Decisive(Decisive::Delivery)),
            ("Monthly subscription", Meaning::Decisive(Decisive::Recurs)),
            ("Gift note: street", Meaning::Decisive(Decisive::Address)),
            ("E-Mail", Meaning::Decisive(Decisive::Person)),
            ("Gift note", Meaning::Harmless(Harmless::Note)),
            ("Menge", Meaning::Harmless(Harmless::Quantity)),
            ("Kleur", Meaning::Harmless(Harmless::Variant)),
            ("Code promo", Meaning::Harmless(Harmless::Coupon)),
            ("Rechercher", Meaning::Harmless(Harmless::Search)),
            ("Anything else?", Meaning::Unknown),
            ("", Meaning::Unknown),
        ] {
            assert_eq!(Meaning::of_words(&[text]), meaning, "{text}");
        }
    }

    #[test]
    fn a_button_leads_on_unless_it_finishes_or_decides_something() {
        for label in ["Add to cart", "In den Warenkorb", "Search", "Next", "Accept all cookies", "Show more"]
        {
            assert!(leads_on(label), "{label}");
        }
        for label in [
            "Locker 17",
            "Place order",
            "Ship here",
            "Continue to payment",
            "Jetzt kaufen",
            "Use this one",
            "",
        ] {
            assert!(!leads_on(label), "{label}");
        }
    }
}
