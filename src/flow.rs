//! What was read where: so that text read at one origin is not carried to another.
//!
//! Text counts as carried when three consecutive words of it, or one longer word with a digit in it, were
//! read at another origin and neither at the place it goes to nor in the user's own words. Rewording
//! escapes this; what it catches is copying, account numbers and codes.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use browser_signals::Origin;
use policy_dfa::Carried;

/// Shingles kept for each origin, at most.
const MOST: usize = 50_000;

/// A memory of the user's own words, and of what was read at which origin as hashes only.
#[derive(Debug, Default)]
pub struct Readings {
    words: Vec<String>,
    own: HashSet<u64>,
    read: HashMap<Origin, HashSet<u64>>,
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn shingles(text: &str) -> HashSet<u64> {
    let hash = |part: &[String]| {
        let mut hasher = DefaultHasher::new();
        part.hash(&mut hasher);
        hasher.finish()
    };
    let words = words(text);
    let triples = words.windows(3).map(hash);
    let codes = words
        .iter()
        .filter(|word| word.len() >= 6 && word.bytes().any(|b| b.is_ascii_digit()))
        .map(|word| hash(std::slice::from_ref(word)));
    triples.chain(codes).collect()
}

impl Readings {
    /// Starts with the user's own words, which may go anywhere that the policy allows.
    pub fn new(prompt: &str) -> Readings {
        Readings { words: words(prompt), own: shingles(prompt), read: HashMap::new() }
    }

    /// Remembers `text` as read at `origin`.
    pub fn read_at(&mut self, origin: &Origin, text: &str) {
        let seen = self.read.entry(origin.clone()).or_default();
        let room = MOST.saturating_sub(seen.len());
        seen.extend(shingles(text).into_iter().take(room));
    }

    /// Where the text was read that is carried to `to`.
    pub fn carries(&self, text: &str, to: &Origin) -> Carried {
        let at_home = self.read.get(to);
        let foreign = shingles(text).iter().any(|shingle| {
            !self.own.contains(shingle)
                && !at_home.is_some_and(|seen| seen.contains(shingle))
                && self.read.iter().any(|(origin, seen)| origin != to && seen.contains(shingle))
        });
        match foreign {
            true => Carried::Elsewhere,
            false if self.is_own(text) => Carried::Own,
            false => Carried::Here,
        }
    }

    /// Whether a text stands in the user's own words, word for word.
    pub fn is_own(&self, text: &str) -> bool {
        let words = words(text);
        words.is_empty() || self.words.windows(words.len()).any(|part| part == words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_text_and_codes_are_foreign_and_own_words_are_not() {
        let bank = Origin::parse("https://bank.example").unwrap();
        let shop = Origin::parse("https://shop.example").unwrap();
        let mut readings = Readings::new("please buy the blue kettle");
        readings.read_at(
            &bank,
            "Your account DE99X7731 holds a balance of nine euros. Please buy the blue kettle",
        );
        assert_eq!(readings.carries("balance of nine", &shop), Carried::Elsewhere);
        assert_eq!(readings.carries("ref de99x7731", &shop), Carried::Elsewhere);
        assert_eq!(readings.carries("buy the blue", &shop), Carried::Own);
        assert_eq!(readings.carries("Kettle!", &shop), Carried::Own);
        assert_eq!(readings.carries("", &shop), Carried::Own);
        assert_eq!(readings.carries("kettle blue", &shop), Carried::Here);
        assert_eq!(readings.carries("something else entirely new", &shop), Carried::Here);
        assert_eq!(readings.carries("balance of nine", &bank), Carried::Here);
        readings.read_at(&shop, "balance of nine");
        assert_eq!(readings.carries("balance of nine", &shop), Carried::Here);
    }
}
