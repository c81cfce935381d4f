//! The dependencies of a guard's sessions, and the ways sessions use them: prompts to the user, and states that the
//! vault stores beyond a session.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use classifier::Detectors;
use sirl::{Field, Schema};
use vault::{Binding, Entropy, StateName, Vault};

use super::agent_memory::{self, AgentMemory, Guesses};
use super::opening::VaultKeeper;
use super::stored_head;
#[cfg(unix)]
use super::upload_folder::UploadFolder;
use crate::audit::AuditLog;
use crate::checkout::PaymentHandler;
use crate::consent::ANSWER_TIMEOUT;
use crate::consent::HAND_OVER_TIMEOUT;
use crate::consent::{
    Answer, Answered, Answerer, ConsentPrompt, HandOver, HandedOver, StandingConsent, standing,
};
use crate::page_text::{Quarantine, Scrubber};
use crate::safety::PageSafety;
use crate::storage::vault_lock::{IdleLock, LockHandle};
use crate::system::unix_ms;

/// Everything of a guard except the decision point.
pub(crate) struct Dependencies {
    pub(crate) vault: Arc<Mutex<Vault>>,
    pub(crate) audit: Box<dyn AuditLog>,
    pub(crate) answerer: Box<dyn Answerer>,
    pub(crate) payments: Option<Arc<PaymentHandler>>,
    pub(crate) detectors: Arc<Detectors>,
    pub(crate) entropy: Box<dyn Entropy + Send>,
    pub(crate) schema: Schema,
    pub(crate) scrubber: Scrubber,
    pub(crate) safety: Option<Arc<dyn PageSafety>>,
    /// Whether a policy's `deliver model` is carried out.
    pub(crate) shows_values_to_model: bool,
    pub(crate) keeper: Option<Box<dyn VaultKeeper>>,
    pub(crate) idle: Option<IdleLock>,
    /// The persona whose records are preferred where the prompt names none.
    pub(crate) persona: Option<String>,
    /// The generation of the vault's file as it was last opened or saved.
    pub(crate) saved: Option<u64>,
    /// The agent's memory from task to task, where all tasks are one agent's.
    pub(crate) memory: Option<AgentMemory>,
    /// The files that the user offers for uploads.
    #[cfg(unix)]
    pub(crate) uploads: Option<Arc<UploadFolder>>,
}

/// The standing consents of a vault. A locked vault yields none, so that the user is asked.
pub(crate) fn standing_consents(vault: &Mutex<Vault>) -> Vec<StandingConsent> {
    let vault = vault.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = vault.state(StateName::Consents).ok().flatten();
    kept.and_then(|bytes| standing::from_json(&bytes)).unwrap_or_default()
}

impl Dependencies {
    /// Whether the user offers files for uploads.
    pub(crate) fn offers_files(&self) -> bool {
        #[cfg(unix)]
        return self.uploads.is_some();
        #[cfg(not(unix))]
        return false;
    }

    /// Restarts the idle lock's clock, since the user began a task or answered.
    pub(crate) fn note_user_present(&mut self) {
        let handle = LockHandle::new(&self.vault);
        if let Some(idle) = &mut self.idle {
            idle.touch();
            idle.watch(handle);
        }
    }

    /// Whether the vault has a file, so that consents and new passwords outlive the session.
    pub(crate) fn has_vault_file(&self) -> bool {
        self.keeper.is_some()
    }

    /// Shows a prompt and waits for the answer while the prompt is valid. No answer counts as no.
    pub(crate) async fn ask(&mut self, prompt: &ConsentPrompt) -> Answered {
        let within = Duration::from_millis(ANSWER_TIMEOUT.0);
        match tokio::time::timeout(within, self.answerer.answer(prompt)).await {
            Ok(answer) => {
                // A no may come from a window that was closed or never opened, so it does not prove a user.
                if answer != Answer::No {
                    self.note_user_present();
                }
                let unreached = answer == Answer::No && !self.answerer.reached_the_user();
                if unreached { prompt.answered_by_nobody() } else { prompt.answered(answer) }
            }
            Err(_) => prompt.answered(Answer::No),
        }
    }

    /// Offers a hand-over to the user, and waits for them up to a time limit.
    pub(crate) async fn hand_over(&mut self, offer: &HandOver) -> HandedOver {
        let ended = tokio::time::timeout(HAND_OVER_TIMEOUT, self.answerer.hand_over(offer)).await;
        let ended = ended.unwrap_or(HandedOver::Silence);
        if ended == HandedOver::Finished {
            self.note_user_present();
        }
        ended
    }

    /// Asks for a card's security code, and puts it into the vault for the task. Without one the payment proceeds
    /// all the same: the bank decides whether it needs one.
    pub(crate) async fn ask_code(&mut self, card: &str, prompt: &ConsentPrompt) {
        let within = Duration::from_millis(ANSWER_TIMEOUT.0);
        let Ok(Some(code)) = tokio::time::timeout(within, self.answerer.card_code(card, prompt)).await else {
            return;
        };
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        // A vault that was locked meanwhile stores nothing, and pays nothing.
        let _locked =
            vault.insert_for_task(card, Field::CardCode, code, &Binding::Anywhere, self.entropy.as_mut());
    }

    /// The standing consents from earlier sessions.
    pub(crate) fn standing_consents(&self) -> Vec<StandingConsent> {
        standing_consents(&self.vault)
    }

    /// Signs the head of the audit log and stores it in the vault, so that truncation of the log is detected. Where
    /// that fails, the previous head still protects the part that it covers.
    pub(crate) fn sign_head(&mut self) {
        if self.keeper.is_none() {
            return;
        }
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = self.saved.unwrap_or_default();
        let kept =
            stored_head::store(&mut vault, saved, self.audit.as_mut(), self.entropy.as_mut(), unix_ms());
        drop(vault);
        if matches!(kept, Ok(true)) {
            self.save();
        }
    }

    /// Stores the texts that were withheld as suspicious in the user's vault.
    pub(crate) fn store_quarantine(&mut self, quarantine: &Quarantine) {
        let earlier = {
            let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
            vault.state(StateName::Quarantine).ok().flatten()
        };
        if let Some(bytes) = quarantine.to_keep(earlier.as_ref().map(|it| it.as_slice())) {
            self.store(StateName::Quarantine, &bytes);
        }
    }

    /// How often agents guessed each value in earlier sessions.
    pub(crate) fn guesses(&self) -> Guesses {
        let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = vault.state(StateName::Guesses).ok().flatten();
        kept.map(|bytes| agent_memory::guesses_from_json(&bytes)).unwrap_or_default()
    }

    /// How often agents guessed any value in earlier sessions, as far as this guard knows.
    pub(crate) fn earlier_guesses(&self) -> u64 {
        let kept = self.guesses().values().map(|count| u64::from(*count)).sum();
        self.memory.as_ref().map_or(kept, |memory| memory.guessed().max(kept))
    }

    /// Adds the guesses of a session to those stored in the user's vault.
    pub(crate) fn store_guesses(&mut self, new: &Guesses) {
        if let Some(bytes) = agent_memory::guesses_to_json(&self.guesses(), new) {
            self.store(StateName::Guesses, &bytes);
        }
    }

    /// Stores a state in the vault and saves the file. Returns whether the state is persisted.
    pub(crate) fn store(&mut self, name: StateName, bytes: &[u8]) -> bool {
        if self.keeper.is_none() {
            return false;
        }
        let set = {
            let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
            vault.set_state(name, bytes, self.entropy.as_mut())
        };
        set.is_ok() && self.save()
    }

    /// Writes the vault's file. Returns whether it is on disk.
    pub(crate) fn save(&mut self) -> bool {
        let Some(keeper) = &mut self.keeper else { return false };
        let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = vault.to_bytes(self.entropy.as_mut());
        let saved = bytes.is_ok_and(|bytes| keeper.save(&bytes).is_ok());
        if saved {
            self.saved = Some(vault.generation());
        } else {
            tracing::warn!(
                "the vault's file could not be saved: standing consents hold for this task alone, and no password is made"
            );
        }
        saved
    }
}
