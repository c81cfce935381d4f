//! Check digits of the numbers that states and banks give out. Digits are values from 0 to 9, in order.

/// Whether the last digit is the Luhn check digit of those before it (ISO/IEC 7812-1).
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

/// The sum of the digits, each times its weight; digits without a weight do not count.
pub(crate) fn weighted(digits: &[u8], weights: &[i32]) -> i32 {
    digits.iter().zip(weights).map(|(digit, weight)| i32::from(*digit) * weight).sum()
}

/// The digits as a number; none for more than nineteen.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(*digit)))
}

/// Whether the last digit is the check digit of those before it by ISO/IEC 7064, MOD 11,10.
pub(crate) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, rest)) = digits.split_last() else { return false };
    let product = rest.iter().fold(10_u32, |product, digit| {
        let sum = (product + u32::from(*digit)) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// Whether the digits are right by Verhoeff's scheme (J. Verhoeff, Error detecting decimal codes, 1969): products in
/// the dihedral group of the pentagon.
pub(crate) fn verhoeff(digits: &[u8]) -> bool {
    // What each place permutes the digits by; the next place repeats it on its result.
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
    let places = digits.iter().rev().enumerate();
    places.fold(0, |sum, (place, digit)| product(sum, permuted(*digit, place % 8))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    /// Every scheme here is made to catch any single wrong digit.
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

    /// Verhoeff's scheme catches two neighbours that changed places as well.
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
    fn numbers_end_where_they_no_longer_fit() {
        assert_eq!(number(&[1, 2, 3]), Some(123));
        assert_eq!(number(&[9; 19]), Some(9_999_999_999_999_999_999));
        assert_eq!(number(&[9; 20]), None);
        assert_eq!(weighted(&[1, 2, 3], &[3, -1]), 1);
    }
}
