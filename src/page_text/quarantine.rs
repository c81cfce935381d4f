//! Words that the classifier took for an attack, stored for the user alone.
//!
//! A session collects them in memory. Where the guard has the user's vault, they are stored in it when the session
//! ends, encrypted as its values are; `portcullis quarantine show` prints them. The newest are stored, up to
//! [`MAX_BYTES`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Withheld, WithholdReason};

/// The most bytes of words that are stored.
pub const MAX_BYTES: usize = 40 * 1024;
/// The most bytes of one finding that are stored.
const MAX_FINDING_BYTES: usize = 4 * 1024;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// The origin that the words came from, or `opaque`.
    pub origin: String,
    /// The time of the first reading, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The words, truncated where they are very long.
    pub words: String,
}

/// The findings of one session. Clones share them.
#[derive(Clone, Default)]
pub struct Quarantine(Arc<Mutex<Vec<Quarantined>>>);

impl Quarantine {
    fn lock(&self) -> MutexGuard<'_, Vec<Quarantined>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the suspicious ones of the withheld words, each once.
    pub fn add(&self, withheld: &[Withheld], unix_ms: u64) {
        let mut held = self.lock();
        for one in withheld.iter().filter(|one| one.why == WithholdReason::Suspicious) {
            let origin = one.origin.as_ref().map_or_else(|| "opaque".to_owned(), ToString::to_string);
            let words = one.words.get(..one.words.floor_char_boundary(MAX_FINDING_BYTES)).unwrap_or_default();
            add(&mut held, Quarantined { origin, unix_ms, words: words.to_owned() });
        }
    }

    /// The findings, oldest first.
    pub fn held(&self) -> Vec<Quarantined> {
        self.lock().clone()
    }

    /// The stored form: the findings of `earlier` sessions and then these; none where nothing is new.
    pub fn to_keep(&self, earlier: Option<&[u8]>) -> Option<Vec<u8>> {
        let new = self.lock();
        if new.is_empty() {
            return None;
        }
        let mut all = earlier.map(from_json).unwrap_or_default();
        new.iter().for_each(|one| add(&mut all, one.clone()));
        serde_json::to_vec(&all).ok()
    }
}

/// Reads the stored form. Bytes that cannot be read give an empty list.
pub fn from_json(bytes: &[u8]) -> Vec<Quarantined> {
    serde_json::from_slice(bytes).unwrap_or_default()
}

/// Adds a finding, and drops the oldest ones where there are too many.
fn add(held: &mut Vec<Quarantined>, one: Quarantined) {
    if held.iter().any(|other| other.words == one.words && other.origin == one.origin) {
        return;
    }
    held.push(one);
    // JSON writes a control character in six bytes.
    let size = |one: &Quarantined| {
        let written = |text: &str| {
            text.chars().map(|c| if c.is_control() { 6 } else { c.len_utf8() + 1 }).sum::<usize>()
        };
        64 + written(&one.words) + written(&one.origin)
    };
    let mut total: usize = held.iter().map(size).sum();
    while total > MAX_BYTES && held.len() > 1 {
        total -= size(&held.remove(0));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use browser_signals::outline::TextPlace;

    use super::*;

    fn withheld(why: WithholdReason, words: &str) -> Withheld {
        Withheld { why, words: words.to_owned(), place: TextPlace::Shown, origin: None }
    }

    #[test]
    fn findings_are_stored_once_and_the_newest_stay() {
        let quarantine = Quarantine::default();
        let found = [withheld(WithholdReason::Suspicious, "one"), withheld(WithholdReason::Hidden, "two")];
        quarantine.add(&found, 1);
        quarantine.add(&found, 2);
        assert_eq!(quarantine.held().len(), 1);
        let kept = quarantine.to_keep(None).unwrap();
        assert_eq!(from_json(&kept)[0].words, "one");

        let next = Quarantine::default();
        assert_eq!(next.to_keep(Some(&kept)), None);
        for number in 0..60 {
            next.add(
                &[withheld(WithholdReason::Suspicious, &format!("{number}{}", "\u{1}ä".repeat(3000)))],
                3,
            );
        }
        let kept = next.to_keep(Some(&kept)).unwrap();
        assert!(kept.len() <= 64 * 1024, "{} bytes do not fit a vault's state", kept.len());
        let all = from_json(&kept);
        assert!(all.last().unwrap().words.starts_with("59"));
        assert!(all.iter().all(|one| one.words.len() <= MAX_FINDING_BYTES));
        assert!(!all.iter().any(|one| one.words.starts_with("0\u{1}")), "the oldest went");
        assert!(from_json(b"not json").is_empty());
    }
}
