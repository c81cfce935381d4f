//! Dialogs of a page in a container: they wait for the agent, which is told their words and accepts or dismisses them.

use std::sync::Arc;

use browser_signals::Container;
use browser_signals::outline::Purpose;
use browser_signals::playwright::{DialogKind, PageDialog};
use policy_dfa::{Reason, VerbKind};

use super::container::Session;
use super::container_actions::reason_of;
use crate::audit::AuditEvent;
use crate::session::ActionOutcome;
use crate::session::core::Action;

/// A dialog as the agent is told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownDialog {
    /// Its kind.
    pub kind: DialogKind,
    /// Its message in quotes, masked and scrubbed as all text of a page; empty where it has none.
    pub message: String,
}

impl Session {
    /// Has dialogs of the page wait for [`Session::answer_dialog`], a minute at most. Without this call they are dismissed as they
    /// open. During a request for values they are dismissed in either case.
    pub fn let_dialogs_wait(&mut self) {
        self.dialogs_wait = true;
        self.tab.let_dialogs_wait(true);
    }

    /// The dialog that waits for an answer. Until it has one, every verb is refused with `dialog_open`.
    pub fn dialog(&mut self) -> Option<ShownDialog> {
        let dialog = self.tab.dialog()?;
        let message = self.tell_inline(&dialog.message, Purpose::Text);
        Some(ShownDialog { kind: dialog.kind, message })
    }

    /// Accepts or dismisses the dialog that waits, a prompt with `words` of the agent's or with its own default text. The agent gets
    /// only the text of the outcome.
    ///
    /// The action that the dialog interrupted was decided, and the dialog is a part of it: what the page does now is judged as after
    /// that action. The user sees words before they leave, and in a raised container any acceptance before an order. Words are compared
    /// as those that the agent types into a control, and there are none once the container may have private data.
    pub async fn answer_dialog(&mut self, accept: bool, words: Option<&str>) -> ActionOutcome {
        let Some(dialog) = self.tab.dialog() else { return ActionOutcome::refused(Reason::NotApplicable) };
        if self.is_taken_over() {
            return ActionOutcome::refused(Reason::TakenOver);
        }
        self.driver.learn_of_other_tasks();
        let words = words.filter(|_| accept);
        if words.is_some() && (dialog.kind != DialogKind::Prompt || self.is_private()) {
            return ActionOutcome::refused(Reason::NotApplicable);
        }
        let verb = if words.is_some() { VerbKind::Type } else { VerbKind::Press };
        let noted = self.note_answer(&dialog, accept, words);
        let event = AuditEvent::Verb { verb, origin: dialog.origin, refused: noted.err() };
        if let Err(reason) = noted {
            self.driver.core.note_denial(reason);
            self.driver.record(&[event], false);
            return ActionOutcome::refused(reason);
        }
        if !self.driver.record(&[event], false) {
            return ActionOutcome::refused(Reason::AuditUnavailable);
        }
        self.agent_actions.set_sending(true);
        let tab = Arc::clone(&self.tab);
        let answered = self.while_asking(async { tab.answer_dialog(accept, words).await }).await;
        self.agent_actions.set_sending(false);
        let answered = answered.and_then(|answered| answered.map_err(|error| reason_of(&error)));
        let answered = self.sign_on(answered).await;
        self.driver.note_for_other_tasks(self.is_private());
        self.driver.show_warnings().await;
        self.note_browser_events();
        match answered {
            Ok(()) => ActionOutcome::done(),
            Err(reason) => {
                self.driver.core.note_denial(reason);
                ActionOutcome::refused(reason)
            }
        }
    }

    /// Decides on an answer to a dialog and records it as an action of the agent, before it is given.
    fn note_answer(&mut self, dialog: &PageDialog, accept: bool, words: Option<&str>) -> Result<(), Reason> {
        if let Some(words) = words {
            self.driver.core.may_answer_with(words, dialog.origin.as_ref())?;
        }
        let chooses = accept && dialog.kind != DialogKind::Alert;
        // In a public container a choice reaches nothing of the user's, and words may be read by others.
        if chooses && (words.is_some() || self.task().container() != Container::T0) {
            let site = dialog.origin.as_ref().ok_or(Reason::NotApplicable)?;
            let answered = self.driver.core.answered_dialog(site, &dialog.message, words);
            self.agent_actions.note_accepted(answered)?;
        }
        Ok(())
    }

    /// Refuses a verb while a dialog is open. A request is about a page that goes on, so it dismisses the dialog.
    pub(super) async fn refuse_at_a_dialog(&mut self, action: &Action) -> Option<ActionOutcome> {
        self.tab.let_dialogs_wait(self.dialogs_wait && matches!(action, Action::Verb(_)));
        self.tab.dialog()?;
        match action {
            Action::Verb(_) => Some(ActionOutcome::refused(Reason::DialogOpen)),
            Action::Request(_) => {
                // A page that is gone shows no dialog.
                let _gone = self.tab.answer_dialog(false, None).await;
                None
            }
        }
    }
}
