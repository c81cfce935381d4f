//! Placeholders, the texts that are in a form in place of values.
//!
//! A placeholder depends on randomness and the field's name alone. The value plays no part, not even to keep the
//! two different, since a placeholder that could not be the value would narrow down the value. It has the form
//! that pages check before they send: a number of digits, a check digit, a date in the future. Its length is
//! the field's and not the value's.

use browser_signals::Shape;
use sirl::Field;

use crate::crypto::cipher::{Entropy, public_bytes};

/// The first digits of the placeholders for cards: the range in which Stripe documents its test cards
/// (<https://docs.stripe.com/testing>, such as 4000 0000 0000 0002). Pages take it for a Visa card.
const TEST_CARDS: &str = "400000";

/// Makes a placeholder for one field, and tells how a page may rewrite it.
pub(crate) fn placeholder(field: Field, entropy: &mut dyn Entropy) -> (String, Shape) {
    let mut random = Random(entropy);
    match field {
        Field::CardNumber => (random.card(), Shape::Digits),
        Field::CardExpiry => {
            // No page refuses these years as past or too far away.
            let (month, year) = (random.below(12) + 1, random.below(5) + 36);
            (format!("{month:02}/{year}"), Shape::Expiry)
        }
        Field::CardCode => (random.digits(3), Shape::Digits),
        Field::OneTimeCode => (random.digits(6), Shape::Digits),
        Field::PostalCode => (format!("{}{}", random.below(9) + 1, random.digits(4)), Shape::Text),
        // The numbers 555-01xx are for fiction in every area of the North American plan (ATIS-0300115).
        Field::Phone => {
            let area = 200 + random.below(700);
            (format!("+1{area}55501{}", random.digits(2)), Shape::Text)
        }
        // RFC 2606 reserves this domain for examples: mail to it reaches no one.
        Field::Email => (format!("{}@example.com", random.letters(14)), Shape::Text),
        Field::Username => (random.letters(14), Shape::Text),
        Field::BirthDate => {
            let (year, month, day) = (random.below(40) + 1960, random.below(12) + 1, random.below(28) + 1);
            (format!("{year}-{month:02}-{day:02}"), Shape::Text)
        }
        Field::Name => (format!("{} {}", random.word(6), random.word(8)), Shape::Text),
        Field::Street => (format!("{} {} Road", random.below(190) + 10, random.word(8)), Shape::Text),
        Field::City | Field::Region | Field::Country | Field::Company => (random.word(8), Shape::Text),
        Field::GovernmentId => (format!("X{}", random.digits(8)), Shape::Text),
        Field::Password | Field::NewPassword => {
            (format!("{}-{}{}", random.word(8), random.letters(4), random.digits(3)), Shape::Text)
        }
    }
}

struct Random<'e>(&'e mut dyn Entropy);

impl Random<'_> {
    /// Draws a number below `limit`, which is small, so that the bias is below one in a million.
    fn below(&mut self, limit: u32) -> u32 {
        u32::from_le_bytes(public_bytes(self.0)) % limit.max(1)
    }

    fn pick(&mut self, from: &[u8]) -> char {
        let at = self.below(u32::try_from(from.len()).unwrap_or(1));
        usize::try_from(at).ok().and_then(|at| from.get(at)).map_or('a', |byte| char::from(*byte))
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| self.pick(b"0123456789")).collect()
    }

    fn letters(&mut self, count: usize) -> String {
        (0..count).map(|_| self.pick(b"abcdefghijklmnopqrstuvwxyz")).collect()
    }

    /// Makes a capitalised word in which every other letter is a vowel, so that a page's check takes it for a name.
    fn word(&mut self, count: usize) -> String {
        let letter = |random: &mut Self, at| match at {
            0 => random.pick(b"BDFGKLMNPRSTVZ"),
            at if at % 2 == 0 => random.pick(b"bdfgklmnprstvz"),
            _ => random.pick(b"aeiou"),
        };
        (0..count).map(|at| letter(self, at)).collect()
    }

    /// Makes sixteen digits with the check digit of ISO/IEC 7812-1 (annex B, Luhn's formula).
    fn card(&mut self) -> String {
        let mut number = format!("{TEST_CARDS}{}", self.digits(9));
        let doubled = |digit: u32| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
        let digits = number.chars().rev().filter_map(|c| c.to_digit(10)).enumerate();
        let sum: u32 = digits.map(|(at, digit)| if at % 2 == 0 { doubled(digit) } else { digit }).sum();
        number.extend(char::from_digit((10 - sum % 10) % 10, 10));
        number
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn entropy(seed: u64) -> impl FnMut(&mut [u8]) {
        let mut state = seed;
        move |out: &mut [u8]| {
            for byte in out {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = state.to_be_bytes()[0];
            }
        }
    }

    /// Computes Luhn's sum over the whole number, which must be a multiple of ten.
    fn is_luhn(number: &str) -> bool {
        const DOUBLED: [u32; 10] = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
        let digits: Vec<u32> = number.chars().map(|c| c.to_digit(10).unwrap()).collect();
        let sum: u32 = digits
            .iter()
            .enumerate()
            .map(
                |(at, digit)| {
                    if (digits.len() - at).is_multiple_of(2) { DOUBLED[*digit as usize] } else { *digit }
                },
            )
            .sum();
        sum.is_multiple_of(10)
    }

    #[test]
    fn each_has_the_form_of_its_field_and_no_two_are_alike() {
        for field in Field::ALL {
            let mut entropy = entropy(field as u64 + 1);
            let made: Vec<String> = (0..300).map(|_| placeholder(field, &mut entropy).0).collect();
            let lengths: HashSet<usize> = made.iter().map(String::len).collect();
            assert!(lengths.len() <= 2, "{field:?}: {lengths:?}");
            for text in &made {
                assert!(text.is_ascii() && !text.chars().any(char::is_control));
                match field {
                    Field::CardNumber => {
                        assert!(text.len() == 16 && text.starts_with("400000") && is_luhn(text), "{text}");
                    }
                    Field::CardExpiry => {
                        let (month, year) = text.split_once('/').unwrap();
                        assert!((1..=12).contains(&month.parse::<u32>().unwrap()), "{text}");
                        assert!((36..=40).contains(&year.parse::<u32>().unwrap()), "{text}");
                    }
                    Field::Password => {
                        let has = |is: fn(&char) -> bool| text.chars().any(|c| is(&c));
                        assert!(has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase));
                        assert!(
                            has(char::is_ascii_digit) && has(char::is_ascii_punctuation) && text.len() == 16
                        );
                    }
                    _ => {}
                }
            }
            let different: HashSet<&String> = made.iter().collect();
            let few = matches!(field, Field::CardExpiry | Field::CardCode | Field::BirthDate);
            assert!(few || different.len() >= 299, "{field:?}: {}", different.len());
        }
        assert!(is_luhn("4000000000000002") && !is_luhn("4000000000000003"));
    }

    #[test]
    fn poor_entropy_gives_a_placeholder_all_the_same() {
        for byte in [0, 7, 255] {
            for field in Field::ALL {
                let mut fixed = |out: &mut [u8]| out.fill(byte);
                assert!(!placeholder(field, &mut fixed).0.is_empty());
            }
        }
    }
}
