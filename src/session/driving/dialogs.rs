//! Dialogs of a page in a container: they wait for the agent, which is told their words and accepts or dismisses them.

use std::sync::Arc;

use browser_signals::Container;
use browser_signals::playwright::DialogKind;
use policy_dfa::{Reason, VerbKind};

use super::container::Session;
use super::container_actions::reason_of;
use crate::audit::AuditEvent;
use crate::session::core::{Action, verb_refused};

/// A dialog as the agent is told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownDialog {
    /// Its kind.
    pub kind: DialogKind,
    /// Its message, masked and scrubbed as all text of a page.
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
        let message = self.tell(&dialog.message).unwrap_or_default();
        Some(ShownDialog { kind: dialog.kind, message })
    }

    /// Accepts or dismisses the dialog that waits. The agent gets only the returned text.
    ///
    /// The action that the dialog interrupted was decided, and the dialog is a part of it: what the page does now is judged as after
    /// that action. In a container with releases, accepting is an action of the agent, which the user sees before an order.
    /// A prompt gets no text of the agent's.
    pub async fn answer_dialog(&mut self, accept: bool) -> String {
        let Some(dialog) = self.tab.dialog() else { return verb_refused(Reason::NotApplicable) };
        if self.is_taken_over() {
            return verb_refused(Reason::TakenOver);
        }
        let chooses = accept && dialog.kind != DialogKind::Alert;
        if chooses && self.task().container() != Container::T0 {
            let Some(site) = &dialog.origin else { return verb_refused(Reason::NotApplicable) };
            self.agent_actions.note_accepted(site, &dialog.message);
        }
        let event = AuditEvent::Verb { verb: VerbKind::Press, origin: dialog.origin, refused: None };
        if !self.record(&[event], false) {
            return verb_refused(Reason::AuditUnavailable);
        }
        self.agent_actions.set_sending(true);
        let tab = Arc::clone(&self.tab);
        let answered = self.while_asking(async move { tab.answer_dialog(accept).await }).await;
        self.agent_actions.set_sending(false);
        let answered = answered.and_then(|answered| answered.map_err(|error| reason_of(&error)));
        let answered = self.sign_on(answered).await;
        self.show_warnings().await;
        self.note_browser_events();
        match answered {
            Ok(()) => "ok".to_owned(),
            Err(reason) => {
                self.core.note_denial(reason);
                verb_refused(reason)
            }
        }
    }

    /// Refuses a verb while a dialog is open. A request is about a page that goes on, so it dismisses the dialog.
    pub(super) async fn refuse_at_a_dialog(&mut self, action: &Action) -> Option<String> {
        self.tab.let_dialogs_wait(self.dialogs_wait && matches!(action, Action::Verb(_)));
        self.tab.dialog()?;
        match action {
            Action::Verb(_) => Some(verb_refused(Reason::DialogOpen)),
            Action::Request(_) => {
                // A page that is gone shows no dialog.
                let _gone = self.tab.answer_dialog(false).await;
                None
            }
        }
    }
}
