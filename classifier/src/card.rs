//! Payment card numbers: issuer prefix, length, and the Luhn check digit.

use crate::checksum::luhn;
use crate::number::Run;
use std::ops::{Range, RangeInclusive};

/// Issuer ranges: how many digits of prefix, the first and the last prefix, the shortest and the longest
/// number there.
const ISSUERS: [(usize, u32, u32, usize, usize); 23] = [
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

/// The card numbers in a run, as ranges of groups. They may overlap: a digit before or after a number may
/// make a second number out of it by chance, and which one is real cannot be known.
pub(crate) fn find(run: &Run<'_>) -> Vec<Range<usize>> {
    (0..run.groups.len()).filter_map(|first| longest_from(run, first).map(|last| first..last + 1)).collect()
}

/// The last group of the longest card number that begins with a group.
fn longest_from(run: &Run<'_>, first: usize) -> Option<usize> {
    let start = run.groups.get(first)?.digits.start;
    let beginning = run.digits.get(start..)?;
    let issuers: Vec<(usize, usize)> = ISSUERS
        .iter()
        .filter(|(count, low, high, _, _)| has_prefix(beginning, *count, *low..=*high))
        .map(|(_, _, _, shortest, longest)| (*shortest, *longest))
        .collect();
    if issuers.is_empty() {
        return None;
    }
    let known =
        |length: usize| issuers.iter().any(|(shortest, longest)| (*shortest..=*longest).contains(&length));
    let ends =
        run.groups.iter().enumerate().skip(first).map(|(index, group)| (index, group.digits.end - start));
    ends.take_while(|(_, length)| *length <= LONGEST)
        .filter(|(_, length)| known(*length) && beginning.get(..*length).is_some_and(luhn))
        .map(|(index, _)| index)
        .last()
}

fn has_prefix(digits: &[u8], count: usize, range: RangeInclusive<u32>) -> bool {
    let value =
        digits.get(..count).map(|head| head.iter().fold(0, |sum, digit| sum * 10 + u32::from(*digit)));
    value.is_some_and(|value| range.contains(&value))
}
