//! Cards: the expiry and the security code that stand beside a number.

use std::ops::Range;

use super::text::Text;

/// The names of the months, English, German, French and Spanish, by their first letters.
const MONTHS: [&str; 31] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "m\u{e4}r", "mai",
    "juni", "juli", "okt", "dez", "janv", "f\u{e9}v", "mars", "avr", "juin", "juil", "ao\u{fb}", "d\u{e9}c",
    "ene", "abr", "ago", "dic", "sept",
];

/// An expiry: a month and a year in any usual form.
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
    // A third part makes a date of it.
    let third =
        matches!(text.low(end), "/" | "-" | ".") && number(end + 1).is_some() && text.is_word(end + 1);
    (!third && !text.is_closed(at)).then(|| text.span(at, end))
}

/// A security code: three or four digits.
pub(super) fn code(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = text.word(at);
    let digits = (3..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
    (digits && !text.is_closed(at)).then(|| text.span(at, at + 1))
}

/// The expiry right behind a card number without a label, as in `4111... 12/29`.
pub(super) fn expiry_behind(text: &Text<'_>, number: &Range<usize>) -> Option<Range<usize>> {
    expiry(text, behind(text, number))
}

/// The code right behind an expiry without a label, at the end of a clause: it could be the number of
/// anything else.
pub(super) fn code_behind(text: &Text<'_>, expiry: &Range<usize>) -> Option<Range<usize>> {
    let at = behind(text, expiry);
    let ends = text.ends_sentence(at + 1) || matches!(text.low(at + 1), "," | ";" | ")" | "." | "");
    code(text, at).filter(|_| ends)
}

fn behind(text: &Text<'_>, value: &Range<usize>) -> usize {
    let at = text.token_at(value.end);
    if matches!(text.low(at), "," | ";" | "(" | "\n") { at + 1 } else { at }
}
