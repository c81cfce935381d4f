//! The values and choices of one task, which are never written. Sessions at the same time have a slot each.

use browser_signals::Origin;

use crate::content::record::Record;
use crate::made::Made;
use crate::sources::Fetch;
use crate::store::vault::Vault;

/// The place of one session among those that use a vault at the same time. What the vault keeps for a task, it keeps for the
/// slot that it was last [turned to](Vault::turn_to).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TaskSlot(pub u64);

/// What a vault keeps for one slot's task.
#[derive(Default)]
pub(crate) struct TaskValues {
    pub slot: TaskSlot,
    pub records: Vec<Record>,
    /// The tokens of restored logins. They are found in texts, and supply no field.
    pub tokens: Vec<Record>,
    /// The accounts of sources whose values are among the records.
    pub fetched: Vec<Fetch>,
    /// The passwords that were made in this task. Their records are stored.
    pub made: Vec<Made>,
    /// The persona whose records are preferred.
    pub preferred: Option<String>,
    /// The user's choices among records that fit alike.
    pub chosen: Vec<ChosenRecord>,
}

/// The record that the user chose for a kind of record at an origin.
pub(crate) struct ChosenRecord {
    pub kind: &'static str,
    pub origin: Origin,
    pub handle: String,
}

impl Vault {
    /// Turns to a slot: values for a task, made passwords and the preferred persona are now those of this slot, and those of
    /// every other slot are neither released nor found. A vault begins with the slot 0, and a slot begins empty.
    pub fn turn_to(&mut self, slot: TaskSlot) {
        if self.task.slot == slot {
            return;
        }
        let at = self.other_tasks.iter().position(|task| task.slot == slot);
        let next = at.map(|at| self.other_tasks.swap_remove(at));
        let next = next.unwrap_or(TaskValues { slot, ..TaskValues::default() });
        let last = std::mem::replace(&mut self.task, next);
        if !last.is_empty() {
            self.other_tasks.push(last);
        }
    }
}

impl TaskValues {
    /// The place among these records of the one that the user chose last.
    pub fn chosen_among(&self, kind: &str, origin: &Origin, among: &[&str]) -> Option<usize> {
        let chosen = self.chosen.iter().rev().filter(|it| it.kind == kind && it.origin == *origin);
        chosen.into_iter().find_map(|chosen| among.iter().position(|handle| *handle == chosen.handle))
    }

    fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.tokens.is_empty()
            && self.fetched.is_empty()
            && self.made.is_empty()
            && self.preferred.is_none()
            && self.chosen.is_empty()
    }
}
