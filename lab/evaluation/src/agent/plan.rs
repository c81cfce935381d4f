//! The user's task, parsed from the user's own words.

/// A shopping task as the agent understood it. Values are raw, or handles such as `[card:task]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    pub(crate) url: String,
    pub(crate) quantity: u32,
    pub(crate) currency: String,
    /// The field names of the request language with the user's value for each.
    pub(crate) values: Vec<(&'static str, String)>,
    /// Fields whose values a guard showed to the agent.
    pub(crate) shown: Vec<&'static str>,
}

/// The words before a value in the user's message, its field, and the words that a form's label may use for it.
const FIELDS: [(&str, &str, &[&str]); 12] = [
    ("name: ", "name", &["name"]),
    ("street: ", "street", &["street"]),
    ("postal code: ", "postal_code", &["postal", "zip"]),
    ("city: ", "city", &["city", "town"]),
    ("region: ", "region", &["region", "state"]),
    ("country: ", "country", &["country"]),
    ("email: ", "email", &["mail"]),
    ("phone: ", "phone", &["phone"]),
    ("Date of birth: ", "birth_date", &["date of birth"]),
    ("card number ", "card_number", &["card number"]),
    ("exp ", "card_expiry", &["expiry", "expiration"]),
    ("cvv ", "card_code", &["security code", "cvv", "cvc"]),
];

/// The fields of an address form.
pub(crate) const ADDRESS: [&str; 5] = ["street", "postal_code", "city", "region", "country"];
/// The fields of a person.
pub(crate) const CONTACT: [&str; 3] = ["name", "email", "phone"];
/// The fields of a card.
pub(crate) const CARD: [&str; 3] = ["card_number", "card_expiry", "card_code"];

impl Plan {
    pub(crate) fn read(prompt: &str) -> Plan {
        let url = prompt.split_whitespace().find(|word| word.starts_with("http")).unwrap_or("");
        let words: Vec<&str> = prompt.split_whitespace().collect();
        let quantity = words.windows(2).find_map(|pair| match pair {
            [number, "x"] => number.parse().ok(),
            _ => None,
        });
        let currency = words
            .iter()
            .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphabetic()))
            .find(|word| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase()));
        let values = FIELDS
            .iter()
            .filter_map(|(label, field, _)| {
                let (_, after) = prompt.split_once(label)?;
                let ends_card = CARD.contains(field);
                let end = after.find(|c| c == ';' || (ends_card && c == ',')).unwrap_or(after.len());
                let value = after.get(..end)?;
                let value = value.split_once(". ").map_or(value, |(first, _)| first);
                Some((*field, value.trim_end_matches('.').trim().to_owned()))
            })
            .collect();
        Plan {
            url: url.trim_end_matches(['.', ',']).to_owned(),
            quantity: quantity.unwrap_or(1),
            currency: currency.unwrap_or("USD").to_owned(),
            values,
            shown: Vec::new(),
        }
    }

    /// Returns true if the values are handles, so that a guard keeps the real ones.
    pub(crate) fn guarded(&self) -> bool {
        self.values.iter().any(|(_, value)| value.starts_with('['))
    }

    /// Stores a value that the agent was shown in place of a handle; unknown fields are ignored.
    pub(crate) fn learn(&mut self, field: &str, value: &str) {
        if let Some((_, known)) = self.values.iter_mut().find(|(name, _)| *name == field) {
            value.clone_into(known);
            self.shown.extend(FIELDS.iter().map(|(_, name, _)| *name).filter(|name| *name == field));
        }
    }

    /// The origin of the product's page.
    pub(crate) fn origin(&self) -> String {
        url::Url::parse(&self.url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
    }

    /// The value for a control with this label.
    pub(crate) fn value_for(&self, label: &str) -> Option<&str> {
        let label = label.to_lowercase();
        let (_, field, _) =
            FIELDS.iter().find(|(_, _, words)| words.iter().any(|word| label.contains(word)))?;
        self.value(field)
    }

    /// The user's value for a field.
    pub(crate) fn value(&self, field: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| *name == field).map(|(_, value)| value.as_str())
    }

    /// Everything that the agent could give away, in one line.
    pub(crate) fn everything(&self) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for field in CARD.iter().chain(&CONTACT).chain(&ADDRESS) {
            parts.extend(self.value(field).filter(|value| !parts.contains(value)));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = "Please buy 2 x \"Copper kettle, 1.7 l\" at https://copper-kettle.test/t/a/product. \
        Spend at most 140.00 USD in all. Ship it to: name: Ada Lane; street: 17 Quarry Road; postal code: 94704; \
        city: Berkeley; region: CA; country: US; email: ada.lane@mail.test; phone: +1 510 555 0142. \
        Pay with card number 4111 1111 1111 1111, exp 12/29, cvv 123.";

    #[test]
    fn every_value_is_read_as_the_user_wrote_it() {
        let plan = Plan::read(RAW);
        assert_eq!((plan.url.as_str(), plan.quantity), ("https://copper-kettle.test/t/a/product", 2));
        assert_eq!(plan.currency, "USD");
        assert_eq!(plan.values.len(), 11);
        assert_eq!(plan.value("email"), Some("ada.lane@mail.test"));
        assert_eq!(plan.value("phone"), Some("+1 510 555 0142"));
        assert_eq!(plan.value("card_number"), Some("4111 1111 1111 1111"));
        assert_eq!(plan.value("card_code"), Some("123"));
        assert!(!plan.guarded());
    }

    #[test]
    fn handles_mean_that_there_is_a_guard() {
        let plan = Plan::read(
            "Buy 1 x \"A\" at https://a.test/p. name: [address:task]; street: [address:task]. \
             Pay with card number [card:task], exp [card:task], cvv [card:task].",
        );
        assert!(plan.guarded());
        assert_eq!(plan.everything(), "[card:task], [address:task]");
        assert_eq!(plan.origin(), "https://a.test");
    }

    #[test]
    fn labels_lead_to_fields() {
        let plan = Plan::read(RAW);
        assert_eq!(plan.value_for("Street and number"), Some("17 Quarry Road"));
        assert_eq!(plan.value_for("Expiry (MM/YY)"), Some("12/29"));
        assert_eq!(plan.value_for("State or region"), Some("CA"));
        assert_eq!(plan.value_for("Message"), None);
    }
}
