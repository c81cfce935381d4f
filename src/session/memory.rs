//! What is kept from one task to the next where one agent begins them all.
//!
//! An agent that may close a task and begin another one, without anybody being asked, would otherwise leave behind what
//! the first one knew of it: that it read an account, and that it guessed a value. Its own memory is not wiped in between.

use super::core::Core;
use crate::flow::Readings;
use crate::guard::Guard;

/// What an agent read and guessed in earlier tasks.
#[derive(Default)]
pub(crate) struct Memory {
    /// What it read in containers that something of the user's was in.
    private: Readings,
    /// How often it wrote something that is in the vault, since the user agreed to a task last.
    guessed: u64,
}

impl Memory {
    /// The user agreed to a task, and was told of the guesses.
    pub(super) fn user_agreed(&mut self) {
        self.guessed = 0;
    }

    /// How often the agent wrote something that is in the vault, since the user agreed to a task last.
    pub(super) fn guessed(&self) -> u64 {
        self.guessed
    }

    /// What the agent takes into its next task.
    pub(super) fn read(&self) -> &Readings {
        &self.private
    }

    /// A task is over. What was read where nothing of the user's was is public, and forgotten.
    pub(super) fn take_in(&mut self, core: &mut Core, was_private: bool) {
        self.guessed += core.counts().guessed.values().map(|count| u64::from(*count)).sum::<u64>();
        if was_private {
            self.private = std::mem::take(&mut core.readings);
        }
    }
}

impl Guard {
    /// All tasks of this guard are one agent's, which begins and ends them by itself. What it read where something of the
    /// user's was is not carried elsewhere in a later task either, and whoever guessed a value in one task has no sensitive
    /// access in the next, until the user agrees to one.
    #[must_use]
    pub fn with_one_agent(mut self) -> Guard {
        self.kit.memory = Some(Memory::default());
        self
    }
}
