//! Random values for every field.

/// A named value that must not leak.
pub struct Canary {
    name: String,
    value: Vec<u8>,
}

impl Canary {
    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.value
    }

    /// The value, if it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.value).ok()
    }
}

/// A set of canaries. It cannot be printed, so that a failed assertion does not show the values.
///
/// The names are those of the fields. Fields with short or common values are left out, since they would be found by
/// chance: country, region, card expiry, security code, one-time code.
#[derive(Default)]
pub struct Canaries {
    list: Vec<Canary>,
}

impl Canaries {
    /// Makes one value for each field from a seed.
    ///
    /// ```
    /// use canary::Canaries;
    /// let canaries = Canaries::from_seed(7);
    /// assert_eq!(canaries.value("email"), Canaries::from_seed(7).value("email"));
    /// assert_ne!(canaries.value("email"), Canaries::from_seed(8).value("email"));
    /// ```
    pub fn from_seed(seed: u64) -> Canaries {
        let mut random = Random(seed);
        let (first, last) = (random.name(), random.name());
        // At most five letters are the same in every set, so that most of a part of twelve is random.
        let mail = format!("{}.{}@{}.test", random.word(3), random.word(2), random.code(9));
        let street = format!("Rua {} {}", random.name(), random.digits(5));
        let phone =
            format!("+{} {} {} {}", random.digits(2), random.digits(3), random.digits(3), random.digits(4));
        let mut canaries = Canaries::default();
        canaries.add("name", format!("{first} {last}"));
        canaries.add("city", format!("{} {}", random.name(), random.name()));
        canaries.add("phone", phone);
        canaries.add("email", mail);
        canaries.add("street", street);
        canaries.add("postal_code", format!("{}-{}", random.digits(6), random.digits(6)));
        canaries.add("card_number", random.card());
        canaries.add("government_id", format!("{}{}", random.word(2).to_uppercase(), random.digits(10)));
        canaries.add("password", random.password());
        canaries
    }

    /// Does the same as [`Canaries::from_seed`], with a source of random bytes.
    ///
    /// ```
    /// let mut system = |out: &mut [u8]| out.fill(3); // a test takes the operating system's
    /// let canaries = canary::Canaries::random(&mut system);
    /// assert!(canaries.value("name").is_some());
    /// ```
    pub fn random(entropy: &mut dyn FnMut(&mut [u8])) -> Canaries {
        let mut seed = [0; 8];
        entropy(&mut seed);
        Canaries::from_seed(u64::from_le_bytes(seed))
    }

    /// Adds a value of the test's own: a text, or bytes such as a key. It should have twelve bytes or more, all of them
    /// random, because parts of twelve bytes are searched for too.
    pub fn add(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.list.push(Canary { name: name.to_owned(), value: value.into() });
    }

    /// The text of the canary with this name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.iter().find(|canary| canary.name == name).and_then(Canary::text)
    }

    /// Every canary.
    pub fn iter(&self) -> impl Iterator<Item = &Canary> {
        self.list.iter()
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn pick(&mut self, from: &str) -> char {
        let place = self.below(from.len() as u64) as usize;
        from.chars().nth(place).unwrap_or('x')
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| self.pick("0123456789")).collect()
    }

    /// Makes a pronounceable word.
    fn word(&mut self, syllables: usize) -> String {
        (0..syllables).flat_map(|_| [self.pick("bcdfgjklmnpqrstvwxz"), self.pick("aeiou")]).collect()
    }

    fn name(&mut self) -> String {
        let first = self.pick("BCDFGJKLMNPRSTVZ");
        format!("{first}{}{}", self.pick("aeiou"), self.word(3))
    }

    /// Makes a code of letters and digits.
    fn code(&mut self, length: usize) -> String {
        (0..length).map(|_| self.pick("abcdefghijklmnopqrstuvwxyz0123456789")).collect()
    }

    /// Makes a password of letters, digits and signs.
    fn password(&mut self) -> String {
        let all = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!#$*?";
        (0..20).map(|_| self.pick(all)).collect()
    }

    /// Makes a card number of sixteen digits in groups of four, with a correct check digit.
    fn card(&mut self) -> String {
        let start = format!("4{}", self.digits(14));
        let sum: u32 = start
            .chars()
            .filter_map(|digit| digit.to_digit(10))
            .enumerate()
            .map(|(place, digit)| match digit * 2 {
                _ if place % 2 == 1 => digit,
                double if double > 9 => double - 9,
                double => double,
            })
            .sum();
        let number = format!("{start}{}", (10 - sum % 10) % 10);
        let fours: Vec<&str> = (0..4).filter_map(|four| number.get(four * 4..four * 4 + 4)).collect();
        fours.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luhn(number: &str) -> bool {
        let digits = number.chars().rev().filter_map(|c| c.to_digit(10)).enumerate();
        digits.map(|(i, d)| if i % 2 == 0 { d } else { d * 2 / 10 + d * 2 % 10 }).sum::<u32>() % 10 == 0
    }

    #[test]
    fn every_value_is_valid_for_its_field() {
        assert!(luhn("4111 1111 1111 1111") && !luhn("4111 1111 1111 1112"));
        for seed in 0..500 {
            let canaries = Canaries::from_seed(seed);
            let card = canaries.value("card_number").unwrap();
            assert!(luhn(card) && card.len() == 19, "{card}");
            let mail = canaries.value("email").unwrap();
            assert!(mail.ends_with(".test") && mail.matches('@').count() == 1, "{mail}");
            for canary in canaries.iter() {
                assert!(canary.bytes().len() >= crate::bytes::WINDOW, "{}", canary.name());
            }
        }
    }

    /// No part is the same for two seeds, so none is found by chance.
    #[test]
    fn parts_of_different_sets_differ() {
        let mut seen = std::collections::HashMap::new();
        for seed in 0..300 {
            for canary in Canaries::from_seed(seed).iter() {
                for window in canary.bytes().windows(crate::bytes::WINDOW) {
                    let before = seen.insert(window.to_ascii_lowercase(), seed);
                    assert!(before.is_none_or(|before| before == seed), "{}", canary.name());
                }
            }
        }
    }
}
