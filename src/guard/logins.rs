//! Saved logins in a guard: which one a task may use, and its files in step with the vault.

use browser_signals::Observed;
use browser_signals::login::{LoginState, PresentCookies};
use browser_signals::{Origin, Snapshot};
use policy_dfa::{Grant, Millis, Restore};
use vault::VaultError;
use vault::logins::{LoginError, LoginId, SavedLogin, SealedLogin};

use super::dependencies::Dependencies;
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

    /// Renews a login with the cookies that its container has now. Returns whether its new state is on disk.
    pub(crate) fn renew_login(&mut self, id: LoginId, now: PresentCookies) -> bool {
        let Some(folder) = self.logins.clone() else { return false };
        let mut entropy = self.entropy.clone();
        let renewed = {
            let mut vault = self.vault();
            let saved = vault.saved_logins().unwrap_or_default();
            let Some(login) = saved.into_iter().find(|login| login.id == id) else { return false };
            let Ok(sealed) = folder.read(login.file) else { return false };
            vault.renew_login(id, &sealed, now, &mut entropy)
        };
        matches!(renewed, Ok(Some(renewed)) if self.keep_login(&folder, &renewed))
    }

    /// Writes a login's new file and then the vault, and removes what no login has any more.
    fn keep_login(&mut self, folder: &LoginFolder, sealed: &SealedLogin) -> bool {
        if folder.write(sealed.login.file, &sealed.bytes).is_err() || !self.save() {
            return false;
        }
        sweep(folder, self.vault().saved_logins());
        true
    }
}

/// Removes the files that no login has. One that stays opens nothing.
fn sweep(folder: &LoginFolder, saved: Result<Vec<SavedLogin>, VaultError>) {
    if let Ok(saved) = saved {
        let files: Vec<_> = saved.iter().map(|login| login.file).collect();
        let _left_for_the_next = folder.keep_only(&files);
    }
}
