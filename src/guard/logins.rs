//! Saved logins in a guard: which one a task may use, and its files in step with the vault.

use std::sync::PoisonError;

use browser_signals::Observed;
use browser_signals::login::{LoginState, PresentCookies};
use browser_signals::{Origin, Snapshot};
use policy_dfa::{Grant, Millis, Restore};
use vault::logins::{LoginError, LoginId, SavedLogin};
use vault::{StateName, VaultError};

use super::dependencies::{Dependencies, save};
use crate::storage::login_folder::{LoginFolder, LoginInUse};
use crate::system::unix_ms;

impl Dependencies {
    /// The saved login of the first of these origins that has one which has not ended.
    pub(crate) fn saved_login(&self, origins: &[Origin]) -> Option<SavedLogin> {
        self.logins.as_ref()?;
        let saved = self.vault().saved_logins().ok()?;
        let now = unix_ms();
        let at = |origin: &Origin| saved.iter().find(|login| login.origin == *origin && login.ends_ms > now);
        origins.iter().find_map(at).cloned()
    }

    /// Begins to use a login; none if another container uses it.
    pub(crate) fn begin_to_use(&self, id: LoginId) -> Option<LoginInUse> {
        self.logins.as_ref()?.begin_to_use(id)
    }

    /// Opens a saved login for a grant. Its tokens are kept in the vault for the task.
    pub(crate) fn open_login(
        &mut self,
        login: &SavedLogin,
        grant: Grant<Restore>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<(LoginState, String), LoginError> {
        let folder = self.logins.clone().ok_or(LoginError::NotSaved)?;
        let sealed = folder.read(login.file).map_err(|_| LoginError::Damaged)?;
        let mut entropy = self.entropy.clone();
        self.vault().open_login(grant, fresh, (now, unix_ms()), &sealed, &mut entropy)
    }

    /// Returns true if a login can be kept: there are a folder for it and a vault's file, and the vault is open.
    pub(crate) fn keeps_logins(&self) -> bool {
        self.logins.is_some() && self.keeper.is_some() && !self.vault().is_locked()
    }

    /// Keeps a login that the user made by hand, in the place of an earlier one for its origin. Where it fails, the vault's file names what
    /// it named before.
    pub(crate) fn keep_login(&mut self, state: &LoginState, days: u32) -> Result<(), LoginError> {
        let folder = self.logins.clone().ok_or(LoginError::NotSaved)?;
        let keeper = self.keeper.clone().ok_or(LoginError::NotSaved)?;
        let vault = self.vault.clone();
        let mut vault = vault.lock().unwrap_or_else(PoisonError::into_inner);
        let before = vault.state(StateName::Logins)?.unwrap_or_default();
        let sealed = vault.save_login(state, days, unix_ms(), &mut self.entropy)?;
        let is_written = folder.write(sealed.login.file, &sealed.bytes).is_ok();
        if !is_written || !save(&vault, &keeper, &mut self.entropy) {
            vault.set_state(StateName::Logins, &before, &mut self.entropy)?;
            return Err(LoginError::Damaged);
        }
        sweep(&folder, vault.saved_logins());
        Ok(())
    }

    /// Renews a login with the cookies that its container has now. Returns whether something differed; then it is on disk.
    ///
    /// The vault stays locked to others for all of it: meanwhile no save names a file that is not there yet, and nothing removes one that
    /// the vault's file still names. Where it fails, the vault's file names the earlier file, which is still there.
    pub(crate) fn renew_login(&mut self, id: LoginId, now: PresentCookies) -> Result<bool, LoginError> {
        let folder = self.logins.clone().ok_or(LoginError::NotSaved)?;
        let keeper = self.keeper.clone().ok_or(LoginError::NotSaved)?;
        let vault = self.vault.clone();
        let mut vault = vault.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = vault.saved_logins()?;
        let login = saved.into_iter().find(|login| login.id == id).ok_or(LoginError::NotSaved)?;
        let before = vault.state(StateName::Logins)?.unwrap_or_default();
        let sealed = folder.read(login.file).map_err(|_| LoginError::Damaged)?;
        let Some(renewed) = vault.renew_login(id, &sealed, now, &mut self.entropy)? else {
            return Ok(false);
        };
        if folder.write(renewed.login.file, &renewed.bytes).is_err() {
            vault.set_state(StateName::Logins, &before, &mut self.entropy)?;
            return Err(LoginError::Damaged);
        }
        if !save(&vault, &keeper, &mut self.entropy) {
            return Err(LoginError::Damaged);
        }
        sweep(&folder, vault.saved_logins());
        Ok(true)
    }
}

/// Removes the files that no login has. One that stays opens nothing.
fn sweep(folder: &LoginFolder, saved: Result<Vec<SavedLogin>, VaultError>) {
    if let Ok(saved) = saved {
        let files: Vec<_> = saved.iter().map(|login| login.file).collect();
        let _left_for_the_next = folder.keep_only(&files);
    }
}
