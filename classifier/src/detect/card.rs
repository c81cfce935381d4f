//! Payment card numbers: issuer prefix, length and Luhn check digit, and the form in which cards are written.
//!
//! One number in ten passes the check, so digits alone are weak evidence. A number that is written as no card is, or
//! that the text beside it explains otherwise, is [`Card::doubtful`]: text that leaves is still searched for it, and
//! the text of pages keeps it.

use super::context::after;
use super::digits::{DigitRun, is_article_number, luhn};
use super::neighbours::{
    in_address, is_hex_word, is_in_code_table, long_numbers_beside, names_article, names_card,
};
use std::ops::{Range, RangeInclusive};

/// The most groups of a row that are counted on each side.
const ROW: usize = 8;

/// A number that may be a card's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Card {
    /// The groups of the run.
    pub(crate) groups: Range<usize>,
    /// Whether its grouping or the text beside it speak against a card.
    pub(crate) doubtful: bool,
}

/// Issuer ranges: the number of prefix digits, the first and the last prefix, the shortest and the longest number
/// with them.
const CARD_ISSUERS: [(usize, u32, u32, usize, usize); 23] = [
    (1, 1, 1, 15, 15),       // UATP
    (4, 2014, 2014, 15, 15), // Diners Club enRoute
    (4, 2131, 2131, 15, 15), // JCB
    (4, 2149, 2149, 15, 15), // Diners Club enRoute
    (4, 1800, 1800, 15, 15), // JCB
    (4, 2200, 2204, 16, 19), // Mir
    (4, 2221, 2720, 16, 16), // Mastercard
    (2, 30, 30, 14, 19),     // Diners Club
    (2, 34, 34, 15, 15),     // American Express
    (2, 35, 35, 16, 19),     // JCB
    (2, 36, 36, 14, 19),     // Diners Club
    (2, 37, 37, 15, 15),     // American Express
    (2, 38, 39, 14, 19),     // Diners Club
    (1, 4, 4, 13, 13),       // Visa, old
    (1, 4, 4, 16, 16),       // Visa
    (1, 4, 4, 18, 19),       // Visa, Switch
    (2, 50, 50, 12, 19),     // Maestro, Dankort, Verve, Elo
    (2, 51, 55, 16, 16),     // Mastercard
    (2, 56, 69, 12, 19),     // Maestro, Discover, UnionPay, RuPay, InstaPayment
    (2, 81, 82, 16, 19),     // RuPay, UnionPay
    (4, 8600, 8600, 16, 16), // UzCard
    (4, 9792, 9792, 16, 16), // Troy
    (4, 9860, 9860, 16, 16), // Humo
];

/// The longest card number, in digits.
const LONGEST: usize = 19;

/// Returns the card numbers in a run. They may overlap: with a digit before or after it, a number may pass as a second
/// number by chance, and which one is real cannot be known.
pub(crate) fn find_cards(run: &DigitRun<'_>) -> Vec<Card> {
    let mut cards = Vec::new();
    for first in 0..run.groups.len() {
        let ends = ends_from(run, first);
        let sure = ends.iter().rev().find(|last| !is_doubtful(run, first..**last + 1));
        cards.extend(sure.map(|last| Card { groups: first..last + 1, doubtful: false }));
        let longest = ends.last().filter(|last| Some(*last) != sure);
        cards.extend(longest.map(|last| Card { groups: first..last + 1, doubtful: true }));
    }
    cards
}

/// Returns the last groups of the card numbers that begin with a group.
fn ends_from(run: &DigitRun<'_>, first: usize) -> Vec<usize> {
    let Some(start) = run.groups.get(first).map(|group| group.digits.start) else { return Vec::new() };
    let beginning = run.digits.get(start..).unwrap_or_default();
    let issuers: Vec<(usize, usize)> = CARD_ISSUERS
        .iter()
        .filter(|(count, low, high, _, _)| has_prefix(beginning, *count, *low..=*high))
        .map(|(_, _, _, shortest, longest)| (*shortest, *longest))
        .collect();
    if issuers.is_empty() {
        return Vec::new();
    }
    let known =
        |length: usize| issuers.iter().any(|(shortest, longest)| (*shortest..=*longest).contains(&length));
    let ends =
        run.groups.iter().enumerate().skip(first).map(|(index, group)| (index, group.digits.end - start));
    ends.take_while(|(_, length)| *length <= LONGEST)
        .filter(|(_, length)| known(*length) && beginning.get(..*length).is_some_and(luhn))
        .map(|(index, _)| index)
        .collect()
}

fn has_prefix(digits: &[u8], count: usize, range: RangeInclusive<u32>) -> bool {
    let value =
        digits.get(..count).map(|head| head.iter().fold(0, |sum, digit| sum * 10 + u32::from(*digit)));
    value.is_some_and(|value| range.contains(&value))
}

/// Returns whether the grouping of a number, or the text beside it, speak against a card.
fn is_doubtful(run: &DigitRun<'_>, groups: Range<usize>) -> bool {
    let Some(span) = run.span(groups.clone()) else { return true };
    let text = run.text;
    if names_card(text, span.start) {
        return !is_written_as_card(run, &groups);
    }
    let alone = groups.len() == 1;
    let unlike = if alone {
        is_part_of_figure(text, &span)
            || is_hex_word(text, &span)
            || is_travel_account(run, &groups)
            || is_article(run, &groups)
            || long_numbers_beside(text, &span)
    } else {
        !is_written_as_card(run, &groups) || is_in_row(run, &groups) || is_in_code_table(text, &span)
    };
    unlike || in_address(text, span.start) || names_article(text, span.start)
}

/// Returns whether the groups have the lengths in which cards are printed or read out, with the same sign between
/// them.
fn is_written_as_card(run: &DigitRun<'_>, groups: &Range<usize>) -> bool {
    let lengths: Vec<usize> =
        run.groups.get(groups.clone()).unwrap_or_default().iter().map(|group| group.digits.len()).collect();
    let Some((last, rest)) = lengths.split_last() else { return false };
    let even = |length: usize| rest.iter().all(|one| *one == length) && (1..=length).contains(last);
    // Groups of four, some of which are joined.
    let fours = rest.iter().all(|one| one.is_multiple_of(4)) && (*last <= 4 || last.is_multiple_of(4));
    let printed = matches!(lengths.as_slice(), [_] | [4, 6, 4 | 5] | [4, 4, 5] | [6, 10 | 13] | [5, 5, 5])
        || fours
        || even(2)
        || even(1);
    let mut signs = groups.clone().skip(1).map(|group| run.separator_before(group));
    let first = signs.next();
    let same = signs.all(|sign| Some(sign) == first);
    let decimal = lengths.len() == 2 && first == Some(".");
    printed
        && same
        && !decimal
        && !first.is_some_and(|sign| sign.contains(['/', '+', '(', ')']) || sign.contains("  "))
}

/// Returns whether a number is the fraction of a decimal, an amount with cents, or a number with a country's prefix.
fn is_part_of_figure(text: &str, span: &Range<usize>) -> bool {
    let (head, tail) = (text.get(..span.start).unwrap_or_default(), text.get(span.end..).unwrap_or_default());
    let digit_after = |sign: char| {
        tail.strip_prefix(sign).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let digit_before =
        |sign: char| head.strip_suffix(sign).is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
    // In a list without spaces the comma parts numbers.
    let decimal = digit_before(',') && !tail.starts_with(',');
    let negative = head.strip_suffix('-').is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()));
    negative || head.ends_with('+') || digit_before('.') || digit_after('.') || decimal
}

/// Returns whether a number begins as those of the travel account of airlines (UATP). Hardly a page shows one, and many
/// counters and stamps of time have its form.
fn is_travel_account(run: &DigitRun<'_>, groups: &Range<usize>) -> bool {
    let first = run.groups.get(groups.start).and_then(|group| run.digits.get(group.digits.start));
    first == Some(&1)
}

/// Returns whether a number is one of an article: twelve or thirteen digits with the check digit of these.
fn is_article(run: &DigitRun<'_>, groups: &Range<usize>) -> bool {
    let digits = run.groups.get(groups.start).and_then(|group| run.digits.get(group.digits.clone()));
    digits.is_some_and(|digits| matches!(digits.len(), 12 | 13) && is_article_number(digits))
}

/// Returns whether the groups continue as a row of alike groups: figures of a table, bytes of a dump.
fn is_in_row(run: &DigitRun<'_>, groups: &Range<usize>) -> bool {
    let length = |group: usize| run.groups.get(group).map(|group| group.digits.len());
    let Some(own) = length(groups.start) else { return false };
    let alike = |group: &usize| length(*group) == Some(own);
    let before = (0..groups.start).rev().take(ROW).take_while(alike).count();
    let behind = (groups.end..run.groups.len()).take(ROW).take_while(alike).count();
    if own <= 2 {
        let last = length(groups.end - 1).unwrap_or(own);
        let dump = |span: Range<usize>| own == 2 && is_in_dump(run.text, span.end, last);
        return before + behind > 0 || run.span(groups.clone()).is_some_and(dump);
    }
    // A card may be beside another card, or beside its date or code.
    let count = groups.len();
    let card_before = groups
        .start
        .checked_sub(count)
        .is_some_and(|first| ends_from(run, first).contains(&(groups.start - 1)));
    let card_behind = ends_from(run, groups.end).contains(&(groups.end + count - 1));
    let short = (groups.clone()).filter_map(length).sum::<usize>() < 13;
    let others = if card_before { 0 } else { before } + if card_behind { 0 } else { behind };
    others >= if short { 1 } else { 2 }
}

/// Returns whether bytes in hexadecimal digits go on at `at`: in the last pair, or as pairs with a digit.
fn is_in_dump(text: &str, at: usize, last: usize) -> bool {
    let rest = after(text, at, 4);
    let hex = |word: &str, length: usize| {
        let own = word.bytes().take_while(u8::is_ascii_alphanumeric).count();
        own == length && word.bytes().take(length).all(|byte| byte.is_ascii_hexdigit())
    };
    let next = rest.strip_prefix(' ').unwrap_or_default();
    (last == 1 && hex(rest, 1)) || (hex(next, 2) && next.bytes().take(2).any(|byte| byte.is_ascii_digit()))
}
