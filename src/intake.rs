//! The user's first prompt: values move into the vault, handles take their place, the task is sealed.
//!
//! Intake is deterministic and runs before the model sees a word. It finds what has a recognisable form
//! (card numbers, e-mail addresses, phone numbers) and what the user labels (`street: 17 Quarry Road;`).
//! A value that has neither stays in the prompt, and so with the model: label what you want kept.

use std::ops::Range;

use browser_signals::{Container, Origin};
use classifier::{Detector, Detectors, SensitiveKind};
use policy_dfa::Task;
use sirl::{Currency, Field, FieldSet, Kind, Money};

/// The labels that a user writes before a value, each followed by a colon or a space.
const LABELS: [(&str, Field); 30] = [
    ("full name", Field::Name),
    ("name", Field::Name),
    ("street", Field::Street),
    ("address", Field::Street),
    ("postal code", Field::PostalCode),
    ("postcode", Field::PostalCode),
    ("zip code", Field::PostalCode),
    ("zip", Field::PostalCode),
    ("city", Field::City),
    ("town", Field::City),
    ("region", Field::Region),
    ("state", Field::Region),
    ("country", Field::Country),
    ("e-mail", Field::Email),
    ("email", Field::Email),
    ("phone", Field::Phone),
    ("card number", Field::CardNumber),
    ("card", Field::CardNumber),
    ("exp", Field::CardExpiry),
    ("expiry", Field::CardExpiry),
    ("expires", Field::CardExpiry),
    ("cvv", Field::CardCode),
    ("cvc", Field::CardCode),
    ("security code", Field::CardCode),
    ("password", Field::Password),
    ("government id", Field::GovernmentId),
    ("passport number", Field::GovernmentId),
    ("ssn", Field::GovernmentId),
    ("one-time code", Field::OneTimeCode),
    ("otp", Field::OneTimeCode),
];

/// The records that a prompt's values go into.
pub const HANDLES: [&str; 5] = ["card:task", "contact:task", "identity:task", "login:task", "address:task"];

/// One value found in the prompt, by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub span: Range<usize>,
    /// What it is.
    pub field: Field,
    /// The handle of the record it goes into, such as `card:task`.
    pub handle: &'static str,
}

/// What intake made of a prompt. The values themselves are still in the caller's text, at the spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    /// The values, in the order of the text.
    pub found: Vec<Found>,
    /// The prompt for the model, with handles in place of the values.
    pub prompt: String,
    /// The origins the user named.
    pub origins: Vec<Origin>,
    /// The kinds of request that the task may need.
    pub kinds: Vec<Kind>,
    /// The most the user wants to spend.
    pub budget: Option<Money>,
}

/// The record that a field taken from the prompt goes into.
fn handle_of(field: Field) -> &'static str {
    match field {
        Field::CardNumber | Field::CardExpiry | Field::CardCode => "card:task",
        Field::Email | Field::Phone => "contact:task",
        Field::GovernmentId => "identity:task",
        Field::Password | Field::OneTimeCode => "login:task",
        Field::Name | Field::Street | Field::PostalCode | Field::City | Field::Region | Field::Country => {
            "address:task"
        }
    }
}

/// Reads a prompt.
pub fn read(prompt: &str, detectors: &Detectors) -> Intake {
    // What the user labelled goes before what only looks like something.
    let mut found = by_label(prompt);
    for labelled in by_form(prompt, detectors) {
        if found
            .iter()
            .all(|other| other.span.end <= labelled.span.start || labelled.span.end <= other.span.start)
        {
            found.push(labelled);
        }
    }
    found.sort_by_key(|value| value.span.start);
    let mut clean = String::with_capacity(prompt.len());
    let mut from = 0;
    for value in &found {
        clean.push_str(prompt.get(from..value.span.start).unwrap_or(""));
        clean.push_str(&format!("[{}]", value.handle));
        from = value.span.end;
    }
    clean.push_str(prompt.get(from..).unwrap_or(""));
    let origins = origins(prompt);
    let fields: FieldSet = found.iter().map(|value| value.field).collect();
    let kinds = kinds(prompt, fields);
    Intake { found, origins, kinds, budget: budget(prompt), prompt: clean }
}

impl Intake {
    /// The task, sealed, in a container of at most `container`.
    pub fn seal(&self, container: Container) -> Task {
        Task::new(self.origins.clone(), self.kinds.clone(), self.budget, container)
    }
}

/// Values that are recognised by their form. Those inside a web address are left: they are part of it.
fn by_form(prompt: &str, detectors: &Detectors) -> Vec<Found> {
    let links = links(prompt);
    let findings = detectors.detect(prompt);
    let values = findings.into_iter().filter_map(|finding| {
        let field = match finding.kind {
            SensitiveKind::CardNumber => Field::CardNumber,
            SensitiveKind::Email => Field::Email,
            SensitiveKind::Phone => Field::Phone,
            _ => return None,
        };
        let inside = links.iter().any(|link| link.start < finding.span.end && finding.span.start < link.end);
        (!inside).then_some(Found { span: finding.span, field, handle: handle_of(field) })
    });
    values.collect()
}

/// Values that the user labelled: up to the next `;`, `,`, line end, or full stop before a space.
fn by_label(prompt: &str) -> Vec<Found> {
    let lower = prompt.to_ascii_lowercase();
    let links = links(prompt);
    let mut found: Vec<Found> = Vec::new();
    for (label, field) in LABELS {
        for (at, _) in lower.match_indices(label) {
            let after = at + label.len();
            let word_before =
                lower.get(..at).and_then(|t| t.chars().next_back()).is_some_and(char::is_alphanumeric);
            let Some(rest) = lower.get(after..) else { continue };
            let bare = matches!(field, Field::CardNumber | Field::CardExpiry | Field::CardCode);
            let gap = match rest.chars().next() {
                Some(':') => 1 + rest.get(1..).map_or(0, |r| r.len() - r.trim_start_matches(' ').len()),
                Some(' ') if bare && rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) => {
                    rest.len() - rest.trim_start_matches(' ').len()
                }
                _ => continue,
            };
            let start = after + gap;
            let Some(value) = prompt.get(start..) else { continue };
            let whole = matches!(field, Field::Password | Field::OneTimeCode);
            let length = if whole {
                value.find(char::is_whitespace).unwrap_or(value.len())
            } else {
                value_length(value, bare)
            };
            // A web address after the value is not part of it; a label within one is none.
            let next_link =
                links.iter().map(|link| link.start).find(|link| *link >= start).unwrap_or(prompt.len());
            let end =
                start + prompt.get(start..(start + length).min(next_link)).map_or(0, |v| v.trim_end().len());
            let inside = links.iter().any(|link| link.start <= at && at < link.end);
            let taken = found.iter().any(|other| other.span.start < end && start < other.span.end);
            if !word_before && start < end && !inside && !taken {
                found.push(Found { span: start..end, field, handle: handle_of(field) });
            }
        }
    }
    found
}

/// How many bytes of `text` are the value it begins with, without trailing spaces.
fn value_length(text: &str, digits_only: bool) -> usize {
    let stops = |(at, c): (usize, char)| {
        let stop = if digits_only {
            !(c.is_ascii_digit() || matches!(c, ' ' | '/' | '-'))
        } else {
            let next_is_space =
                text.get(at + 1..).is_none_or(|rest| rest.is_empty() || rest.starts_with([' ', '\n']));
            matches!(c, ';' | ',' | '\n' | '\r') || (c == '.' && next_is_space)
        };
        stop.then_some(at)
    };
    let end = text.char_indices().find_map(stops).unwrap_or(text.len());
    text.get(..end).map_or(0, |value| value.trim_end().len())
}

/// The spans of web addresses.
fn links(prompt: &str) -> Vec<Range<usize>> {
    let mut links = Vec::new();
    let mut from = 0;
    while let Some(at) = prompt.get(from..).and_then(|rest| rest.find("http")) {
        let start = from + at;
        let rest = prompt.get(start..).unwrap_or("");
        let length = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | ')'))
            .unwrap_or(rest.len());
        let end =
            start + rest.get(..length).unwrap_or("").trim_end_matches(['.', ',', ';', ':', '!', '?']).len();
        if rest.starts_with("http://") || rest.starts_with("https://") {
            links.push(start..end);
        }
        from = end.max(start + 4);
    }
    links
}

fn origins(prompt: &str) -> Vec<Origin> {
    let mut origins: Vec<Origin> = Vec::new();
    for link in links(prompt) {
        if let Some(Ok(origin)) = prompt.get(link).map(Origin::parse)
            && !origins.contains(&origin)
        {
            origins.push(origin);
        }
    }
    origins
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| words.iter().any(|w| w.eq_ignore_ascii_case(word)))
}

fn kinds(prompt: &str, fields: FieldSet) -> Vec<Kind> {
    let buys = has_word(prompt, &["buy", "order", "purchase", "pay", "book"]);
    let needs = |kind: Kind| match kind {
        Kind::Purchase => buys,
        Kind::Address => buys || fields.contains(Field::Street),
        Kind::Contact => buys || fields.contains(Field::Email) || fields.contains(Field::Phone),
        Kind::Payment => fields.contains(Field::CardNumber),
        Kind::Identity => fields.contains(Field::GovernmentId),
        Kind::Login => fields.contains(Field::Password) || has_word(prompt, &["login", "signin"]),
        Kind::Otp => fields.contains(Field::OneTimeCode),
    };
    Kind::ALL.into_iter().filter(|kind| needs(*kind)).collect()
}

/// The amount after words such as `at most` or `up to`: a decimal and a currency code, in either order.
fn budget(prompt: &str) -> Option<Money> {
    let lower = prompt.to_ascii_lowercase();
    ["at most", "up to", "no more than", "maximum of", "budget of", "budget:"].iter().find_map(|words| {
        let after = lower.find(words)? + words.len();
        let tokens: Vec<&str> = prompt.get(after..)?.split_whitespace().take(2).collect();
        let (first, second) = (tokens.first()?, tokens.get(1)?);
        let trim = |text: &str| text.trim_end_matches(['.', ',', ';']).to_owned();
        let amount = |number: &str, code: &str| Money::parse(&trim(number), Currency::new(&trim(code))?);
        amount(first, second).or_else(|| amount(second, first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Please buy 2 x \"Copper kettle, 1.7 l\" at https://copper-kettle.test/t/a1/product. Spend at most 140.00 USD in all. Ship it to: name: Ada Lane; street: 17 Quarry Road; postal code: 94704; city: Berkeley; region: CA; country: US; email: ada.lane@mail.test; phone: +1 510 555 0142. Pay with card number 4111 1111 1111 1111, exp 12/29, cvv 123.";

    #[test]
    fn every_value_leaves_the_prompt() {
        let intake = read(PROMPT, &Detectors::standard().unwrap());
        let values: Vec<(Field, &str)> =
            intake.found.iter().map(|f| (f.field, &PROMPT[f.span.clone()])).collect();
        assert_eq!(
            values,
            [
                (Field::Name, "Ada Lane"),
                (Field::Street, "17 Quarry Road"),
                (Field::PostalCode, "94704"),
                (Field::City, "Berkeley"),
                (Field::Region, "CA"),
                (Field::Country, "US"),
                (Field::Email, "ada.lane@mail.test"),
                (Field::Phone, "+1 510 555 0142"),
                (Field::CardNumber, "4111 1111 1111 1111"),
                (Field::CardExpiry, "12/29"),
                (Field::CardCode, "123"),
            ]
        );
        for (_, value) in values {
            assert!(!intake.prompt.contains(value) || value == "US", "{value} is left in {}", intake.prompt);
        }
        assert!(intake.prompt.contains("card number [card:task], exp [card:task], cvv [card:task]."));
        assert!(intake.prompt.contains("https://copper-kettle.test/t/a1/product."));
    }

    #[test]
    fn the_task_is_what_the_user_said() {
        let intake = read(PROMPT, &Detectors::standard().unwrap());
        let task = intake.seal(Container::T2);
        assert_eq!(task.origins(), [Origin::parse("https://copper-kettle.test").unwrap()]);
        assert_eq!(task.budget().unwrap().minor, 14_000);
        assert_eq!(task.kinds(), [Kind::Address, Kind::Payment, Kind::Purchase, Kind::Contact]);
    }

    #[test]
    fn a_prompt_without_values_stays_as_it_is() {
        let text =
            "Read https://news.example and tell me the headline: is it about kettles? My name is short.";
        let intake = read(text, &Detectors::standard().unwrap());
        assert_eq!(intake.prompt, text);
        assert_eq!(intake.kinds, []);
        assert_eq!(intake.budget, None);
    }

    #[test]
    fn a_labelled_secret_leaves_whole_whatever_stands_around_it() {
        let detectors = Detectors::standard().unwrap();
        for (text, secret) in [
            ("Log in with password: hunter2 at https://bank.example now", "hunter2"),
            ("password: joe@home.com#77 at https://bank.example", "joe@home.com#77"),
            ("Use password: Winter,2025! on https://bank.example", "Winter,2025!"),
        ] {
            let intake = read(text, &detectors);
            assert!(intake.prompt.contains("password: [login:task] "), "{}", intake.prompt);
            assert_eq!(intake.found.len(), 1);
            assert_eq!(&text[intake.found[0].span.clone()], secret);
            assert!(intake.prompt.contains("https://bank.example"));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_prompt_is_read_without_a_panic(text in "(?s).{0,200}") {
            read(&text, &Detectors::standard().unwrap());
        }

        #[test]
        fn a_labelled_value_never_stays(value in "[A-Z][a-z]{4,12} [0-9]{3,5}[a-z]{2}") {
            let text = format!("Buy it. Ship to street: {value}; city: Xyzzyville.");
            let prompt = read(&text, &Detectors::standard().unwrap()).prompt;
            proptest::prop_assert!(!prompt.contains(&value));
            proptest::prop_assert!(!prompt.contains("Xyzzyville"));
        }
    }
}
