//! What a session does with its guard's things: asks the user, keeps what outlives it.

use std::sync::PoisonError;
use std::time::Duration;

use sirl::Field;
use vault::{Binding, StateName};

use crate::consent::ticket::ANSWER_WITHIN;
use crate::consent::{Answer, Answered, ConsentPrompt, StandingConsent, book};
use crate::guard::Kit;

impl Kit {
    /// Waits for the answer as long as the prompt holds. Whoever does not answer says no.
    pub(super) async fn ask(&mut self, prompt: &ConsentPrompt) -> Answered {
        let within = Duration::from_millis(ANSWER_WITHIN.0);
        match tokio::time::timeout(within, self.answerer.answer(prompt)).await {
            Ok(answer) => {
                if let Some(idle) = &self.idle {
                    idle.touch();
                }
                prompt.answered(answer)
            }
            Err(_) => prompt.answered(Answer::No),
        }
    }

    /// Asks for a card's security code, and puts it into the vault for the task. Without one the payment goes on
    /// without: the bank decides whether it wants one.
    pub(super) async fn ask_code(&mut self, card: &str, prompt: &ConsentPrompt) {
        let within = Duration::from_millis(ANSWER_WITHIN.0);
        let Ok(Some(code)) = tokio::time::timeout(within, self.answerer.card_code(card, prompt)).await else {
            return;
        };
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        // A vault that was locked meanwhile takes nothing, and pays nothing.
        let _locked =
            vault.insert_for_task(card, Field::CardCode, code, &Binding::Anywhere, self.entropy.as_mut());
    }

    /// The answers that stand from earlier sessions. None can be read from a locked vault; then the user is
    /// asked.
    pub(super) fn standing(&self) -> Vec<StandingConsent> {
        let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = vault.state(StateName::Consents).ok().flatten();
        kept.and_then(|bytes| book::from_json(&bytes)).unwrap_or_default()
    }

    /// Keeps a state in the vault and saves it. Says whether it will be there next time.
    pub(super) fn keep(&mut self, name: StateName, bytes: &[u8]) -> bool {
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        if vault.set_state(name, bytes, self.entropy.as_mut()).is_err() {
            return false;
        }
        let Some(keeper) = &mut self.keeper else { return false };
        vault.to_bytes(self.entropy.as_mut()).is_ok_and(|bytes| keeper.save(&bytes).is_ok())
    }
}
