//! The task in the user's words: the kinds of request that it may need, and its budget.

use std::ops::Range;

use sirl::{Currency, Field, Kind, Money};

use super::negation::{self, PromptWord};

/// The most words between `my` and the noun, as in "my old home address".
const MAX_WORDS_BETWEEN: usize = 3;

/// Words after a negated act that leave its object open, so that the whole act is negated.
const OPEN_OBJECTS: [&str; 12] = [
    "anything",
    "something",
    "nothing",
    "it",
    "them",
    "this",
    "that",
    "yet",
    "now",
    "necessary",
    "required",
    "needed",
];

const BUYS: [&str; 5] = ["buy", "order", "purchase", "pay", "book"];

/// Words before `address` that make it another kind of address than a postal one.
const MAIL: [&str; 4] = ["email", "mail", "ip", "web"];

/// The words by which a user names the data of a kind of request.
const fn names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Purchase => &[],
        Kind::Address => &["address", "addresses"],
        Kind::Contact => &["email", "mail", "phone", "telephone", "mobile", "contact"],
        Kind::Payment => &["card", "cards"],
        Kind::Identity => &["passport", "ssn", "id"],
        Kind::Login => &["password", "login", "signin", "credentials"],
        Kind::Otp => &["code", "codes"],
    }
}

/// The kind of request for a value in the user's words.
const fn kind_of(field: Field) -> Option<Kind> {
    match field {
        Field::Street => Some(Kind::Address),
        Field::Email | Field::Phone => Some(Kind::Contact),
        Field::CardNumber => Some(Kind::Payment),
        Field::GovernmentId | Field::BirthDate => Some(Kind::Identity),
        Field::Password | Field::Username => Some(Kind::Login),
        Field::OneTimeCode => Some(Kind::Otp),
        _ => None,
    }
}

fn is(word: &PromptWord, of: &[&str]) -> bool {
    of.contains(&word.text.as_str())
}

/// The words after one, in its clause.
fn behind(words: &[PromptWord], at: usize) -> impl Iterator<Item = &PromptWord> {
    let clause = words.get(at).map(|word| word.clause);
    words.iter().skip(at + 1).take_while(move |word| Some(word.clause) == clause)
}

/// The words that name a kind; an e-mail or web address does not count as an address.
fn named(words: &[PromptWord], kind: Kind) -> impl Iterator<Item = (usize, &PromptWord)> {
    words.iter().enumerate().filter(move |(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let is_mail = kind == Kind::Address && before.is_some_and(|before| is(before, &MAIL));
        is(word, names(kind)) && !is_mail
    })
}

/// Whether the user names data of their own, as in "my home address".
fn speaks_of(words: &[PromptWord], kind: Kind) -> bool {
    let others: &[&str] = if kind == Kind::Address { &MAIL } else { &[] };
    words.iter().enumerate().filter(|(_, word)| is(word, &["my", "our"])).any(|(at, _)| {
        let mut before_other =
            behind(words, at).take(MAX_WORDS_BETWEEN + 1).take_while(|word| !is(word, others));
        before_other.any(|word| is(word, names(kind)))
    })
}

/// The words about logging or signing in, or up.
fn signs_in(words: &[PromptWord]) -> impl Iterator<Item = &PromptWord> {
    words.iter().enumerate().filter_map(|(at, word)| {
        let next = behind(words, at).next()?;
        let does = is(word, &["log"]) && is(next, &["in", "into", "on"])
            || is(word, &["sign"]) && is(next, &["in", "into", "up"]);
        does.then_some(word)
    })
}

/// Whether nothing at all is to be bought: buying is negated, and no object is named.
fn buys_nothing(words: &[PromptWord]) -> bool {
    words.iter().enumerate().filter(|(_, word)| word.undone && is(word, &BUYS)).any(|(at, _)| {
        let object = behind(words, at).find(|word| !is(word, &["please", "for", "just"]));
        object.is_none_or(|object| is(object, &OPEN_OBJECTS) || is(object, &BUYS))
    })
}

/// The kinds of request that the task may need: by a purchase, by the values in the prompt, and by the data that the user
/// calls their own; without the kinds that the user excludes. Typing a card is planned only if the prompt contains its
/// number.
pub(super) fn kinds(prompt: &str, links: &[Range<usize>], values: &[(Range<usize>, Field)]) -> Vec<Kind> {
    let spans: Vec<Range<usize>> = values.iter().map(|(span, _)| span.clone()).collect();
    let words = negation::words(prompt, links, &spans);
    let is_denied = |span: &Range<usize>| {
        words.iter().any(|word| word.denied && word.span.start < span.end && span.start < word.span.end)
    };
    let given = |kind: Kind| values.iter().any(|(_, field)| kind_of(*field) == Some(kind));
    let buys = words.iter().any(|word| !word.undone && is(word, &BUYS)) && !buys_nothing(&words);
    let logs_in = || {
        let named = ["login", "signin", "register", "registration", "signup"];
        let said = words.iter().any(|word| is(word, &named)) || signs_in(&words).next().is_some();
        given(Kind::Login) || said || speaks_of(&words, Kind::Login)
    };
    let refused = |kind: Kind| {
        values.iter().any(|(span, field)| kind_of(*field) == Some(kind) && is_denied(span))
            || named(&words, kind).any(|(_, word)| word.denied)
            || (kind == Kind::Login && signs_in(&words).any(|word| word.denied || word.undone))
    };
    let needs = |kind: Kind| match kind {
        Kind::Purchase => buys,
        Kind::Address | Kind::Contact => buys || given(kind) || speaks_of(&words, kind),
        Kind::Payment => given(kind),
        Kind::Identity => given(kind) || speaks_of(&words, kind),
        Kind::Login => logs_in(),
        // A login may ask for a second factor.
        Kind::Otp => given(kind) || logs_in() && !refused(Kind::Login),
    };
    Kind::ALL.into_iter().filter(|kind| needs(*kind) && !refused(*kind)).collect()
}

/// The budget: the amount after words such as `at most` or `up to`, a decimal and a currency code in either order.
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
        let links = crate::intake::named::links(prompt);
        kinds(prompt, &links, &[]).into_iter().map(Kind::as_str).collect()
    }

    fn plans(prompt: &str, expected: &[&str]) {
        let (mut expected, mut found) = (expected.to_vec(), planned(prompt));
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{prompt}");
    }

    #[test]
    fn data_that_the_user_calls_their_own_is_planned() {
        for (prompt, expected) in [
            ("Fill in my home address at https://shop.example/account.", &["address"][..]),
            ("Put our new delivery address and my phone number into the form", &["contact", "address"]),
            ("Subscribe to the letter at https://news.example with my e-mail address", &["contact"]),
            ("Log in to https://bank.example and read the balance", &["login", "otp"]),
            ("Sign into https://bank.example with my password", &["login", "otp"]),
            ("Register me with my passport number", &["identity", "login", "otp"]),
            ("Sign up at https://shop.example", &["login", "otp"]),
            ("Read the opening hours at https://shop.example", &[]),
            ("What is the address of the shop at https://shop.example?", &[]),
            ("Find out my IP address", &[]),
            ("Sign the petition in red", &[]),
        ] {
            plans(prompt, expected);
        }
    }

    #[test]
    fn data_that_the_user_excludes_is_not_planned() {
        for prompt in [
            "Read the reviews. Do not give away my address",
            "Compare prices, never with my email",
            "Look around without my phone number",
            "Don't tell them my passport number",
            "You cannot use my address",
            "They can\u{2019}t have my address",
            "Nobody gets my address",
            "Fill in everything except my address",
            "Fill in all but my home address",
            "Anything but my phone number",
            "Do not, under any circumstances, give them my address",
            "Never, ever, tell them my phone number",
            "Don't give them my name, my address, my phone number or my passport",
            "Do not give away:\n- my address\n- my phone number",
            "Do not give away\nmy address",
            "My address must not be given to anyone",
            "My address, my phone number and my passport are never to be given away",
            "My address is not to be used",
            "My address and my phone number cannot be used",
            "Give them my address? No, please.",
            "Should you give them my address? Never!",
            "With my phone number, no, thanks",
            "Do you need my password? No, just read.",
            "Fill in the form with no e-mail of mine, no my address, please",
            "Use made-up data instead of my address",
            "Look around rather than sign in",
            "Leave my address out",
            "Keep my address private",
            "My passport is off limits",
            "Avoid giving my phone number",
            "Refrain from using my email",
            "Read it without login",
            "Do not log in",
            "Please read https://news.example, but don't sign in anywhere",
            "I'd rather not give them my address",
            "There is no need for my address",
            "By no means use my phone number",
            "Never under any circumstances use my phone number",
            "Use anything other than my email",
            "DO NOT USE MY ADDRESS",
            "The form wants my address; don't",
            "My e-mail: none of their business",
            "My phone number, do not use it",
            "Read it, login not needed",
            "Read it; my password is not required",
            "My address stays private",
        ] {
            plans(prompt, &[]);
        }
    }

    #[test]
    fn a_purchase_that_the_user_excludes_is_not_planned() {
        for prompt in [
            "Do not buy anything at https://shop.example",
            "Put the kettle into the cart at https://shop.example but do not order it",
            "Compare the prices; don't pay",
            "Look at the order page. Do not order.",
            "Nothing is to be bought, never pay for it",
            "An order must not be placed at https://shop.example",
        ] {
            plans(prompt, &[]);
        }
        // A purchase needs more kinds of data, except for those that the user excludes.
        let all = &["purchase", "address", "contact"][..];
        for (prompt, expected) in [
            ("Buy the kettle at https://shop.example for no more than 50.00 EUR", all),
            ("Order no. 17 at https://shop.example again", all),
            ("Order the kettle at https://shop.example, not the mug", all),
            ("Buy the kettle that is not red and do not buy insurance", all),
            ("Don't forget to order the kettle", all),
            ("Order the kettle for my home address, no gift wrap please", all),
            ("Buy https://shop.example/no-lid", all),
            ("Order the kettle. Do not tell them my phone number.", &["purchase", "address"]),
            ("Order the kettle without giving an e-mail", &["purchase", "address"]),
            ("Order the kettle to the parcel shop, no address needed", &["purchase", "contact"]),
        ] {
            plans(prompt, expected);
        }
    }

    #[test]
    fn a_negation_ends_at_a_turning_word() {
        for (prompt, expected) in [
            ("Do not use my phone number but fill in my address", &["address"][..]),
            ("Do not log in. Fill in my address.", &["address"]),
            ("Don't tell them my phone number, only my address", &["address"]),
            ("Fill in my address, but not my phone number", &["address"]),
            ("Use my address and do not use my phone number", &["address"]),
            ("Do not wait any longer\nFill in my address", &["address"]),
        ] {
            plans(prompt, expected);
        }
    }

    #[test]
    fn an_excluded_value_is_not_planned_and_words_within_a_value_negate_nothing() {
        let prompt = "Fill in the form. Do not use kim@post.test. Street: Never Lane 4, with my passport";
        let span = |value: &str| {
            let at = prompt.find(value).unwrap();
            at..at + value.len()
        };
        let values = [(span("kim@post.test"), Field::Email), (span("Never Lane 4"), Field::Street)];
        assert_eq!(kinds(prompt, &[], &values), [Kind::Address, Kind::Identity]);
    }
}
