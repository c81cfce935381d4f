//! Taint tracking: the agent must not carry text that it read at one origin to another.
//!
//! Text counts as carried when three consecutive words of it, or one longer word with a digit in it, were
//! read at another origin, and occur neither at the origin it goes to nor in the user's own words. Rewording
//! evades this check. It catches copied text, account numbers and codes.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use browser_signals::Origin;
use policy_dfa::Carried;

/// The maximum number of shingles per origin.
const MAX_PER_ORIGIN: usize = 50_000;

/// The maximum number of shingles over all origins: some 40 megabytes.
const MAX_TOTAL: usize = 2_000_000;

/// The user's own words, and the text that the agent read at each origin, as hashes only.
#[derive(Debug, Default)]
pub struct TaintTracker {
    words: Vec<String>,
    own: HashSet<u64>,
    read: HashMap<Origin, HashSet<u64>>,
    /// Text of unknown origin that reached the agent in another way than by reading a page.
    unattributed: HashSet<u64>,
    /// Whether some text had no room.
    is_full: bool,
    /// Whether some text was read in earlier tasks.
    is_of_earlier: bool,
}

/// The number of shingles of a tracker, and whether some had no room.
pub(crate) type Extent = (usize, bool);

/// A tracker that the session's state machine and its agent's memory share. Clones are the same tracker.
#[derive(Debug, Clone, Default)]
pub struct SharedTaint(Arc<Mutex<TaintTracker>>);

impl SharedTaint {
    /// Shares a tracker.
    pub fn new(tracker: TaintTracker) -> SharedTaint {
        SharedTaint(Arc::new(Mutex::new(tracker)))
    }

    /// Locks it. It stays usable if a thread panicked with it: text is only ever added.
    pub fn lock(&self) -> MutexGuard<'_, TaintTracker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

impl TaintTracker {
    /// Starts with the user's own words, which may go wherever the policy allows.
    pub fn new(prompt: &str) -> TaintTracker {
        TaintTracker { words: words(prompt), own: shingles(prompt), ..TaintTracker::default() }
    }

    /// Adds text that the agent read in earlier tasks. The user's words of those tasks are not added.
    pub fn add_earlier(&mut self, earlier: &TaintTracker) {
        for (origin, seen) in &earlier.read {
            self.read.entry(origin.clone()).or_default().extend(seen);
        }
        self.unattributed.extend(&earlier.unattributed);
        self.is_full |= earlier.is_full;
        self.is_of_earlier |= earlier.size() > 0;
    }

    /// Whether some text was read in earlier tasks, in private containers.
    pub fn is_of_earlier(&self) -> bool {
        self.is_of_earlier
    }

    /// Records `text` as read at `origin`.
    pub fn read_at(&mut self, origin: &Origin, text: &str) {
        let room = MAX_TOTAL.saturating_sub(self.size());
        let seen = self.read.entry(origin.clone()).or_default();
        let shingles = shingles(text);
        self.is_full |= room < shingles.len();
        let room = room.min(MAX_PER_ORIGIN.saturating_sub(seen.len()));
        seen.extend(shingles.into_iter().take(room));
    }

    /// Records `text` of a page whose origin is unknown: it may go nowhere until it is read at its origin.
    pub fn add_unattributed(&mut self, text: &str) {
        let shingles = shingles(text);
        let room = MAX_TOTAL.saturating_sub(self.size());
        self.is_full |= room < shingles.len();
        self.unattributed.extend(shingles.into_iter().take(room));
    }

    /// A copy without the user's own words.
    pub(crate) fn read_alone(&self) -> TaintTracker {
        TaintTracker {
            read: self.read.clone(),
            unattributed: self.unattributed.clone(),
            is_full: self.is_full,
            ..TaintTracker::default()
        }
    }

    /// How much was read. It grows with everything that is added.
    pub(crate) fn extent(&self) -> Extent {
        (self.size(), self.is_full)
    }

    fn size(&self) -> usize {
        self.unattributed.len() + self.read.values().map(HashSet::len).sum::<usize>()
    }

    /// Where the agent has the text from that it carries to `to`.
    pub fn carries(&self, text: &str, to: &Origin) -> Carried {
        let at_home = self.read.get(to);
        let elsewhere = |shingle: &u64| {
            // Text that had no room may have been read anywhere.
            self.is_full
                || self.unattributed.contains(shingle)
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

    /// The sites where the agent read what `text` repeats, in order, without what stands in the user's own words. It names no site
    /// for text that had no room in the record.
    pub fn sites_of(&self, text: &str) -> Vec<Origin> {
        let repeated: Vec<u64> = shingles(text).difference(&self.own).copied().collect();
        let is_there = |seen: &HashSet<u64>| repeated.iter().any(|shingle| seen.contains(shingle));
        let sites = self.read.iter().filter(|(_, seen)| is_there(seen)).map(|(origin, _)| origin.clone());
        let mut sites: Vec<Origin> = sites.collect();
        sites.sort();
        sites
    }

    /// Whether a text is in the user's own words, word for word.
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
        let mut taint = TaintTracker::new("please buy the blue kettle");
        taint.read_at(
            &bank,
            "Your account DE99X7731 holds a balance of nine euros. Please buy the blue kettle",
        );
        assert_eq!(taint.carries("balance of nine", &shop), Carried::Elsewhere);
        assert_eq!(taint.carries("ref de99x7731", &shop), Carried::Elsewhere);
        assert_eq!(taint.carries("buy the blue", &shop), Carried::Own);
        assert_eq!(taint.carries("Kettle!", &shop), Carried::Own);
        assert_eq!(taint.carries("", &shop), Carried::Own);
        assert_eq!(taint.carries("kettle blue", &shop), Carried::Here);
        assert_eq!(taint.carries("something else entirely new", &shop), Carried::Here);
        assert_eq!(taint.carries("balance of nine", &bank), Carried::Here);
        assert_eq!(taint.sites_of("a balance of nine, please"), std::slice::from_ref(&bank));
        assert_eq!(taint.sites_of("please buy the blue kettle"), [], "the user's own words have no site");
        taint.read_at(&shop, "balance of nine");
        assert_eq!(taint.sites_of("balance of nine"), [bank, shop.clone()]);
        assert_eq!(taint.carries("balance of nine", &shop), Carried::Here);
    }

    #[test]
    fn unattributed_text_belongs_to_no_origin_until_it_is_read() {
        let shop = Origin::parse("https://shop.example").unwrap();
        let mut taint = TaintTracker::new("buy the kettle");
        taint.add_unattributed("balance of nine euros, buy the kettle");
        assert_eq!(taint.carries("balance of nine", &shop), Carried::Elsewhere);
        assert_eq!(taint.carries("buy the kettle", &shop), Carried::Own);
        taint.read_at(&shop, "a balance of nine");
        assert_eq!(taint.carries("balance of nine", &shop), Carried::Here);
        let mut later = TaintTracker::new("");
        later.add_earlier(&taint);
        assert_eq!(later.carries("of nine euros", &shop), Carried::Elsewhere);
        assert_eq!(later.carries("balance of nine", &shop), Carried::Here);
        // The user's words belong to the task that they were said for.
        assert_eq!(later.carries("buy the kettle", &shop), Carried::Elsewhere);
    }

    #[test]
    fn a_full_tracker_treats_no_text_as_unread() {
        let mut taint = TaintTracker::new("");
        let page: Vec<String> = (0..MAX_PER_ORIGIN).map(|number| format!("w{number}")).collect();
        let page = page.join(" ");
        let last = Origin::parse("https://last.example").unwrap();
        for number in 0..=MAX_TOTAL / MAX_PER_ORIGIN {
            let origin = Origin::parse(&format!("https://n{number}.example")).unwrap();
            taint.read_at(&origin, &page);
        }
        assert!(taint.size() <= MAX_TOTAL);
        assert_eq!(taint.carries("something else entirely new", &last), Carried::Elsewhere);
        assert_eq!(taint.carries("kettle", &last), Carried::Here);
    }
}
