//! Reading the value after a label.

use std::ops::Range;

use sirl::Field;

use super::text::{Bond, Certainty, Text};
use super::{address, names};

/// Words that follow `password` in a prompt that contains none.
const NO_SECRET: [&str; 66] = [
    "is",
    "the",
    "how",
    "what",
    "a",
    "an",
    "and",
    "or",
    "to",
    "for",
    "on",
    "at",
    "in",
    "of",
    "my",
    "your",
    "it",
    "not",
    "no",
    "wrong",
    "required",
    "expired",
    "incorrect",
    "missing",
    "weak",
    "too",
    "must",
    "should",
    "manager",
    "managers",
    "reset",
    "field",
    "fields",
    "page",
    "form",
    "policy",
    "policies",
    "recovery",
    "protection",
    "protected",
    "generator",
    "then",
    "please",
    "from",
    "with",
    "that",
    "which",
    "there",
    "invalid",
    "unknown",
    "same",
    "correct",
    "hint",
    "hints",
    "rules",
    "requirements",
    "change",
    "changes",
    "here",
    "below",
    "above",
    "secure",
    "strong",
    "safe",
    "stored",
    "has",
];

/// Reads the value of the label at token `label`, from token `at`.
pub(super) fn read(
    text: &Text<'_>,
    at: usize,
    field: Field,
    bond: Bond,
    label: usize,
) -> Option<(Range<usize>, Certainty)> {
    if at >= text.len() || text.is_closed(at) {
        return None;
    }
    let sure = |span: Range<usize>| (span, Certainty::Yes);
    let quoted = text.quoted_at(at).filter(|_| bond >= Bond::Said || field != Field::OneTimeCode);
    match field {
        Field::Password => match quoted {
            Some(span) => Some(sure(span)),
            None => password(text, at, bond, label),
        },
        Field::Name => match quoted {
            Some(span) => Some(sure(span)),
            None => names::labelled(text, at, bond),
        },
        Field::Street => match quoted {
            Some(span) => Some(sure(span)),
            None => address::labelled_street(text, at).map(sure),
        },
        Field::City | Field::Region | Field::Country => {
            quoted.or_else(|| address::labelled_place(text, at)).map(sure)
        }
        Field::PostalCode => address::postal_code(text, inner(text, at)).map(sure),
        Field::CardExpiry => expiry(text, inner(text, at)).map(sure),
        Field::CardCode => code(text, inner(text, at)).map(sure),
        Field::CardNumber => digits(text, inner(text, at), 12..=19).map(sure),
        Field::Phone => digits(text, inner(text, at), 6..=15).map(sure),
        Field::OneTimeCode => one_time_code(text, inner(text, at)).map(sure),
        Field::GovernmentId => government_id(text, inner(text, at)).map(sure),
        Field::Username => quoted.or_else(|| user_name(text, at)).map(sure),
        Field::BirthDate => birth_date(text, inner(text, at)).map(sure),
        // The detectors find an address by its form, with or without a label. A company is public, and the guard makes new passwords.
        Field::Email | Field::Company | Field::NewPassword => None,
    }
}

/// The text up to the next space, without a punctuation mark at its end.
fn word<'t>(text: &Text<'t>, at: usize) -> Option<(usize, &'t str)> {
    let start = text.start(at);
    let word = text.raw.get(start..)?.split(char::is_whitespace).next()?;
    Some((start, word.trim_end_matches([',', ';', '.', '!', '?', ')', '"'])))
}

/// A user name without quotes: one word of at least three characters.
fn user_name(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let (start, word) = word(text, at)?;
    let is_name = (3..=60).contains(&word.chars().count())
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@'));
    is_name.then(|| start..start + word.len())
}

/// A date of three numbers.
fn birth_date(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let (start, word) = word(text, at)?;
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let marks = word.chars().filter(|c| matches!(c, '.' | '-' | '/')).count();
    let is_date = (6..=8).contains(&digits) && marks == 2 && digits + marks == word.chars().count();
    is_date.then(|| start..start + word.len())
}

/// The token after an opening quote.
fn inner(text: &Text<'_>, at: usize) -> usize {
    if text.quoted_at(at).is_some() { at + 1 } else { at }
}

/// A password without quotes: up to the next space, without a comma, semicolon or full stop at its end.
fn password(text: &Text<'_>, at: usize, bond: Bond, label: usize) -> Option<(Range<usize>, Certainty)> {
    let start = text.start(at);
    let rest = text.raw.get(start..)?;
    let word = rest.split(char::is_whitespace).next()?.trim_end_matches([',', ';', '.']);
    let plain = word.trim_matches(|c: char| matches!(c, '!' | '?' | ')' | ':' | '"' | '\''));
    if word.is_empty() || NO_SECRET.contains(&plain.to_lowercase().as_str()) || text.low(at) == "\n" {
        return None;
    }
    let inside = plain.char_indices().skip(1);
    let mixed = inside.clone().any(|(_, c)| c.is_uppercase()) && plain.chars().any(char::is_lowercase);
    let telling = mixed || plain.chars().any(|c| !c.is_alphabetic() && !matches!(c, '-' | '\'' | '/'));
    let before = label
        .checked_sub(1)
        .is_some_and(|at| text.is_one_of(at, &["with", "and", "my", "mit", "und", "avec", "et", "con", "y"]));
    let sure = match bond {
        Bond::Colon => Certainty::Yes,
        _ if telling => Certainty::Yes,
        Bond::Said => Certainty::Yes,
        Bond::Bare if before && plain.len() >= 4 => Certainty::Ask,
        Bond::Bare => return None,
    };
    Some((start..start + word.len(), sure))
}

/// The password right after an e-mail address in a login: `login: ada@mail.test / hunter2`.
pub(super) fn password_behind(text: &Text<'_>, email: &Range<usize>) -> Option<Range<usize>> {
    let login = ["login", "user", "username", "log", "sign", "signin", "account", "anmelden", "connexion"];
    let at = text.token_at(email.end);
    let tied = matches!(text.low(at), "/" | "|" | ":") || text.is_one_of(at, &["pass", "pw", "pwd"]);
    if !tied || text.is_closed(at + 1) || !text.is_preceded_by(text.token_at(email.start), &login, 6) {
        return None;
    }
    let (span, sure) = password(text, at + 1, Bond::Bare, at)?;
    (sure == Certainty::Yes).then_some(span)
}

/// A number of digits in a range, with spaces, hyphens and brackets between them.
fn digits(text: &Text<'_>, at: usize, lengths: std::ops::RangeInclusive<usize>) -> Option<Range<usize>> {
    let start = text.start(at);
    let rest = text.raw.get(start..)?;
    let stop = |c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '-' | '+' | '(' | ')' | '.' | '/'));
    let run = rest.get(..rest.find(stop).unwrap_or(rest.len()))?;
    let end = run.rfind(|c: char| c.is_ascii_digit())? + 1;
    let count = run.bytes().filter(u8::is_ascii_digit).count();
    (run.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '(')) && lengths.contains(&count))
        .then_some(start..start + end)
}

/// Four to eight digits, in at most two groups, also after one letter and a hyphen (`G-123456`).
fn one_time_code(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let number = |at: usize, lengths: std::ops::RangeInclusive<usize>| {
        let word = text.word(at);
        lengths.contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
    };
    let first =
        if text.word(at).len() == 1 && text.is_capital(at) && text.low(at + 1) == "-" { at + 2 } else { at };
    let halves = |gap: usize| number(first, 3..=4) && number(first + gap, 3..=4);
    let end = if text.low(first + 1) == "-" && halves(2) {
        first + 3
    } else if halves(1) {
        first + 2
    } else if number(first, 4..=8) {
        first + 1
    } else {
        return None;
    };
    // A decimal, a date or a longer number is no code.
    let after = text.raw.get(text.span(at, end).end..)?;
    let goes_on = after.starts_with(['.', ',', '/', '-', ':'])
        && after.get(1..)?.starts_with(|c: char| c.is_ascii_digit());
    (!goes_on).then(|| text.span(at, end))
}

/// Groups of digits and capitals, with at least five digits in all.
fn government_id(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let group = |at: usize| {
        let word = text.word(at);
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let plain = text.is_word(at) && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        (plain && (digits > 0 || word.len() <= 3)).then_some(digits)
    };
    let (mut end, mut digits, mut next) = (at, 0, at);
    while let Some(count) = group(next) {
        let joined = next > at && matches!(text.low(next - 1), "-" | "." | "/");
        if count > 0 || joined {
            end = next + 1;
        }
        digits += count;
        let mark = matches!(text.low(next + 1), "-" | "." | "/");
        let close = mark && text.start(next + 2) == text.start(next + 1) + 1;
        next += if close { 2 } else { 1 };
    }
    (5..=20).contains(&digits).then(|| text.span(at, end)).filter(|span| span.len() <= 32)
}

/// The names of the months in English, German, French and Spanish, by their first letters.
const MONTHS: [&str; 31] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "m\u{e4}r", "mai",
    "juni", "juli", "okt", "dez", "janv", "f\u{e9}v", "mars", "avr", "juin", "juil", "ao\u{fb}", "d\u{e9}c",
    "ene", "abr", "ago", "dic", "sept",
];

/// The expiry of a card: a month and a year in any usual form.
pub(super) fn expiry(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let number = |at: usize| {
        let word = text.word(at);
        word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse::<u32>().ok()).flatten()
    };
    let month = |at: usize| text.word(at).len() <= 2 && number(at).is_some_and(|n| (1..=12).contains(&n));
    let short = |at: usize| text.word(at).len() == 2 && number(at).is_some_and(|n| n >= 20);
    let long = |at: usize| text.word(at).len() == 4 && number(at).is_some_and(|n| (2020..2100).contains(&n));
    let mark = matches!(text.low(at + 1), "/" | "-" | ".");
    let end = if mark && ((month(at) && (short(at + 2) || long(at + 2))) || (long(at) && month(at + 2))) {
        at + 3
    } else if text.word(at).len() == 2 && month(at) && (short(at + 1) || long(at + 1)) {
        at + 2
    } else if text.word(at).len() == 4
        && number(at).is_some_and(|n| (1..=12).contains(&(n / 100)) && n % 100 >= 20)
    {
        at + 1
    } else if MONTHS.iter().any(|month| text.low(at).starts_with(month)) {
        let year = if matches!(text.low(at + 1), "." | "," | "/") { at + 2 } else { at + 1 };
        (short(year) || long(year)).then_some(year + 1)?
    } else {
        return None;
    };
    // With a third part it is a date.
    let third =
        matches!(text.low(end), "/" | "-" | ".") && number(end + 1).is_some() && text.is_word(end + 1);
    (!third && !text.is_closed(at)).then(|| text.span(at, end))
}

/// The security code of a card: three or four digits.
pub(super) fn code(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = text.word(at);
    let digits = (3..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
    (digits && !text.is_closed(at)).then(|| text.span(at, at + 1))
}

/// The expiry right after a card number without a label, as in `4111... 12/29`.
pub(super) fn expiry_behind(text: &Text<'_>, number: &Range<usize>) -> Option<Range<usize>> {
    expiry(text, behind(text, number))
}

/// The code right after an expiry without a label. It must end a clause; otherwise it could be any other number.
pub(super) fn code_behind(text: &Text<'_>, expiry: &Range<usize>) -> Option<Range<usize>> {
    let at = behind(text, expiry);
    let ends = text.ends_sentence(at + 1) || matches!(text.low(at + 1), "," | ";" | ")" | "." | "");
    code(text, at).filter(|_| ends)
}

fn behind(text: &Text<'_>, value: &Range<usize>) -> usize {
    let at = text.token_at(value.end);
    if matches!(text.low(at), "," | ";" | "(" | "\n") { at + 1 } else { at }
}
