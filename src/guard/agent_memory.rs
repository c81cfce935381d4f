//! Memory of agents beyond a task: guessed values, and the private text that one agent read.
//!
//! A refusal that confirms a guess shows an agent that its text is in the vault. A session allows one of them, and the sum
//! over all sessions with a vault reveals an agent that runs session after session.
//!
//! Where one agent begins all of a guard's tasks, it may close a task and begin another one without asking the user. Its
//! own memory is not wiped in between, so the guard must not forget either that it read an account, or that it guessed a
//! value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sirl::Field;

use super::taint::TaintTracker;

/// The maximum number of values that are counted. The least often guessed ones are forgotten first.
const MAX_VALUES: usize = 512;

/// How often each value was guessed, by record and field.
pub(crate) type Guesses = BTreeMap<(String, Field), u32>;

#[derive(Serialize, Deserialize)]
struct StoredCount {
    record: String,
    field: String,
    count: u32,
}

/// Reads the stored counts. Unreadable bytes count as none.
pub(super) fn guesses_from_json(bytes: &[u8]) -> Guesses {
    let stored: Vec<StoredCount> = serde_json::from_slice(bytes).unwrap_or_default();
    let entry = |stored: StoredCount| Some(((stored.record, Field::from_name(&stored.field)?), stored.count));
    stored.into_iter().filter_map(entry).collect()
}

/// The stored form of the earlier counts plus those of a session; `None` where the session has none.
pub(super) fn guesses_to_json(earlier: &Guesses, new: &Guesses) -> Option<Vec<u8>> {
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

/// The private text that an agent read, and the values that it guessed, in earlier tasks.
#[derive(Default)]
pub(crate) struct AgentMemory {
    /// Text that the agent read in containers with values of the user's.
    private: TaintTracker,
    /// How often the agent wrote a value of the vault, since the user last agreed to a task.
    guessed: u64,
}

impl AgentMemory {
    /// Resets the guesses, since the user saw them and agreed to a task.
    pub(crate) fn user_agreed(&mut self) {
        self.guessed = 0;
    }

    /// How often the agent wrote a value of the vault, since the user last agreed to a task.
    pub(crate) fn guessed(&self) -> u64 {
        self.guessed
    }

    /// The taint that the agent brings into its next task.
    pub(crate) fn private(&self) -> &TaintTracker {
        &self.private
    }

    /// Takes over the guesses of a task that ended, and its taint if the container was private. Text of a container
    /// without values of the user's is public, and forgotten.
    pub(crate) fn task_ended(&mut self, guessed: &Guesses, taint: TaintTracker, was_private: bool) {
        self.guessed += guessed.values().map(|count| u64::from(*count)).sum::<u64>();
        if was_private {
            self.private = taint;
        }
    }
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
        let first = guesses_from_json(&guesses_to_json(&Guesses::default(), &city).unwrap());
        assert_eq!(first, city);
        let both =
            guesses_from_json(&guesses_to_json(&first, &guessed("address:home", Field::Street, 1)).unwrap());
        let all = guesses_from_json(&guesses_to_json(&both, &city).unwrap());
        assert_eq!(all.values().sum::<u32>(), 5);
        assert_eq!(all.get(&("address:home".to_owned(), Field::City)), Some(&4));
        assert_eq!(
            guesses_to_json(&all, &Guesses::default()),
            None,
            "without new guesses nothing is written"
        );
        assert_eq!(guesses_from_json(b"not json"), Guesses::default());
    }

    #[test]
    fn the_stored_counts_are_bounded_and_keep_the_values_guessed_most() {
        let mut many = guessed("address:home", Field::City, 9);
        for number in 0..2 * MAX_VALUES {
            many.insert((format!("address:{number}"), Field::City), 1);
        }
        let stored = guesses_to_json(&Guesses::default(), &many).unwrap();
        assert!(stored.len() < 64 * 1024, "{} bytes do not fit a vault's state", stored.len());
        let stored = guesses_from_json(&stored);
        assert_eq!(stored.len(), MAX_VALUES);
        assert_eq!(stored.get(&("address:home".to_owned(), Field::City)), Some(&9));
    }
}
