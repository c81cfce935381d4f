//! What stands, changed by the user outside of any question: while a task is open, and while none is.

use std::sync::PoisonError;

use policy_dfa::Millis;
use tokio::sync::{mpsc, oneshot};
use vault::StateName;

use super::tab::TabSession;
use crate::audit::{About, AuditEvent, SessionId};
use crate::consent::{Change, ConsentBook, How, Made, StandingConsent, book};
use crate::guard::{Guard, Kit};
use crate::time::unix_ms;

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It holds, for later tasks too.
    Kept,
    /// It holds for the open task; it could not be kept beyond it.
    ForThisTask,
    /// Nothing was there to be changed.
    Nothing,
    /// As many nevers stand as can: one more was not taken.
    Full,
    /// The vault is locked: nothing is known of what stands, and nothing is released either.
    Locked,
}

impl Changed {
    /// Its word for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Changed::Kept => "kept",
            Changed::ForThisTask => "for_this_task",
            Changed::Nothing => "nothing",
            Changed::Full => "full",
            Changed::Locked => "locked",
        }
    }
}

/// A change on its way, and who is told what became of it.
pub struct Wanted {
    /// The change.
    pub change: Change,
    /// Who is told.
    pub done: oneshot::Sender<Changed>,
}

/// Changes that wait. The open session makes them before its next step, whatever it is in the middle of.
pub type Changes = mpsc::Receiver<Wanted>;

impl Guard {
    /// Makes a change while no task is open.
    pub fn change(&mut self, change: &Change) -> Changed {
        let mut book = ConsentBook::with_standing(self.kit.standing(), unix_ms());
        let made = book.change(change, Millis(0));
        let standing = book.take_changes();
        self.kit.settle(SessionId::LOG, change, made, standing)
    }
}

impl TabSession {
    /// Makes a change. It holds from the next step on, for what was decided and did not go yet, too.
    pub fn change(&mut self, change: &Change) -> Changed {
        let now = self.now();
        let made = self.core.change(change, now);
        let standing = self.core.take_standing();
        self.kit.settle(self.id, change, made, standing)
    }

    /// Makes the changes that wait.
    pub(super) fn heed(&mut self, changes: &mut Changes) {
        while let Ok(Wanted { change, done }) = changes.try_recv() {
            let _gone = done.send(self.change(&change));
        }
    }
}

impl Kit {
    /// Puts a change on record and keeps what stands after it.
    fn settle(
        &mut self,
        id: SessionId,
        change: &Change,
        made: Made,
        standing: Option<Vec<StandingConsent>>,
    ) -> Changed {
        // What stands in a locked vault stands there as it did: nothing happened that could be put on record.
        if self.is_locked() {
            return Changed::Locked;
        }
        let about = About::Request(change.kind);
        for old in made.gone {
            let (fields, origin) = (old.fields, Some(old.to));
            self.note_change(id, &AuditEvent::ConsentRevoked { about, fields, origin });
        }
        let is_never = change.how == How::Never && standing.is_some() && !made.is_full;
        let is_there = standing.map(|standing| self.keep(StateName::Consents, &book::to_json(&standing)));
        if is_there == Some(false) && self.is_locked() {
            return Changed::Locked;
        }
        if is_never {
            self.note_change(id, &AuditEvent::ConsentNever { about, origin: change.to.clone() });
        }
        match is_there {
            _ if made.is_full => Changed::Full,
            None => Changed::Nothing,
            Some(true) => Changed::Kept,
            Some(false) => Changed::ForThisTask,
        }
    }

    /// What is stricter holds without a record too: a log that is full must not keep a yes alive.
    fn note_change(&mut self, id: SessionId, event: &AuditEvent) {
        let _unrecorded = self.audit.append(id, event, unix_ms(), true);
    }

    fn is_locked(&self) -> bool {
        self.vault.lock().unwrap_or_else(PoisonError::into_inner).is_locked()
    }
}
