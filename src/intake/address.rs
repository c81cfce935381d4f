//! Addresses: streets by their form, and the parts after them.

use std::ops::Range;

use sirl::Field;

use super::lexicon::{
    COUNTRIES, FRENCH, GERMAN, GERMAN_SURE, NO_NAME, SENT, SMALL, SOUGHT, SPANISH, STATES, STREETS, UNITS,
};
use super::text::{Certainty, Text};

/// The forms of postal codes, longer ones first: `A` is a capital, `9` a digit.
const POSTAL_CODES: [&str; 22] = [
    "99999-9999",
    "AA9A 9AA",
    "AA99 9AA",
    "A9A 9AA",
    "AA9 9AA",
    "A99 9AA",
    "A9 9AA",
    "A9A 9A9",
    "99999-999",
    "999-9999",
    "9999 AA",
    "9999AA",
    "D-99999",
    "F-99999",
    "A-9999",
    "CH-9999",
    "99-999",
    "999 999",
    "999 99",
    "999999",
    "99999",
    "9999",
];

/// The abbreviated directions after a street.
const DIRECTIONS: [&str; 8] = ["n", "s", "e", "w", "nw", "ne", "sw", "se"];

/// A value of an address.
type AddressPart = (Range<usize>, Field);

/// A postal code that begins with token `at`.
pub(super) fn postal_code(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let start = text.start(at);
    let rest = text.raw.get(start..)?.as_bytes();
    let fits = |form: &&&str| {
        let same = form.bytes().zip(rest).all(|(form, byte)| match form {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            other => *byte == other,
        });
        let next = text.raw.get(start + form.len()..).and_then(|rest| rest.chars().next());
        same && rest.len() >= form.len() && !next.is_some_and(char::is_alphanumeric)
    };
    let form = POSTAL_CODES.iter().find(fits).filter(|_| !text.is_closed(at))?;
    Some(start..start + form.len())
}

/// The end of a street that begins with token `at`, and whether its form is unambiguous.
fn street(text: &Text<'_>, at: usize) -> Option<(usize, bool)> {
    let (end, sure) = english(text, at)
        .or_else(|| german(text, at))
        .or_else(|| french(text, at).map(|end| (end, true)))
        .or_else(|| spanish(text, at).map(|end| (end, true)))
        .or_else(|| before_city(text, at).map(|end| (end, true)))?;
    Some((unit(text, end), sure))
}

/// A street in English form: `17 Quarry Road`, `221b Baker St.`
fn english(text: &Text<'_>, at: usize) -> Option<(usize, bool)> {
    if !text.is_number(at, 5) {
        return None;
    }
    let named = |at: usize| text.is_capital(at) || is_ordinal(text.word(at));
    let last = (at + 2..at + 6)
        .take_while(|next| named(*next - 1) || text.is_one_of(*next - 1, &SMALL))
        .find(|next| {
            text.is_capital(*next)
                && text.is_one_of(*next, &STREETS)
                && (!text.is_capital(*next + 1) || text.is_one_of(*next + 1, &DIRECTIONS))
        });
    let mut end = last? + 1;
    if text.low(end) == "." && text.word(end - 1).len() <= 4 && !text.is_capital(end + 1) {
        end += 1;
    }
    if text.is_capital(end) && text.is_one_of(end, &DIRECTIONS) {
        end += 1;
    }
    named(at + 1).then_some((end, true))
}

fn is_ordinal(word: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    !number.is_empty() && ["st", "nd", "rd", "th"].iter().any(|end| word.strip_suffix(end) == Some(number))
}

/// A street in German form: `Hauptstr. 5`, `Lange Gasse 7a`. `Unter den Linden` is not recognisable by its form.
fn german(text: &Text<'_>, at: usize) -> Option<(usize, bool)> {
    let ends = |at: usize, endings: &[&str]| {
        endings.iter().any(|end| text.low(at).ends_with(end) || text.low(at) == *end)
    };
    let named = |next: usize| text.is_capital(next) && (ends(next, &GERMAN_SURE) || ends(next, &GERMAN));

    let last = (at..at + 4)
        .take_while(|next| *next == at || text.is_word(*next - 1))
        .find(|next| named(*next) && (*next > at || text.word(*next).chars().count() > 5))
        .filter(|_| text.is_capital(at) && !text.is_one_of(at, &NO_NAME))?;
    let within = (at + 1..last).all(|next| text.is_capital(next) || text.is_one_of(next, &SMALL));
    let number = if text.low(last + 1) == "." { last + 2 } else { last + 1 };
    if !within || !text.is_number(number, 3) {
        return None;
    }
    let letter = text.word(number + 1).len() == 1
        && text.is_word(number + 1)
        && !text.is_one_of(number + 1, &["a", "e", "y"]);
    let end =
        if text.low(number + 1) == "-" && text.is_number(number + 2, 3) { number + 3 } else { number + 1 };
    Some((end + usize::from(letter), ends(last, &GERMAN_SURE)))
}

/// A street in French form: `12 bis, rue de la Paix`.
fn french(text: &Text<'_>, at: usize) -> Option<usize> {
    let mut next = at + 1;
    if text.is_one_of(next, &["bis", "ter"]) {
        next += 1;
    }
    if text.low(next) == "," {
        next += 1;
    }
    if !text.is_number(at, 4) || !text.is_one_of(next, &FRENCH) {
        return None;
    }
    let next = if text.low(next + 1) == "." { next + 2 } else { next + 1 };
    named_on(text, next)
}

/// A street in Spanish form: `Calle de Alcal\u{e1}, 42`.
fn spanish(text: &Text<'_>, at: usize) -> Option<usize> {
    let mark = matches!(text.low(at + 1), "." | "/");
    if !text.is_one_of(at, &SPANISH) || text.is_closed(at) || (text.low(at) == "c" && !mark) {
        return None;
    }
    let mut number = named_on(text, if mark { at + 2 } else { at + 1 })?;
    while matches!(text.low(number), "," | "n\u{ba}" | "n\u{b0}" | "n" | "\u{ba}" | "num" | "n\u{fa}mero") {
        number += 1;
    }
    let person = text.word(number + 1).starts_with(char::is_lowercase)
        && !text.is_one_of(number + 1, &["en", "de", "y", "con", "a", "por"]);
    (text.is_number(number, 4) && !person).then_some(number + 1)
}

/// A street of any name, with its number, before a postal code and a city: `Unter den Linden 77, 10117 Berlin`.
fn before_city(text: &Text<'_>, at: usize) -> Option<usize> {
    if !text.is_capital(at) || text.is_one_of(at, &NO_NAME) {
        return None;
    }
    let number = named_on(text, at).filter(|number| text.is_number(*number, 3))?;
    let postal = postal_code(text, number + 2).filter(|_| matches!(text.low(number + 1), "," | "\n"))?;
    place(text, text.token_at(postal.end)).map(|_| number + 1)
}

/// The end of a name of capitalised words and particles, with at least one capitalised word.
fn named_on(text: &Text<'_>, from: usize) -> Option<usize> {
    let inside = |at: usize| text.is_capital(at) || text.is_one_of(at, &SMALL) || is_elided(text.word(at));
    let end = (from..from + 7).find(|at| !inside(*at)).unwrap_or(from + 7);
    // Particles at the end belong to the sentence.
    let last = (from..end).rev().find(|at| text.is_capital(*at) || is_elided(text.word(*at)))?;
    Some(last + 1)
}

/// Whether a word is a name with an elided article: `d'Italie`, `l'Europe`.
fn is_elided(word: &str) -> bool {
    word.split_once(['\'', '\u{2019}'])
        .is_some_and(|(small, name)| small.len() == 1 && name.starts_with(char::is_uppercase))
}

/// The end of a flat after a street: `, Apt. 4B`.
fn unit(text: &Text<'_>, end: usize) -> usize {
    let at = if text.low(end) == "," { end + 1 } else { end };
    let number = if text.low(at + 1) == "." { at + 2 } else { at + 1 };
    let plain = text.word(number).len() <= 5 && text.word(number).bytes().any(|b| b.is_ascii_digit());
    let letter = text.word(number).len() == 1 && text.is_capital(number);
    if text.is_one_of(at, &UNITS) && text.is_word(number) && (plain || letter) { number + 1 } else { end }
}

/// A street after a label: by its form, or, if it begins with a digit or a capital, up to the next comma, semicolon or end
/// of a sentence.
pub(super) fn labelled_street(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if let Some((end, _)) = street(text, at) {
        return Some(text.span(at, end));
    }
    let stop = |at: &usize| {
        matches!(text.low(*at), "," | ";" | "\n" | "(" | ":")
            || text.is_closed(*at)
            || text.ends_sentence(*at)
    };
    let mut end = (at..at + 12).find(stop)?;
    if text.low(end) == ":" {
        // The word before a colon is the next label.
        end = end.saturating_sub(1);
    }
    let span = text.span(at, end);
    let value = text.raw.get(span.clone())?;
    let like_one = value.starts_with(char::is_uppercase) || value.starts_with(|c: char| c.is_ascii_digit());
    (end > at && text.is_word(at) && like_one).then_some(span)
}

/// A city, region or country after a label.
pub(super) fn labelled_place(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if let Some(end) = country(text, at) {
        return Some(text.span(at, end));
    }
    let end = place(text, at)?;
    // `OR` is Oregon, and `or` is not.
    let state = STATES.contains(&text.word(at));
    (state || !text.is_one_of(at, &NO_NAME)).then(|| text.span(at, end))
}

/// The end of a capitalised place name: `Frankfurt am Main`, `St. Louis`.
fn place(text: &Text<'_>, at: usize) -> Option<usize> {
    if !text.is_capital(at) {
        return None;
    }
    let mut end = at + 1;
    loop {
        let dot = usize::from(text.low(end) == "." && text.is_one_of(end - 1, &["st", "ste", "ft", "mt"]));
        let small = usize::from(text.is_one_of(end + dot, &SMALL) && !text.is_capital(end + dot));
        let next = end + dot + small;
        let goes_on = text.is_capital(next)
            && next < at + 6
            && !text.is_one_of(next, &NO_NAME)
            && !STATES.contains(&text.word(next))
            && country(text, next).is_none()
            && text.low(next + 1) != ":";
        if !goes_on {
            return Some(end);
        }
        end = next + 1;
    }
}

/// The end of a country that begins with token `at`.
fn country(text: &Text<'_>, at: usize) -> Option<usize> {
    let end = COUNTRIES.iter().filter_map(|name| text.phrase(at, name)).max()?;
    // `us` in lower case is a word.
    let short = text.word(at).len() <= 3 && !text.word(at).chars().all(char::is_uppercase);
    (!short).then_some(end)
}

/// The parts of an address after the street, or without a street: postal code, city, region, country.
fn tail(text: &Text<'_>, from: usize) -> Vec<AddressPart> {
    let mut parts: Vec<AddressPart> = Vec::new();
    let mut at = from;
    for _ in 0..5 {
        let lacks = |field: Field, parts: &[AddressPart]| parts.iter().all(|(_, other)| *other != field);
        let apart = matches!(text.low(at), "," | "\n") || text.is_one_of(at, &["in", "\u{e0}", "en", "-"]);
        let next = if apart { at + 1 } else { at };
        let new = if text.low(next + 1) == ":" || text.is_closed(next) {
            None
        } else if let Some(end) = country(text, next).filter(|_| lacks(Field::Country, &parts)) {
            Some((text.span(next, end), Field::Country, end))
        } else if let Some(span) = postal_code(text, next).filter(|_| lacks(Field::PostalCode, &parts)) {
            let end = text.token_at(span.end);
            Some((span, Field::PostalCode, end))
        } else if STATES.contains(&text.word(next))
            && !lacks(Field::City, &parts)
            && lacks(Field::Region, &parts)
        {
            Some((text.span(next, next + 1), Field::Region, next + 1))
        } else if lacks(Field::City, &parts)
            && (apart || !parts.is_empty())
            && !text.is_one_of(next, &NO_NAME)
        {
            place(text, next).map(|end| (text.span(next, end), Field::City, end))
        } else {
            None
        };
        let Some((span, field, end)) = new else { break };
        parts.push((span, field));
        at = end;
    }
    parts
}

/// The addresses of a prompt, each as its parts. `free` returns whether a token belongs to no other value.
pub(super) fn addresses(text: &Text<'_>, free: impl Fn(usize) -> bool) -> Vec<(Vec<AddressPart>, Certainty)> {
    let mut addresses = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let open = free(at) && !text.is_quoted(at) && !text.is_closed(at);
        let sent = text.is_preceded_by(at, &SENT, 24);
        let found = if !open {
            None
        } else if let Some((end, sure)) = street(text, at).filter(|(end, _)| (at..*end).all(&free)) {
            let mut parts = vec![(text.span(at, end), Field::Street)];
            parts.extend(tail(text, end));
            let complete = parts.len() > 1;
            let starts = at == 0 || text.ends_sentence(at - 1);
            let sought = text.is_preceded_by(at, &SOUGHT, 16) && !sent;
            match (sure, sent || complete || starts, sought) {
                (_, true, false) => Some((parts, Certainty::Yes)),
                (true, ..) => Some((parts, Certainty::Ask)),
                (false, ..) => None,
            }
        } else if sent && !is_amount(text, at) {
            without_street(text, at).map(|parts| (parts, Certainty::Yes))
        } else {
            None
        };
        match found {
            Some((parts, sure)) => {
                let end = parts.iter().map(|(span, _)| span.end).max().unwrap_or(0);
                addresses.push((parts, sure));
                at = text.token_at(end).max(at + 1);
            }
            None => at += 1,
        }
    }
    addresses
}

/// The parts of an address after a street that ends at a byte.
pub(super) fn behind(text: &Text<'_>, street: usize) -> Vec<AddressPart> {
    tail(text, text.token_at(street))
}

/// An address without a street, of a postal code and a city: `94704 Berkeley` or `Berkeley, CA 94704`.
fn without_street(text: &Text<'_>, at: usize) -> Option<Vec<AddressPart>> {
    let parts = if postal_code(text, at).is_some() {
        tail(text, at)
    } else {
        let end = place(text, at).filter(|_| !text.is_one_of(at, &NO_NAME))?;
        let mut parts = vec![(text.span(at, end), Field::City)];
        let behind = if text.low(end) == "," { end + 1 } else { end };
        let region = STATES.contains(&text.word(behind));
        let postal = if region { behind + 1 } else { behind };
        if region {
            parts.push((text.span(behind, behind + 1), Field::Region));
        }
        let span = postal_code(text, postal)?;
        let next = text.token_at(span.end);
        parts.push((span, Field::PostalCode));
        parts.extend(tail(text, next).into_iter().filter(|(_, field)| *field == Field::Country));
        parts
    };
    let has = |field: Field| parts.iter().any(|(_, other)| *other == field);
    (has(Field::PostalCode) && has(Field::City)).then_some(parts)
}

/// Whether a number is an amount or a count, by the word or sign before it.
fn is_amount(text: &Text<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| text.low(at));
    matches!(
        before,
        "$" | "\u{20ac}" | "\u{a3}" | "x" | "usd" | "eur" | "gbp" | "order" | "#" | "item" | "of" | "most"
    )
}
