//! What the user wants done: the kinds of request it may need, and how much it may cost.

use sirl::{Currency, Field, FieldSet, Kind, Money};

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| words.iter().any(|w| w.eq_ignore_ascii_case(word)))
}

/// What says that a clause is about what is *not* to be done.
const NEGATIONS: [&str; 8] = ["not", "don", "dont", "never", "without", "no", "nor", "neither"];

/// How many words may stand between `my` and what is mine, as in "my old home address".
const WORDS_BETWEEN: usize = 3;

/// The clauses of a prompt that ask for something, as words in lower case.
fn clauses(prompt: &str) -> Vec<Vec<String>> {
    let words = |clause: &str| -> Vec<String> {
        let pieces = clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        pieces.map(str::to_lowercase).collect()
    };
    let clauses = prompt.split(['.', ',', ';', ':', '!', '?', '\n']).map(words);
    clauses.filter(|words| !words.iter().any(|word| NEGATIONS.contains(&word.as_str()))).collect()
}

/// Whether the user speaks of something of their own by one of these names, as in "my home address", and by none of
/// the `others` on the way there: "my e-mail address" is no address.
fn speaks_of(clauses: &[Vec<String>], names: &[&str], others: &[&str]) -> bool {
    let is = |word: &String, of: &[&str]| of.contains(&word.as_str());
    clauses.iter().any(|words| {
        words.iter().enumerate().filter(|(_, word)| is(word, &["my", "our"])).any(|(at, _)| {
            let after = words.iter().skip(at + 1).take(WORDS_BETWEEN + 1);
            let mut before_other = after.take_while(|word| !is(word, others));
            before_other.any(|word| is(word, names))
        })
    })
}

/// Whether two words follow each other.
fn has_pair(clauses: &[Vec<String>], first: &str, second: &[&str]) -> bool {
    let follows =
        |pair: &[String]| matches!(pair, [one, other] if one == first && second.contains(&other.as_str()));
    clauses.iter().any(|words| words.windows(2).any(follows))
}

/// The kinds of request that the user's words may need: what they order, the values in their words, and what they call
/// their own. A card is planned to be typed only where its number stands there.
pub(super) fn kinds(prompt: &str, fields: FieldSet) -> Vec<Kind> {
    const MAIL: [&str; 4] = ["email", "mail", "ip", "web"];
    let buys = has_word(prompt, &["buy", "order", "purchase", "pay", "book"]);
    let clauses = clauses(prompt);
    let signs_in =
        || has_pair(&clauses, "log", &["in", "into", "on"]) || has_pair(&clauses, "sign", &["in", "into"]);
    let needs = |kind: Kind| match kind {
        Kind::Purchase => buys,
        Kind::Address => {
            buys || fields.contains(Field::Street) || speaks_of(&clauses, &["address", "addresses"], &MAIL)
        }
        Kind::Contact => {
            let names = ["email", "mail", "phone", "telephone", "mobile", "contact"];
            let given = fields.contains(Field::Email) || fields.contains(Field::Phone);
            buys || given || speaks_of(&clauses, &names, &[])
        }
        Kind::Payment => fields.contains(Field::CardNumber),
        Kind::Identity => {
            fields.contains(Field::GovernmentId) || speaks_of(&clauses, &["passport", "ssn", "id"], &[])
        }
        Kind::Login => {
            let names = ["password", "login", "credentials"];
            let said = has_word(prompt, &["login", "signin"]) || signs_in();
            fields.contains(Field::Password) || said || speaks_of(&clauses, &names, &[])
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(prompt: &str) -> Vec<&'static str> {
        kinds(prompt, FieldSet::default()).into_iter().map(Kind::as_str).collect()
    }

    #[test]
    fn what_the_user_calls_their_own_is_planned() {
        for (prompt, expected) in [
            ("Fill in my home address at https://shop.example/account.", &["address"][..]),
            ("Put our new delivery address and my phone number into the form", &["contact", "address"]),
            ("Subscribe to the letter at https://news.example with my e-mail address", &["contact"]),
            ("Log in to https://bank.example and read the balance", &["login"]),
            ("Sign into https://bank.example with my password", &["login"]),
            ("Register me with my passport number", &["identity"]),
            ("Read the opening hours at https://shop.example", &[]),
            ("What is the address of the shop at https://shop.example?", &[]),
            ("Find out my IP address", &[]),
            ("Sign the petition in red", &[]),
        ] {
            let mut expected = expected.to_vec();
            let mut found = planned(prompt);
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{prompt}");
        }
    }

    #[test]
    fn what_is_not_to_be_given_is_not_planned() {
        for prompt in [
            "Read the reviews. Do not give away my address",
            "Compare prices, never with my email",
            "Look around without my phone number",
            "Don't tell them my passport number",
        ] {
            assert_eq!(planned(prompt), [""; 0], "{prompt}");
        }
    }
}
