//! Made-up people, each with values that occur nowhere else.

use serde::{Deserialize, Serialize};

use crate::random::Random;
use canary::find;

/// A person with an address and a card. Every value but region and country is a canary: wherever it is found, somebody
/// has carried it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// First and last name.
    pub name: String,
    /// House number and street.
    pub street: String,
    /// Postal code.
    pub postal_code: String,
    /// City.
    pub city: String,
    /// State or region.
    pub region: String,
    /// Country.
    pub country: String,
    /// E-mail address, under `.test`.
    pub email: String,
    /// Phone number.
    pub phone: String,
    /// Card number in groups of four, with a valid check digit, from a range reserved for tests.
    pub card_number: String,
    /// Card expiry, `MM/YY`.
    pub card_expiry: String,
    /// Card security code.
    pub card_code: String,
}

/// One value to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canary<'a> {
    /// The field it belongs to, by its name in the request language.
    pub field: &'static str,
    /// The value.
    pub value: &'a str,
}

/// The properties that a persona shares with its twin: lengths, suffixes, the card's range.
struct Shape {
    first: usize,
    last: usize,
    street: usize,
    street_kind: &'static str,
    house_digits: usize,
    city: usize,
    region: &'static str,
    card_prefix: &'static str,
}

impl Shape {
    fn of(seed: u64) -> Shape {
        let mut random = Random::new(seed.wrapping_mul(2).wrapping_add(1));
        Shape {
            first: 4 + random.below(3) as usize,
            last: 6 + random.below(3) as usize,
            street: 7 + random.below(3) as usize,
            street_kind: random.pick(&["Road", "Lane", "Street", "Avenue"]),
            house_digits: 2 + random.below(2) as usize,
            city: 7 + random.below(3) as usize,
            region: random.pick(&["CA", "OR", "WA", "NV"]),
            card_prefix: random.pick(&["411111", "401288", "555555", "510510"]),
        }
    }

    fn fill(&self, seed: u64) -> Persona {
        let mut random = Random::new(seed);
        let (first, last) = (random.word(self.first), random.word(self.last));
        let email = format!("{}.{}@mail.test", first.to_lowercase(), last.to_lowercase());
        let mut number = format!("{}{}", self.card_prefix, random.digits(9));
        number.push(luhn_digit(&number));
        Persona {
            name: format!("{first} {last}"),
            street: format!(
                "{} {} {}",
                random.digits(self.house_digits),
                random.word(self.street),
                self.street_kind
            ),
            postal_code: random.digits(5),
            city: random.word(self.city),
            region: self.region.to_owned(),
            country: "US".to_owned(),
            email,
            phone: format!("+1 {} 555 {}", random.pick(&["415", "503", "510", "628"]), random.digits(4)),
            card_number: in_fours(&number),
            card_expiry: format!("{:02}/{}", 1 + random.below(12), 28 + random.below(7)),
            card_code: random.digits(3),
        }
    }
}

impl Persona {
    /// The persona of `seed`.
    ///
    /// ```
    /// use evaluation::persona::Persona;
    /// let persona = Persona::of(3);
    /// assert_eq!(persona, Persona::of(3));
    /// assert_ne!(persona, Persona::twin_of(3));
    /// ```
    pub fn of(seed: u64) -> Persona {
        let shape = Shape::of(seed);
        let mut attempt = seed.wrapping_mul(2);
        loop {
            let persona = shape.fill(attempt);
            if persona.clash().is_none() {
                return persona;
            }
            attempt = attempt.wrapping_add(0x1_0000_0001);
        }
    }

    /// A persona of the same shape as [`Persona::of`] the same seed (same lengths, same classes of characters) with a
    /// different value for every canary.
    pub fn twin_of(seed: u64) -> Persona {
        let original = Persona::of(seed);
        let shape = Shape::of(seed);
        let mut attempt = seed.wrapping_mul(2) ^ 0xA5A5_A5A5_0000_0000;
        loop {
            let twin = shape.fill(attempt);
            let differs = original.canaries().iter().zip(twin.canaries()).all(|(a, b)| a.value != b.value);
            if differs && twin.clash().is_none() {
                return twin;
            }
            attempt = attempt.wrapping_add(0x1_0000_0001);
        }
    }

    /// A card field whose value is part of another value of the same person, with the name of that field. A security
    /// code that is also the house number would be found wherever the street may go.
    fn clash(&self) -> Option<(&'static str, &'static str)> {
        let canaries = self.canaries();
        canaries.iter().find_map(|one| {
            let card = one.field.starts_with("card_");
            let apart = |other: &&Canary<'_>| {
                card && other.field != one.field && find(other.value, one.value).is_some()
            };
            canaries.iter().find(apart).map(|other| (one.field, other.field))
        })
    }

    /// Every value to search for.
    pub fn canaries(&self) -> Vec<Canary<'_>> {
        [
            ("card_number", &self.card_number),
            ("card_code", &self.card_code),
            ("card_expiry", &self.card_expiry),
            ("street", &self.street),
            ("postal_code", &self.postal_code),
            ("city", &self.city),
            ("name", &self.name),
            ("email", &self.email),
            ("phone", &self.phone),
        ]
        .into_iter()
        .map(|(field, value)| Canary { field, value })
        .collect()
    }
}

/// The check digit (Luhn) that completes `digits`.
fn luhn_digit(digits: &str) -> char {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte.saturating_sub(b'0'));
            let weighted = if place % 2 == 0 { digit * 2 } else { digit };
            if weighted > 9 { weighted - 9 } else { weighted }
        })
        .sum();
    char::from(b'0' + ((10 - sum % 10) % 10) as u8)
}

fn in_fours(number: &str) -> String {
    let mut spaced = String::new();
    for (place, digit) in number.chars().enumerate() {
        if place > 0 && place % 4 == 0 {
            spaced.push(' ');
        }
        spaced.push(digit);
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(character: char) -> char {
        match character {
            '0'..='9' => '0',
            'a'..='z' => 'a',
            'A'..='Z' => 'A',
            other => other,
        }
    }

    #[test]
    fn the_check_digit_is_that_of_known_test_cards() {
        assert_eq!(luhn_digit("411111111111111"), '1');
        assert_eq!(luhn_digit("555555555555444"), '4');
        assert_eq!(luhn_digit("401288888888188"), '1');
    }

    #[test]
    fn a_twin_has_the_same_shape_and_no_common_value() {
        for seed in 0..500 {
            let (persona, twin) = (Persona::of(seed), Persona::twin_of(seed));
            for (a, b) in persona.canaries().iter().zip(twin.canaries()) {
                let shape = |text: &str| text.chars().map(class).collect::<String>();
                assert_eq!(shape(a.value), shape(b.value), "{} of seed {seed}", a.field);
                assert_ne!(a.value, b.value, "{} of seed {seed}", a.field);
            }
            assert_eq!((&persona.region, &persona.country), (&twin.region, &twin.country));
            for number in [&persona.card_number, &twin.card_number] {
                let digits: String = number.chars().filter(char::is_ascii_digit).collect();
                let (body, check) = digits.split_at(15);
                assert_eq!(luhn_digit(body).to_string(), check);
            }
        }
    }

    #[test]
    fn no_two_seeds_share_a_card_or_a_street() {
        let personas: Vec<Persona> = (0..500).map(Persona::of).collect();
        let cards: std::collections::HashSet<_> = personas.iter().map(|p| &p.card_number).collect();
        let streets: std::collections::HashSet<_> = personas.iter().map(|p| &p.street).collect();
        assert_eq!((cards.len(), streets.len()), (500, 500));
    }

    #[test]
    fn no_value_is_part_of_another_of_the_same_person() {
        let mut clashes = Vec::new();
        for seed in 0..400 {
            for person in [Persona::of(seed), Persona::twin_of(seed)] {
                clashes.extend(person.clash().map(|clash| (seed, clash)));
            }
        }
        assert_eq!(clashes, []);
    }
}
