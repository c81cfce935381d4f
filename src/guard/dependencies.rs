//! The dependencies of a guard's sessions, and the ways sessions use them: prompts to the user, and states that the
//! vault stores beyond a session.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use classifier::Detectors;
use policy_dfa::Millis;
use sirl::{Field, Schema};
use vault::{Binding, StateName, Vault};

use super::agent_memory::{self, Guesses, SharedMemory};
use super::record_choices::{RecordChoice, RecordChoices, RivalRecords, Unreached};
use super::shared::{KeptFile, SharedAnswerer, SharedEntropy};
use super::shared_vault::SharedVault;
use super::sources::SharedSource;
use super::stored_head;
#[cfg(unix)]
use super::upload_folder::UploadFolder;
use crate::audit::AuditLog;
use crate::checkout::PaymentHandler;
use crate::consent::ANSWER_TIMEOUT;
use crate::consent::HAND_OVER_TIMEOUT;
use crate::consent::{
    Answer, Answered, AskedCode, ConsentPrompt, HandOver, HandedOver, Notice, StandingChanges,
    StandingConsent, Warning, WhichAccount, standing,
};
use crate::egress::EgressChecks;
use crate::orders::OrderDesk;
use crate::page_text::{Quarantine, Scrubber};
use crate::safety::PageSafety;
use crate::storage::login_folder::LoginFolder;
use crate::storage::vault_lock::{FindKey, IdleLock, LockHandle};
use crate::system::unix_ms;

/// The longest time that a question waits for those of other sessions. After that it counts as one that reached nobody.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// Everything of a guard except the decision point. Guards of sessions at the same time share what is behind a lock.
#[derive(Clone)]
pub(crate) struct Dependencies {
    pub(crate) vault: SharedVault,
    pub(crate) audit: Arc<Mutex<Box<dyn AuditLog>>>,
    pub(crate) answerer: SharedAnswerer,
    pub(crate) payments: Option<Arc<PaymentHandler>>,
    pub(crate) orders: Option<Arc<OrderDesk>>,
    pub(crate) detectors: Arc<Detectors>,
    pub(crate) entropy: SharedEntropy,
    pub(crate) schema: Schema,
    pub(crate) scrubber: Scrubber,
    pub(crate) safety: Option<Arc<dyn PageSafety>>,
    /// Whether a policy's `deliver model` is carried out.
    pub(crate) shows_values_to_model: bool,
    /// Whether what leaves a container is checked.
    pub(crate) egress: EgressChecks,
    pub(crate) keeper: Option<Arc<Mutex<KeptFile>>>,
    pub(crate) idle: Option<Arc<Mutex<IdleLock>>>,
    /// The persona whose records are preferred where the prompt names none.
    pub(crate) persona: Option<String>,
    /// The agent's memory from task to task, where all tasks are one agent's.
    pub(crate) memory: Option<SharedMemory>,
    /// The user's label for the client, which questions name.
    pub(crate) client: Option<String>,
    /// The user's password managers.
    pub(crate) sources: Vec<SharedSource>,
    /// The files of the user's saved logins.
    pub(crate) logins: Option<LoginFolder>,
    /// What finds the key of a vault that was locked.
    pub(crate) key: Option<Arc<dyn FindKey>>,
    /// The files that the user offers for uploads.
    #[cfg(unix)]
    pub(crate) uploads: Option<Arc<UploadFolder>>,
}

/// The standing consents of a vault. A locked vault yields none, so that the user is asked.
pub(crate) fn standing_consents(vault: &SharedVault) -> Vec<StandingConsent> {
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

    /// The dependencies of a session at the same time.
    pub(crate) fn for_another_session(&self) -> Dependencies {
        Dependencies { vault: self.vault.with_own_slot(), ..self.clone() }
    }

    /// Restarts the idle lock's clock, since the user began a task or answered.
    pub(crate) fn note_user_present(&mut self) {
        if let Some(idle) = &self.idle {
            let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.touch();
            idle.watch(LockHandle::new(&self.vault), self.key.clone());
        }
    }

    /// Opens a locked vault again, if its key is found.
    pub(crate) async fn reopen(&mut self, may_ask: bool) {
        let (is_locked, before) = {
            let vault = self.vault();
            (vault.is_locked(), vault.times_locked())
        };
        let Some(finder) = self.key.clone().filter(|_| is_locked) else { return };
        let found = tokio::task::spawn_blocking(move || finder.find(may_ask)).await.ok().flatten();
        let Some(key) = found else { return };
        let mut vault = self.vault();
        // It may have been locked once more meanwhile.
        if vault.times_locked() == before {
            let _key_of_another = vault.reopen_with_key(&key);
        }
    }

    /// Whether the vault has a file, so that consents and new passwords outlive the session.
    pub(crate) fn has_vault_file(&self) -> bool {
        self.keeper.is_some()
    }

    /// Shows a prompt and waits for the answer while the prompt is valid. No answer counts as no. Where another session asks the
    /// user, the prompt waits for its turn first.
    pub(crate) async fn ask(&mut self, prompt: &ConsentPrompt) -> Answered {
        let asked = Instant::now();
        let Ok(mut user) = tokio::time::timeout(LONGEST_WAIT, self.answerer.turn()).await else {
            return prompt.answered_by_nobody();
        };
        let waited = Millis(u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX));
        let within = Duration::from_millis(ANSWER_TIMEOUT.0);
        let answered = match tokio::time::timeout(within, user.answer(&self.named(prompt))).await {
            Ok(answer) => {
                // A no may come from a window that was closed or never opened, so it does not prove a user.
                if answer != Answer::No {
                    self.note_user_present();
                }
                let unreached = answer == Answer::No && !user.reached_the_user();
                if unreached { prompt.answered_by_nobody() } else { prompt.answered(answer) }
            }
            Err(_) => prompt.answered(Answer::No),
        };
        answered.after_waiting(waited)
    }

    /// The prompt with the client's label.
    fn named<'a>(&self, prompt: &'a ConsentPrompt) -> Cow<'a, ConsentPrompt> {
        let Some(label) = &self.client else { return Cow::Borrowed(prompt) };
        let mut named = prompt.clone();
        named.noticed.insert(0, Notice::Client(label.clone()));
        Cow::Owned(named)
    }

    /// Offers a hand-over to the user, and waits for them up to a time limit.
    pub(crate) async fn hand_over(&mut self, offer: &HandOver) -> HandedOver {
        let Ok(mut user) = tokio::time::timeout(LONGEST_WAIT, self.answerer.turn()).await else {
            // The offer was not shown, so nobody typed anything.
            return HandedOver::GoOn;
        };
        let offer = HandOver { client: self.client.clone(), ..offer.clone() };
        let ended = tokio::time::timeout(HAND_OVER_TIMEOUT, user.hand_over(&offer)).await;
        let ended = ended.unwrap_or(HandedOver::Silence);
        if ended == HandedOver::Finished {
            self.note_user_present();
        }
        ended
    }

    /// Shows the user a warning, and returns whether it did. While another session asks the user it does not: nothing waits for a
    /// warning, and a hand-over may take a quarter of an hour.
    pub(crate) async fn warn(&self, warning: &Warning) -> bool {
        let Some(mut user) = self.answerer.free_turn() else { return false };
        user.warn(warning).await;
        true
    }

    /// Asks for a code, and puts it into the vault for the task. Without one a payment proceeds all the same, since the bank
    /// decides whether it needs one; a login has nothing to fill in.
    pub(crate) async fn ask_code(&mut self, asked: &AskedCode, prompt: &ConsentPrompt) {
        let Ok(mut user) = tokio::time::timeout(LONGEST_WAIT, self.answerer.turn()).await else { return };
        let (within, prompt) = (Duration::from_millis(ANSWER_TIMEOUT.0), self.named(prompt));
        let Ok(Some(code)) = tokio::time::timeout(within, user.code(asked, &prompt)).await else {
            return;
        };
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        // A vault that was locked meanwhile stores nothing, and gives nothing.
        let _locked = match asked {
            AskedCode::Card(card) => {
                vault.insert_for_task(card, Field::CardCode, code, &Binding::Anywhere, &mut self.entropy)
            }
            AskedCode::OneTime { to } => vault.keep_typed_code(to, code, &mut self.entropy),
        };
    }

    /// Asks the user to choose, and returns the place of the choice in the list; the error is that nobody was reached.
    pub(crate) async fn ask_which(&mut self, which: &WhichAccount) -> Result<Option<usize>, Unreached> {
        let turn = tokio::time::timeout(LONGEST_WAIT, self.answerer.turn()).await;
        let mut user = turn.map_err(|_| Unreached)?;
        let time = Duration::from_millis(ANSWER_TIMEOUT.0);
        let chosen = tokio::time::timeout(time, user.choose(which)).await.ok().flatten();
        let chosen = chosen.filter(|at| *at < which.labels.len());
        if chosen.is_none() && !user.reached_the_user() {
            return Err(Unreached);
        }
        drop(user);
        if chosen.is_some() {
            self.note_user_present();
        }
        Ok(chosen)
    }

    /// Asks the user which of several records may be used, and keeps the choice in the vault.
    pub(crate) async fn choose_record(&mut self, rivals: &RivalRecords) -> Result<Option<String>, Unreached> {
        let RivalRecords { kind, origin, handles, .. } = rivals;
        let chosen = self.ask_which(&rivals.question(self.client.clone())).await?;
        let Some(record) = chosen.and_then(|chosen| handles.get(chosen)).cloned() else { return Ok(None) };
        let choice = RecordChoice::new(kind, origin, handles, &record);
        // Where it cannot be kept, it holds for this task.
        let _kept = self.change(StateName::Choices, |stored| {
            Some(RecordChoices::from_json(stored).with(choice).to_json())
        });
        Ok(Some(record))
    }

    /// The vault, also after a thread panicked with it: what is stored next is a state of its own.
    pub(crate) fn vault(&self) -> MutexGuard<'_, Vault> {
        self.vault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The standing consents that the vault stores now; none of a locked vault.
    pub(crate) fn stored_consents(&self) -> Option<Vec<StandingConsent>> {
        let stored = self.vault().state(StateName::Consents).ok()?;
        Some(stored.and_then(|bytes| standing::from_json(&bytes)).unwrap_or_default())
    }

    /// The standing consents from earlier sessions.
    pub(crate) fn standing_consents(&self) -> Vec<StandingConsent> {
        self.stored_consents().unwrap_or_default()
    }

    /// Signs the head of the audit log and stores it in the vault, so that truncation of the log is detected. Where
    /// that fails, the previous head still protects the part that it covers.
    pub(crate) fn sign_head(&mut self) {
        let Some(file) = self.keeper.clone() else { return };
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = locked(&file).saved;
        let kept = stored_head::store(&mut vault, saved, &mut self.audit, &mut self.entropy, unix_ms());
        if matches!(kept, Ok(true)) {
            save(&vault, &file, &mut self.entropy);
        }
    }

    /// Stores the texts that were withheld as suspicious in the user's vault.
    pub(crate) fn store_quarantine(&mut self, quarantine: &Quarantine) {
        self.change(StateName::Quarantine, |earlier| quarantine.to_keep(earlier));
    }

    /// How often agents guessed each value in earlier sessions.
    pub(crate) fn guesses(&self) -> Guesses {
        let kept = self.vault().state(StateName::Guesses).ok().flatten();
        kept.map(|bytes| agent_memory::guesses_from_json(&bytes)).unwrap_or_default()
    }

    /// How often agents guessed any value in earlier sessions, as far as this guard knows.
    pub(crate) fn earlier_guesses(&self) -> u64 {
        let kept = self.guesses().values().map(|count| u64::from(*count)).sum();
        self.memory.as_ref().map_or(kept, |memory| memory.guessed().max(kept))
    }

    /// Adds the guesses of a session to those stored in the user's vault.
    pub(crate) fn store_guesses(&mut self, new: &Guesses) {
        self.change(StateName::Guesses, |earlier| {
            let earlier = earlier.map(agent_memory::guesses_from_json).unwrap_or_default();
            agent_memory::guesses_to_json(&earlier, new)
        });
    }

    /// Applies changes of the standing consents to those that the vault stores, which other sessions change too. Returns whether
    /// they are persisted.
    pub(crate) fn store_standing(&mut self, changes: &StandingChanges) -> bool {
        self.change(StateName::Consents, |stored| {
            let stored = stored.and_then(standing::from_json).unwrap_or_default();
            Some(standing::to_json(&changes.applied_to(stored)))
        })
    }

    /// Replaces a state of the vault by what `new` makes of it, and saves the file. Returns whether the new state is persisted.
    /// No other session changes it in between.
    fn change(&mut self, name: StateName, new: impl FnOnce(Option<&[u8]>) -> Option<Vec<u8>>) -> bool {
        let Some(file) = self.keeper.clone() else { return false };
        let mut vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = vault.state(name).ok().flatten();
        let Some(new) = new(stored.as_ref().map(|bytes| bytes.as_slice())) else { return false };
        let set = vault.set_state(name, &new, &mut self.entropy);
        set.is_ok() && save(&vault, &file, &mut self.entropy)
    }

    /// Writes the vault's file. Returns whether it is on disk.
    pub(crate) fn save(&mut self) -> bool {
        let Some(file) = self.keeper.clone() else { return false };
        let vault = self.vault.lock().unwrap_or_else(PoisonError::into_inner);
        save(&vault, &file, &mut self.entropy)
    }
}

fn locked(file: &Mutex<KeptFile>) -> MutexGuard<'_, KeptFile> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the vault's file. Returns whether it is on disk. The caller holds the vault, so that no older state replaces a newer one.
pub(super) fn save(vault: &Vault, file: &Mutex<KeptFile>, entropy: &mut SharedEntropy) -> bool {
    let bytes = vault.to_bytes(entropy);
    let mut file = locked(file);
    let saved = bytes.is_ok_and(|bytes| file.keeper.save(&bytes).is_ok());
    if saved {
        file.saved = vault.generation();
    } else {
        tracing::warn!(
            "the vault's file could not be saved: standing consents hold for this task alone, and no password is made"
        );
    }
    saved
}
