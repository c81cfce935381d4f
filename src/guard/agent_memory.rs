//! Memory of agents beyond a task: guessed values, and the private text that one agent read.
//!
//! A refusal that confirms a guess shows an agent that its text is in the vault. A session allows one of them, and the sum
//! over all sessions with a vault reveals an agent that runs session after session.
//!
//! Where one agent begins all of a guard's tasks, it may close a task and begin another one without asking the user. Its
//! own memory is not wiped in between, so the guard must not forget either that it read an account, or that it guessed a
//! value. Tasks that are open at the same time learn of each other before each action.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use sirl::Field;

use super::taint::{Extent, SharedTaint, TaintTracker};

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

/// The private text that an agent read, and the values that it guessed: in tasks that ended, and in the open ones.
#[derive(Default)]
struct AgentMemory {
    /// Text that the agent read in containers with values of the user's, in tasks that ended.
    private: TaintTracker,
    /// How often the agent wrote a value of the vault in tasks that ended, since the user last agreed to a task.
    guessed: u64,
    open: BTreeMap<u64, OpenTask>,
    tasks: u64,
}

/// An open task.
struct OpenTask {
    taint: SharedTaint,
    is_private: bool,
    /// How often the agent wrote a value of the vault in it, and how often it had when the user last agreed to a task.
    guessed: u64,
    agreed_to: u64,
}

/// The memory of one agent, which all its tasks share. Clones are the same memory.
#[derive(Clone, Default)]
pub(crate) struct SharedMemory(Arc<Mutex<AgentMemory>>);

impl SharedMemory {
    fn lock(&self) -> MutexGuard<'_, AgentMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets the guesses, since the user saw them and agreed to a task.
    pub(crate) fn user_agreed(&self) {
        let mut memory = self.lock();
        memory.guessed = 0;
        memory.open.values_mut().for_each(|task| task.agreed_to = task.guessed);
    }

    /// How often the agent wrote a value of the vault, since the user last agreed to a task.
    pub(crate) fn guessed(&self) -> u64 {
        self.lock().guessed_except(None)
    }

    /// Opens a task with this taint.
    pub(crate) fn open(&self, taint: SharedTaint) -> TaskMemory {
        let mut memory = self.lock();
        memory.tasks += 1;
        let id = memory.tasks;
        let task = OpenTask { taint: taint.clone(), is_private: false, guessed: 0, agreed_to: 0 };
        memory.open.insert(id, task);
        TaskMemory { memory: self.clone(), id, taint, learnt: BTreeMap::new() }
    }
}

impl AgentMemory {
    /// The guesses in all tasks but this one.
    fn guessed_except(&self, task: Option<u64>) -> u64 {
        let others = self.open.iter().filter(|(id, _)| Some(**id) != task);
        self.guessed + others.map(|(_, task)| task.guessed.saturating_sub(task.agreed_to)).sum::<u64>()
    }
}

/// The part of one task in its agent's memory. The task ends with it: its guesses stay, and its taint if the container was
/// private. Text of a container without values of the user's is public, and forgotten.
pub(crate) struct TaskMemory {
    memory: SharedMemory,
    id: u64,
    taint: SharedTaint,
    /// The extent of what was taken over from each other task, and from those that ended (0).
    learnt: BTreeMap<u64, Extent>,
}

impl TaskMemory {
    /// Adds to the task's taint what the agent read in private containers of other tasks. Returns whether it guessed a value in one
    /// of them.
    pub(crate) fn learn(&mut self) -> bool {
        let (read, guessed) = {
            let memory = self.memory.lock();
            let open = memory.open.iter().filter(|(id, task)| **id != self.id && task.is_private);
            let open = open.map(|(id, task)| (*id, task.taint.clone()));
            let mut read = Vec::new();
            if self.learnt.insert(0, memory.private.extent()) != Some(memory.private.extent()) {
                read.push(memory.private.read_alone());
            }
            for (id, taint) in open {
                let taint = taint.lock();
                if self.learnt.insert(id, taint.extent()) != Some(taint.extent()) {
                    read.push(taint.read_alone());
                }
            }
            (read, memory.guessed_except(Some(self.id)) > 0)
        };
        let mut taint = self.taint.lock();
        read.iter().for_each(|earlier| taint.add_earlier(earlier));
        guessed
    }

    /// Notes the guesses of the task so far, and whether its container is private.
    pub(crate) fn note(&self, guessed: &Guesses, is_private: bool) {
        if let Some(task) = self.memory.lock().open.get_mut(&self.id) {
            task.guessed = guessed.values().map(|count| u64::from(*count)).sum();
            task.is_private |= is_private;
        }
    }
}

impl Drop for TaskMemory {
    fn drop(&mut self) {
        let mut memory = self.memory.lock();
        let Some(task) = memory.open.remove(&self.id) else { return };
        memory.guessed += task.guessed.saturating_sub(task.agreed_to);
        if task.is_private {
            memory.private.add_earlier(&task.taint.lock());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use browser_signals::Origin;
    use policy_dfa::Carried;

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

    #[test]
    fn tasks_learn_of_each_other_while_they_are_open_and_after() {
        let [bank, shop] =
            ["https://bank.example", "https://shop.example"].map(|site| Origin::parse(site).unwrap());
        let memory = SharedMemory::default();
        let task = || {
            let taint = SharedTaint::default();
            (taint.clone(), memory.open(taint))
        };
        let ((reads, reading), (writes, mut writing)) = (task(), task());
        let carries = |taint: &SharedTaint| taint.lock().carries("balance of nine", &shop);
        reads.lock().read_at(&bank, "a balance of nine euros");
        assert!(!writing.learn() && carries(&writes) == Carried::Here, "text of a public container");
        reading.note(&Guesses::default(), true);
        assert!(!writing.learn() && carries(&writes) == Carried::Elsewhere);
        reads.lock().read_at(&bank, "the code is 99X7731");
        assert!(!writing.learn());
        assert_eq!(writes.lock().carries("99x7731", &shop), Carried::Elsewhere);
        reading.note(&guessed("address:home", Field::City, 1), true);
        assert!(writing.learn(), "the other task guessed");
        drop(reading);
        let (later, mut late) = task();
        assert!(late.learn() && carries(&later) == Carried::Elsewhere);
        assert_eq!(memory.guessed(), 1);
        memory.user_agreed();
        assert!(!late.learn() && !writing.learn());
        writing.note(&guessed("address:home", Field::City, 2), false);
        assert!(late.learn() && !writing.learn(), "its own guesses are no news to a task");
        drop(writing);
        drop(late);
        let (last, mut end) = task();
        assert!(end.learn() && memory.guessed() == 2);
        assert_eq!(carries(&last), Carried::Elsewhere);
        assert_eq!(last.lock().carries("kettles are blue", &shop), Carried::Here);
    }
}
