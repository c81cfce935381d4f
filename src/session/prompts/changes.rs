//! Changes of standing consents that the user makes outside of any prompt, with or without an open task.

use policy_dfa::Millis;
use tokio::sync::{mpsc, oneshot};

use crate::audit::{AuditEvent, AuditLog, AuditSubject, SessionId};
use crate::consent::{Change, ChangeKind, ChangeOutcome, ConsentBook, StandingChanges};
use crate::guard::{Dependencies, Guard};
use crate::system::unix_ms;

/// The status of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeStatus {
    /// The change is stored, for later tasks too.
    Kept,
    /// The change holds for the open task. It could not be stored.
    ForThisTask,
    /// There was nothing to change.
    Nothing,
    /// The maximum number of nevers is stored already.
    Full,
    /// The vault is locked: the standing consents are unknown, and nothing is released either.
    Locked,
}

impl ChangeStatus {
    /// The status as a keyword for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChangeStatus::Kept => "kept",
            ChangeStatus::ForThisTask => "for_this_task",
            ChangeStatus::Nothing => "nothing",
            ChangeStatus::Full => "full",
            ChangeStatus::Locked => "locked",
        }
    }
}

/// A change that waits, and the channel for its status.
pub struct ChangeRequest {
    /// The change.
    pub change: Change,
    /// Receives the status.
    pub done: oneshot::Sender<ChangeStatus>,
}

/// The queue of waiting changes. The open session makes them before its next step, even within an action.
pub type ChangeQueue = mpsc::Receiver<ChangeRequest>;

impl Guard {
    /// Makes a change while no task is open.
    pub fn change(&mut self, change: &Change) -> ChangeStatus {
        let mut book = ConsentBook::with_standing(self.dependencies.standing_consents(), unix_ms());
        let made = book.change(change, Millis(0));
        let changes = book.take_changes();
        self.dependencies.settle_change(SessionId::LOG, change, made, changes.as_ref())
    }
}

impl Dependencies {
    /// Records a change and stores the standing consents after it.
    pub(in crate::session) fn settle_change(
        &mut self,
        id: SessionId,
        change: &Change,
        made: ChangeOutcome,
        standing: Option<&StandingChanges>,
    ) -> ChangeStatus {
        // The consents of a locked vault did not change, so there is nothing to record.
        if self.is_locked() {
            return ChangeStatus::Locked;
        }
        let about = AuditSubject::Request(change.kind);
        for old in made.gone {
            let (fields, origin) = (old.fields, Some(old.to));
            self.note_change(id, &AuditEvent::ConsentRevoked { about, fields, origin });
        }
        let is_never = change.how == ChangeKind::Never && standing.is_some() && !made.is_full;
        let is_stored = standing.map(|changes| self.store_standing(changes));
        if is_stored == Some(false) && self.is_locked() {
            return ChangeStatus::Locked;
        }
        if is_never {
            self.note_change(id, &AuditEvent::ConsentNever { about, origin: change.to.clone() });
        }
        match is_stored {
            _ if made.is_full => ChangeStatus::Full,
            None => ChangeStatus::Nothing,
            Some(true) => ChangeStatus::Kept,
            Some(false) => ChangeStatus::ForThisTask,
        }
    }

    /// Records a change. A stricter rule holds even without a record: a full log must not keep a yes alive.
    fn note_change(&mut self, id: SessionId, event: &AuditEvent) {
        let _unrecorded = self.audit.append(id, event, unix_ms(), true);
    }

    fn is_locked(&self) -> bool {
        self.vault().is_locked()
    }
}
