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

/// Shingles kept altogether, at most: some 40 megabytes.
const MOST_ALTOGETHER: usize = 2_000_000;

/// A memory of the user's own words, and of what was read at which origin as hashes only.
#[derive(Debug, Default)]
pub struct Readings {
    words: Vec<String>,
    own: HashSet<u64>,
    read: HashMap<Origin, HashSet<u64>>,
    /// What pages said in another way than by being read. Of which of them it is nobody knows.
    said: HashSet<u64>,
    /// Whether there was no room for something.
    is_full: bool,
    /// Whether something of it was read in earlier tasks.
    is_of_earlier: bool,
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
        Readings { words: words(prompt), own: shingles(prompt), ..Readings::default() }
    }

    /// Remembers too what was read in earlier tasks.
    pub fn remember(&mut self, earlier: &Readings) {
        for (origin, seen) in &earlier.read {
            self.read.entry(origin.clone()).or_default().extend(seen);
        }
        self.said.extend(&earlier.said);
        self.is_full |= earlier.is_full;
        self.is_of_earlier |= earlier.size() > 0;
    }

    /// Whether something of it was read in earlier tasks, where something of the user's was.
    pub fn is_of_earlier(&self) -> bool {
        self.is_of_earlier
    }

    /// Remembers `text` as read at `origin`.
    pub fn read_at(&mut self, origin: &Origin, text: &str) {
        let room = MOST_ALTOGETHER.saturating_sub(self.size());
        let seen = self.read.entry(origin.clone()).or_default();
        let shingles = shingles(text);
        self.is_full |= room < shingles.len();
        let room = room.min(MOST.saturating_sub(seen.len()));
        seen.extend(shingles.into_iter().take(room));
    }

    /// Remembers `text` as the word of some page, which is at home nowhere.
    pub fn said(&mut self, text: &str) {
        let shingles = shingles(text);
        let room = MOST_ALTOGETHER.saturating_sub(self.size());
        self.is_full |= room < shingles.len();
        self.said.extend(shingles.into_iter().take(room));
    }

    fn size(&self) -> usize {
        self.said.len() + self.read.values().map(HashSet::len).sum::<usize>()
    }

    /// Where the text was read that is carried to `to`.
    pub fn carries(&self, text: &str, to: &Origin) -> Carried {
        let at_home = self.read.get(to);
        let elsewhere = |shingle: &u64| {
            // What there was no room for may have been read anywhere.
            self.is_full
                || self.said.contains(shingle)
                || self.read.iter().any(|(origin, seen)| origin != to && seen.contains(shingle))
        };
        let foreign = shingles(text).iter().any(|shingle| {
            !self.own.contains(shingle)
                && !at_home.is_some_and(|seen| seen.contains(shingle))
                && elsewhere(shingle)
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

    #[test]
    fn what_a_page_said_otherwise_is_at_home_nowhere_until_it_is_read() {
        let shop = Origin::parse("https://shop.example").unwrap();
        let mut readings = Readings::new("buy the kettle");
        readings.said("balance of nine euros, buy the kettle");
        assert_eq!(readings.carries("balance of nine", &shop), Carried::Elsewhere);
        assert_eq!(readings.carries("buy the kettle", &shop), Carried::Own);
        readings.read_at(&shop, "a balance of nine");
        assert_eq!(readings.carries("balance of nine", &shop), Carried::Here);
        let mut later = Readings::new("");
        later.remember(&readings);
        assert_eq!(later.carries("of nine euros", &shop), Carried::Elsewhere);
        assert_eq!(later.carries("balance of nine", &shop), Carried::Here);
        // The user's words were those of the task that they were said for.
        assert_eq!(later.carries("buy the kettle", &shop), Carried::Elsewhere);
    }

    #[test]
    fn where_there_is_no_room_nothing_is_taken_for_unread() {
        let mut readings = Readings::new("");
        let page: Vec<String> = (0..MOST).map(|number| format!("w{number}")).collect();
        let page = page.join(" ");
        let last = Origin::parse("https://last.example").unwrap();
        for number in 0..=MOST_ALTOGETHER / MOST {
            let origin = Origin::parse(&format!("https://n{number}.example")).unwrap();
            readings.read_at(&origin, &page);
        }
        assert!(readings.size() <= MOST_ALTOGETHER);
        assert_eq!(readings.carries("something else entirely new", &last), Carried::Elsewhere);
        assert_eq!(readings.carries("kettle", &last), Carried::Here);
    }
}
