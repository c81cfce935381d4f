//! Runs of digits with separators, and the check digits of numbers that states and banks issue.

use std::ops::Range;

/// Digits without a separator between them.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The digits' range in the text.
    pub(crate) span: Range<usize>,
    /// The digits' range in [`DigitRun::digits`].
    pub(crate) digits: Range<usize>,
}

/// A run of digits in a normalised text, cut into groups by its separators.
#[derive(Debug)]
pub(crate) struct DigitRun<'t> {
    /// The whole text, for the words before and after the run.
    pub(crate) text: &'t str,
    /// The groups in order.
    pub(crate) groups: Vec<Group>,
    /// The values of all digits of the run.
    pub(crate) digits: Vec<u8>,
}

impl<'t> DigitRun<'t> {
    /// Returns the groups of the run at `span`; every character but an ASCII digit is a separator.
    pub(crate) fn new(text: &'t str, span: Range<usize>) -> DigitRun<'t> {
        let mut run = DigitRun { text, groups: Vec::new(), digits: Vec::new() };
        let mut previous_end = None;
        for (offset, byte) in text.get(span.clone()).unwrap_or_default().bytes().enumerate() {
            if !byte.is_ascii_digit() {
                continue;
            }
            let at = span.start + offset;
            let count = run.digits.len();
            run.digits.push(byte - b'0');
            match run.groups.last_mut() {
                Some(group) if previous_end == Some(at) => {
                    group.span.end = at + 1;
                    group.digits.end = count + 1;
                }
                _ => run.groups.push(Group { span: at..at + 1, digits: count..count + 1 }),
            }
            previous_end = Some(at + 1);
        }
        run
    }

    /// Returns the range of some groups in the text; `None` when there are no groups.
    pub(crate) fn span(&self, groups: Range<usize>) -> Option<Range<usize>> {
        let groups = self.groups.get(groups)?;
        Some(groups.first()?.span.start..groups.last()?.span.end)
    }

    /// Returns the separator between a group and the group before it; empty for the first group.
    pub(crate) fn separator_before(&self, group: usize) -> &'t str {
        let before = group.checked_sub(1).and_then(|index| self.groups.get(index));
        match (before, self.groups.get(group)) {
            (Some(before), Some(after)) => {
                self.text.get(before.span.end..after.span.start).unwrap_or_default()
            }
            _ => "",
        }
    }
}

/// Returns whether the last digit is the Luhn check digit of those before it (ISO/IEC 7812-1).
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, u32::from(*digit)) {
            (0, value) => value,
            (_, value) if value >= 5 => value * 2 - 9,
            (_, value) => value * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Returns whether the last digit is the check digit of an article number (GS1: UPC, EAN, ISBN-13, JAN).
pub(crate) fn is_article_number(digits: &[u8]) -> bool {
    let sum: u32 = digits.iter().rev().zip([1, 3].into_iter().cycle()).map(|(d, w)| u32::from(*d) * w).sum();
    sum.is_multiple_of(10)
}

/// Returns the sum of the digits times their weights; digits without a weight do not count.
pub(crate) fn weighted(digits: &[u8], weights: &[i32]) -> i32 {
    digits.iter().zip(weights).map(|(digit, weight)| i32::from(*digit) * weight).sum()
}

/// Returns the digits as a number; `None` for more than nineteen.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(*digit)))
}

/// Returns whether the last digit is the check digit of those before it by ISO/IEC 7064, MOD 11,10.
pub(crate) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, rest)) = digits.split_last() else { return false };
    let product = rest.iter().fold(10_u32, |product, digit| {
        let sum = (product + u32::from(*digit)) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// Returns whether the digits pass Verhoeff's check (J. Verhoeff, Error detecting decimal codes, 1969): products in
/// the dihedral group of the pentagon.
pub(crate) fn verhoeff(digits: &[u8]) -> bool {
    // Each position applies this permutation once more than the position before.
    const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted = |digit: u8, times: usize| {
        (0..times).fold(digit, |value, _| PERMUTATION.get(usize::from(value)).copied().unwrap_or(value))
    };
    let product = |one: u8, other: u8| match (one < 5, other < 5) {
        (true, true) => (one + other) % 5,
        (true, false) => (one + other - 5) % 5 + 5,
        (false, true) => (one - other) % 5 + 5,
        (false, false) => (one + 5 - other) % 5,
    };
    let positions = digits.iter().rev().enumerate();
    positions.fold(0, |sum, (position, digit)| product(sum, permuted(*digit, position % 8))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_the_separators() {
        let text = "x (030) 12-345";
        let run = DigitRun::new(text, 3..text.len());
        let parts: Vec<&str> = run.groups.iter().map(|group| &text[group.span.clone()]).collect();
        assert_eq!(parts, ["030", "12", "345"]);
        assert_eq!(run.digits, [0, 3, 0, 1, 2, 3, 4, 5]);
        assert_eq!(
            [run.separator_before(0), run.separator_before(1), run.separator_before(2)],
            ["", ") ", "-"]
        );
    }

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    /// Every scheme here detects any single wrong digit.
    #[test]
    fn one_wrong_digit_is_caught() {
        type Check = fn(&[u8]) -> bool;
        let schemes: [(Check, &str); 3] =
            [(luhn, "4111111111111111"), (mod_11_10, "86095742719"), (verhoeff, "2363")];
        for (check, good) in schemes {
            let good = digits(good);
            assert!(check(&good), "{good:?}");
            for at in 0..good.len() {
                for other in (0..10).filter(|other| *other != good[at]) {
                    let mut bad = good.clone();
                    bad[at] = other;
                    assert!(!check(&bad), "{bad:?}");
                }
            }
        }
    }

    /// Verhoeff's scheme also detects two swapped neighbours.
    #[test]
    fn swapped_neighbours_are_caught_by_verhoeff() {
        for first in 0..100_u64 {
            let base = digits(&format!("{:03}", first * 7));
            let good: Vec<Vec<u8>> = (0..10)
                .map(|check| [base.clone(), vec![check]].concat())
                .filter(|all| verhoeff(all))
                .collect();
            assert_eq!(good.len(), 1, "{base:?}");
            for at in 0..3 {
                let mut swapped = good[0].clone();
                swapped.swap(at, at + 1);
                assert!(swapped == good[0] || !verhoeff(&swapped), "{swapped:?}");
            }
        }
    }

    #[test]
    fn a_number_of_more_than_nineteen_digits_is_refused() {
        assert_eq!(number(&[1, 2, 3]), Some(123));
        assert_eq!(number(&[9; 19]), Some(9_999_999_999_999_999_999));
        assert_eq!(number(&[9; 20]), None);
        assert_eq!(weighted(&[1, 2, 3], &[3, -1]), 1);
    }
}
