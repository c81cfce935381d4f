//! Memory from task to task, where one agent begins all of a guard's tasks.
//!
//! Such an agent may close a task and begin another one without asking the user. Its own memory is not wiped in between,
//! so the guard must not forget either that it read an account, or that it guessed a value.

use super::guesses::Guesses;
use super::taint::TaintTracker;

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
