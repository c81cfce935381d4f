//! Refusals that confirmed a guess of a value, summed over all sessions with one vault.
//!
//! Each such refusal shows an agent that its text is in the vault. A session allows one of them, and the sum reveals an
//! agent that runs session after session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sirl::Field;

/// The maximum number of values that are counted. The least often guessed ones are forgotten first.
const MAX_VALUES: usize = 512;

/// How often each value was guessed, by record and field.
pub type Guesses = BTreeMap<(String, Field), u32>;

#[derive(Serialize, Deserialize)]
struct StoredCount {
    record: String,
    field: String,
    count: u32,
}

/// Reads the stored counts. Unreadable bytes count as none.
pub fn from_json(bytes: &[u8]) -> Guesses {
    let stored: Vec<StoredCount> = serde_json::from_slice(bytes).unwrap_or_default();
    let entry = |stored: StoredCount| Some(((stored.record, Field::from_name(&stored.field)?), stored.count));
    stored.into_iter().filter_map(entry).collect()
}

/// The stored form of the earlier counts plus those of a session; `None` where the session has none.
pub fn to_json(earlier: &Guesses, new: &Guesses) -> Option<Vec<u8>> {
    if new.is_empty() {
        return None;
    }
    let mut sums = earlier.clone();
    for (value, count) in new {
        let sum = sums.entry(value.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    let stored = |((record, field), count): ((String, Field), u32)| StoredCount {
        record,
        field: field.as_str().to_owned(),
        count,
    };
    let mut all: Vec<StoredCount> = sums.into_iter().map(stored).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.count));
    all.truncate(MAX_VALUES);
    serde_json::to_vec(&all).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn guessed(record: &str, field: Field, count: u32) -> Guesses {
        [((record.to_owned(), field), count)].into()
    }

    #[test]
    fn sessions_add_up_by_record_and_field() {
        let city = guessed("address:home", Field::City, 2);
        let first = from_json(&to_json(&Guesses::default(), &city).unwrap());
        assert_eq!(first, city);
        let both = from_json(&to_json(&first, &guessed("address:home", Field::Street, 1)).unwrap());
        let all = from_json(&to_json(&both, &city).unwrap());
        assert_eq!(all.values().sum::<u32>(), 5);
        assert_eq!(all.get(&("address:home".to_owned(), Field::City)), Some(&4));
        assert_eq!(to_json(&all, &Guesses::default()), None, "without new guesses nothing is written");
        assert_eq!(from_json(b"not json"), Guesses::default());
    }

    #[test]
    fn the_stored_counts_are_bounded_and_keep_the_values_guessed_most() {
        let mut many = guessed("address:home", Field::City, 9);
        for number in 0..2 * MAX_VALUES {
            many.insert((format!("address:{number}"), Field::City), 1);
        }
        let stored = to_json(&Guesses::default(), &many).unwrap();
        assert!(stored.len() < 64 * 1024, "{} bytes do not fit a vault's state", stored.len());
        let stored = from_json(&stored);
        assert_eq!(stored.len(), MAX_VALUES);
        assert_eq!(stored.get(&("address:home".to_owned(), Field::City)), Some(&9));
    }
}
