//! The part that both drivers of a session share: the records, the user's questions, the standing consents, and the end.

use std::time::Instant;

use policy_dfa::{Millis, Reason, SessionEvent};
use sirl::Kind;

use crate::audit::{AuditEvent, AuditLog, SessionId};
use crate::guard::agent_memory::TaskMemory;
use crate::guard::{Dependencies, Guard};
use crate::page_text::{PageTextGuard, Quarantine};
use crate::session::SessionReport;
use crate::session::core::{Core, Event, GuardCommand};
use crate::system::unix_ms;

/// A session's state machine and the guard's parts that it needs, without a browser.
pub(in crate::session) struct Driver {
    pub id: SessionId,
    pub core: Core,
    pub text: PageTextGuard,
    pub quarantine: Quarantine,
    /// The task's part in the memory of its agent, if the guard's tasks are one agent's.
    pub memory: Option<TaskMemory>,
    /// The generation of the vault whose standing consents the session knows.
    pub known_generation: Option<u64>,
    pub dependencies: Dependencies,
    pub prompt: String,
    pub ruled_out: Vec<(Kind, Reason)>,
    pub started: Instant,
}

impl Driver {
    /// The time since the session began.
    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Writes records, with `sync` to disk. Returns whether all are written.
    pub fn record(&mut self, events: &[AuditEvent], sync: bool) -> bool {
        let time = unix_ms();
        events.iter().all(|event| self.dependencies.audit.append(self.id, event, time, sync).is_ok())
    }

    /// Carries a command out that needs no browser.
    pub async fn carry_out(&mut self, command: GuardCommand) -> Event {
        match command {
            GuardCommand::Record { events, sync } => Event::Recorded(self.record(&events, sync)),
            GuardCommand::Ask(prompt) => Event::Answered(self.dependencies.ask(&prompt).await),
            GuardCommand::AskCode { code, prompt } => {
                self.dependencies.ask_code(&code, &prompt).await;
                Event::CodeAsked
            }
            GuardCommand::Fetch(wanted) => Event::Fetched(self.dependencies.fetch(*wanted).await),
            GuardCommand::ChooseRecord(rivals) => {
                Event::Chosen(self.dependencies.choose_record(&rivals).await)
            }
            GuardCommand::KeepVault => Event::Kept(self.dependencies.save()),
            GuardCommand::ReadClock => Event::Clock { unix_ms: unix_ms() },
        }
    }

    /// Stores new standing consents. If that fails, they hold for this task.
    pub fn save_standing(&mut self) {
        if let Some(changes) = self.core.take_standing()
            && self.dependencies.store_standing(&changes)
        {
            self.core.note_stored(&changes);
        }
    }

    /// Shows the user the refusals on unsafe pages.
    pub async fn show_warnings(&mut self) {
        for warning in self.core.take_warnings() {
            if !self.dependencies.warn(&warning).await {
                self.core.keep_warning(warning);
            }
        }
    }

    /// Takes over what changed in tasks at the same time: what their agent read in private containers, whether it guessed a value, and
    /// the user's answers that outlive them.
    pub fn learn_of_other_tasks(&mut self) {
        if let Some(memory) = &mut self.memory
            && memory.learn()
        {
            self.core.happened(SessionEvent::Suspected);
        }
        if !self.dependencies.has_vault_file() {
            return;
        }
        let generation = self.dependencies.vault().generation();
        if self.known_generation == Some(generation) {
            return;
        }
        // A locked vault says nothing of its consents, and releases nothing.
        if let Some(stored) = self.dependencies.stored_consents() {
            self.known_generation = Some(generation);
            self.core.take_over_standing(stored);
        }
    }

    /// Lets tasks at the same time know of the guesses in this one, and of what is read in it, once its pages are private.
    pub fn note_for_other_tasks(&self, is_private: bool) {
        if let Some(memory) = &self.memory {
            memory.note(&self.core.counts().guessed, is_private);
        }
    }

    /// Ends the task: writes the last record, and returns the guard.
    pub fn finish(mut self, is_private: bool) -> (SessionReport, Guard) {
        self.record(&[AuditEvent::Ended], true);
        self.dependencies.store_quarantine(&self.quarantine);
        self.dependencies.store_guesses(&self.core.counts().guessed);
        self.note_for_other_tasks(is_private);
        self.dependencies.sign_head();
        self.dependencies.vault().forget_task_values();
        let report =
            SessionReport { counts: self.core.counts().clone(), container: self.core.task().container() };
        (report, Guard { decision: self.core.into_decision(), dependencies: self.dependencies })
    }
}
