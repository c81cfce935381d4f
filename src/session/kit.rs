//! What a session does with its guard's things: asks the user, keeps what outlives it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sirl::Field;
use vault::{Binding, StateName, Vault};

use super::guesses::{self, Guesses};
use crate::consent::hand_over::BY_HAND_WITHIN;
use crate::consent::ticket::ANSWER_WITHIN;
use crate::consent::{Answer, Answered, ConsentPrompt, HandOver, HandedOver, StandingConsent, book};
use crate::guard::Kit;
use crate::kept_head;
use crate::lock::LockHandle;
use crate::scrub::Quarantine;
use crate::time::unix_ms;

/// The answers that stand in a vault. None can be read from a locked one; then the user is asked.
pub(crate) fn standing_in(vault: &Mutex<Vault>) -> Vec<StandingConsent> {
    let vault = vault.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = vault.state(StateName::Consents).ok().flatten();
    kept.and_then(|bytes| book::from_json(&bytes)).unwrap_or_default()
}

impl Kit {
    /// The user began a task or answered: the time until the vault locks by itself begins anew.
    pub(super) fn user_is_here(&mut self) {
        let handle = LockHandle::new(&self.vault);
        if let Some(idle) = &mut self.idle {
            idle.touch();
            idle.watch(handle);
        }
    }

    /// Whether answers can be kept beyond a session.
    pub(super) fn is_lasting(&self) -> bool {
        self.keeper.is_some()
    }

    /// Waits for the answer as long as the prompt holds. Whoever does not answer says no.
    pub(super) async fn ask(&mut self, prompt: &ConsentPrompt) -> Answered {
        let within = Duration::from_millis(ANSWER_WITHIN.0);
        match tokio::time::timeout(within, self.answerer.answer(prompt)).await {
            Ok(answer) => {
                // A no may come from a window that was closed or never opened: nobody need be there.
                if answer != Answer::No {
                    self.user_is_here();
                }
                prompt.answered(answer)
            }
            Err(_) => prompt.answered(Answer::No),
        }
    }

    /// Offers the user to go on by hand, and waits for them, though not for ever.
    pub(super) async fn hand_over(&mut self, offer: &HandOver) -> HandedOver {
        let ended = tokio::time::timeout(BY_HAND_WITHIN, self.answerer.hand_over(offer)).await;
        let ended = ended.unwrap_or(HandedOver::Silence);
        if ended == HandedOver::Finished {
            self.user_is_here();
        }
        ended
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

    /// The answers that stand from earlier sessions.
    pub(super) fn standing(&self) -> Vec<StandingConsent> {
        standing_in(&self.vault)
    }

    /// Signs the head of the audit log and keeps it in the vault, so that a log that was cut shows. Where it
    /// cannot be kept, the head before it still stands for what it covered.
    pub(super) fn sign_head(&mut self) {
        if self.keeper.is_none() {
            return;
        }
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = self.saved.unwrap_or_default();
        let kept = kept_head::keep(&mut vault, saved, self.audit.as_mut(), self.entropy.as_mut(), unix_ms());
        drop(vault);
        if matches!(kept, Ok(true)) {
            self.save();
        }
    }

    /// Keeps what was withheld as suspicious in the user's vault.
    pub(super) fn keep_quarantine(&mut self, quarantine: &Quarantine) {
        let earlier = {
            let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
            vault.state(StateName::Quarantine).ok().flatten()
        };
        if let Some(bytes) = quarantine.to_keep(earlier.as_ref().map(|it| it.as_slice())) {
            self.keep(StateName::Quarantine, &bytes);
        }
    }

    /// How often agents guessed which value in earlier sessions.
    pub(super) fn guesses(&self) -> Guesses {
        let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = vault.state(StateName::Guesses).ok().flatten();
        kept.map(|bytes| guesses::from_json(&bytes)).unwrap_or_default()
    }

    /// How often agents guessed a value in earlier sessions, as far as anybody knows.
    pub(super) fn guessed_before(&self) -> u64 {
        let kept = self.guesses().values().map(|count| u64::from(*count)).sum();
        self.memory.as_ref().map_or(kept, |memory| memory.guessed().max(kept))
    }

    /// Adds the guesses of a session to those kept in the user's vault.
    pub(super) fn keep_guesses(&mut self, new: &Guesses) {
        if let Some(bytes) = guesses::to_keep(&self.guesses(), new) {
            self.keep(StateName::Guesses, &bytes);
        }
    }

    /// Keeps a state in the vault and saves it. Says whether it will be there next time.
    pub(super) fn keep(&mut self, name: StateName, bytes: &[u8]) -> bool {
        if self.keeper.is_none() {
            return false;
        }
        let set = {
            let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
            vault.set_state(name, bytes, self.entropy.as_mut())
        };
        set.is_ok() && self.save()
    }

    fn save(&mut self) -> bool {
        let Some(keeper) = &mut self.keeper else { return false };
        let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = vault.to_bytes(self.entropy.as_mut());
        let saved = bytes.is_ok_and(|bytes| keeper.save(&bytes).is_ok());
        if saved {
            self.saved = Some(vault.generation());
        } else {
            tracing::warn!(
                "the vault's file could not be saved: answers that stand hold for this task alone"
            );
        }
        saved
    }
}
