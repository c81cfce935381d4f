//! What the user wants done: the kinds of request it may need, and how much it may cost.

use sirl::{Currency, Field, FieldSet, Kind, Money};

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| words.iter().any(|w| w.eq_ignore_ascii_case(word)))
}

pub(super) fn kinds(prompt: &str, fields: FieldSet) -> Vec<Kind> {
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
pub(super) fn budget(prompt: &str) -> Option<Money> {
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
