//! Refusals that confirmed a guess of a value, added up over all sessions with one vault.
//!
//! Each tells an agent that what it wrote is in the vault. One session bears one of them; whoever runs session after
//! session is seen by the sum.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sirl::Field;

/// How many values are told apart. Beyond, those that were guessed least often are forgotten first.
const MOST: usize = 512;

/// How often which value was guessed, by record and field.
pub type Guesses = BTreeMap<(String, Field), u32>;

#[derive(Serialize, Deserialize)]
struct Kept {
    record: String,
    field: String,
    count: u32,
}

/// What is kept in a vault. What cannot be read is nothing.
pub fn from_json(bytes: &[u8]) -> Guesses {
    let kept: Vec<Kept> = serde_json::from_slice(bytes).unwrap_or_default();
    let entry = |kept: Kept| Some(((kept.record, Field::from_name(&kept.field)?), kept.count));
    kept.into_iter().filter_map(entry).collect()
}

/// As they are kept, with those of a session added; none where the session has none.
pub fn to_keep(earlier: &Guesses, new: &Guesses) -> Option<Vec<u8>> {
    if new.is_empty() {
        return None;
    }
    let mut sums = earlier.clone();
    for (value, count) in new {
        let sum = sums.entry(value.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    let kept = |((record, field), count): ((String, Field), u32)| Kept {
        record,
        field: field.as_str().to_owned(),
        count,
    };
    let mut all: Vec<Kept> = sums.into_iter().map(kept).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.count));
    all.truncate(MOST);
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
        let first = from_json(&to_keep(&Guesses::default(), &city).unwrap());
        assert_eq!(first, city);
        let both = from_json(&to_keep(&first, &guessed("address:home", Field::Street, 1)).unwrap());
        let all = from_json(&to_keep(&both, &city).unwrap());
        assert_eq!(all.values().sum::<u32>(), 5);
        assert_eq!(all.get(&("address:home".to_owned(), Field::City)), Some(&4));
        assert_eq!(to_keep(&all, &Guesses::default()), None, "nothing new is not written anew");
        assert_eq!(from_json(b"not json"), Guesses::default());
    }

    #[test]
    fn what_is_kept_is_bounded_and_keeps_what_was_guessed_most() {
        let mut many = guessed("address:home", Field::City, 9);
        for number in 0..2 * MOST {
            many.insert((format!("address:{number}"), Field::City), 1);
        }
        let kept = to_keep(&Guesses::default(), &many).unwrap();
        assert!(kept.len() < 64 * 1024, "{} bytes do not fit a vault's state", kept.len());
        let kept = from_json(&kept);
        assert_eq!(kept.len(), MOST);
        assert_eq!(kept.get(&("address:home".to_owned(), Field::City)), Some(&9));
    }
}
