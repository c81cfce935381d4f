//! Requests of the pages in a container that wait for the user, and filled controls that are read back before a form is sent.

use std::pin::pin;
use std::sync::Arc;

use browser_signals::playwright::{BridgeError, Tab};
use browser_signals::{Observed, Snapshot, Verb};
use policy_dfa::Reason;
use sirl::FieldSet;

use super::container::Session;
use super::container_actions::reason_of;
use crate::consent::order::WaitingRequest;
use crate::session::ActionOutcome;
use crate::session::core::Action;

impl Session {
    /// Waits until what the last action led to has happened: a navigation, a dialog, the answers to requests of the page. The next
    /// look waits for this too; a caller that tells more of the page than its text, such as a dialog, waits before.
    /// The outcome is a refusal where the page was stopped on its way to another address.
    pub async fn rest(&mut self) -> ActionOutcome {
        let tab = Arc::clone(&self.tab);
        let rested = self.while_asking(async { tab.rest().await }).await;
        let rested = match rested {
            Ok(Err(error @ BridgeError::Refused(_))) => Err(reason_of(&error)),
            // A dialog is told by itself, and the next look has the error of a page that is gone.
            Ok(_) => Ok(()),
            Err(reason) => Err(reason),
        };
        let rested = self.sign_on(rested).await;
        if let Err(reason) = rested {
            self.driver.core.note_denial(reason);
        }
        self.after_action().await;
        rested.map_or_else(ActionOutcome::refused, |()| ActionOutcome::done())
    }

    /// Waits for the end of a step on the page, and asks the user about requests that have to wait for them meanwhile.
    pub(super) async fn while_asking(
        &mut self,
        step: impl Future<Output = Result<(), BridgeError>>,
    ) -> Result<Result<(), BridgeError>, Reason> {
        let tab = Arc::clone(&self.tab);
        let mut step = pin!(step);
        loop {
            tokio::select! {
                biased;
                Ok(()) = tab.wait_for_held() => {
                    if let Err(reason) = self.answer_waiting().await {
                        let _ended = step.await;
                        return Err(reason);
                    }
                }
                done = &mut step => return Ok(done),
            }
        }
    }

    /// Whether a verb may send a form that the guard did not fill. The user agreed to the sending of a filled form with its
    /// grant.
    pub(super) fn may_send_another_form(&self, verb: &Verb, decided: Option<&Observed<Snapshot>>) -> bool {
        let page = decided.map(Observed::value);
        matches!(verb, Verb::Submit { .. } | Verb::Click { .. } | Verb::Drag { .. } | Verb::Press { .. })
            && page.is_none_or(|page| page.form.is_some() && !self.agent_actions.is_filled_form(page))
    }

    /// Asks the user about waiting requests of every page, if there are any, and sends or blocks them. The reason is that of the first
    /// page whose requests are blocked.
    pub(super) async fn answer_waiting(&mut self) -> Result<(), Reason> {
        let mut all_sent = Ok(());
        for page in self.pages.clone() {
            let sent = self.answer_waiting_of(&page).await;
            all_sent = all_sent.and(sent);
        }
        all_sent
    }

    async fn answer_waiting_of(&mut self, page: &Tab) -> Result<(), Reason> {
        let held = page.held();
        if held.is_empty() {
            return Ok(());
        }
        // Chromium does not answer questions about a page while its navigation waits. Its filled controls were read back
        // before the verb.
        if !held.iter().any(|it| it.main_navigation) {
            self.note_changed().await;
        }
        let waiting = held
            .into_iter()
            .map(|it| WaitingRequest { to: it.to, path: it.path, carries: FieldSet::EMPTY })
            .collect();
        let agreed = match self.driver.core.ask_about_waiting(waiting, self.driver.now()) {
            Ok(prompt) => {
                let answered = self.driver.dependencies.ask(&prompt).await;
                let (agreed, events) =
                    self.driver.core.answered_about_waiting(&prompt, &answered, self.driver.now());
                if self.driver.record(&events, true) && agreed { Ok(()) } else { Err(Reason::ConsentDenied) }
            }
            Err(reason) => Err(reason),
        };
        if let Err(reason) = agreed {
            self.driver.core.note_denial(reason);
        }
        self.agent_actions.forget_waiting();
        // A page that is gone has no waiting requests.
        let _gone = page.let_go(agreed.is_ok()).await;
        agreed
    }

    /// Reads the filled controls back before an action that may send a form or pay. The user sees the changes.
    pub(super) async fn read_filled_back(&self, action: &Action) {
        let may_send =
            |verb: &Verb| matches!(verb, Verb::Submit { .. } | Verb::Click { .. } | Verb::Press { .. });
        let sends = match action {
            Action::Verb(verb) => may_send(verb),
            Action::Request(_) => true,
        };
        if sends && self.driver.text.has_released() {
            self.note_changed().await;
        }
    }

    async fn note_changed(&self) {
        // A page that is gone sends nothing.
        for (site, labels) in self.tab.changed_since_filled().await.unwrap_or_default() {
            self.agent_actions.note_changed(&site, labels);
        }
    }
}
