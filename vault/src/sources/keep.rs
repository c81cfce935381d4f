//! The fetched values: checked, sealed for one task, and bound to the origin of the grant.

use browser_signals::Origin;
use sha2::{Digest, Sha256};
use sirl::Field;

use super::error::KeepError;
use super::{Account, FetchedCode, FetchedValues, Wanted};
use crate::codes::{CodeSeed, Given};
use crate::content::binding::Binding;
use crate::content::handle::{kind_of, name_of_host};
use crate::crypto::cipher::Entropy;
use crate::crypto::secret::Secret;
use crate::error::VaultError;
use crate::store::values::put;
use crate::store::vault::Vault;

/// The length of a step of a source's own codes, in seconds. The source does not tell it, and this is the usual one.
const CODE_STEP: u64 = 30;

/// The values of one account of a source that are kept for the task.
pub(crate) struct Fetch {
    pub(crate) handle: String,
    pub(crate) origin: Origin,
    pub(crate) source: String,
    pub(crate) account: String,
}

impl Vault {
    /// Keeps the wanted fields of an account for this task, bound to the exact origin of the grant, and drops every other value. Returns
    /// true if the vault changed: then the caller writes its file before the grant is redeemed, since a one-time code is never
    /// given twice. The values are released, found and masked as the user's own of this task are, until the task ends.
    ///
    /// # Errors
    /// [`KeepError`]; then nothing new is kept.
    pub fn keep_fetched(
        &mut self,
        wanted: &Wanted,
        source: &str,
        values: FetchedValues,
        unix_ms: u64,
        entropy: &mut dyn Entropy,
    ) -> Result<bool, KeepError> {
        let FetchedValues { account, username, password, code } = values;
        if !self.is_the_users(&wanted.origin, username.as_ref())? {
            return Err(KeepError::NoValue);
        }
        let handle = self.handle_for(&wanted.origin, source, &account)?;
        let mut kept = Vec::new();
        for field in wanted.fields.iter() {
            let value = match field {
                Field::Username => username.as_ref().map(copy),
                // A name without an address is no e-mail address.
                Field::Email => username.as_ref().filter(|name| name.expose().contains(&b'@')).map(copy),
                Field::Password => password.as_ref().map(copy),
                _ => None,
            };
            kept.extend(value.map(|value| (field, value)));
        }
        if kept.iter().any(|(_, value)| !is_one_line(value)) {
            return Err(KeepError::Damaged);
        }
        let code = code.filter(|_| wanted.fields.contains(Field::OneTimeCode));
        if kept.is_empty() && code.is_none() {
            return Err(KeepError::NoValue);
        }
        // Everything is sealed before anything is kept, so that half an account is never there.
        let binding = Binding::Origin(wanted.origin.clone());
        let mut sealed = Vec::new();
        for (field, value) in kept {
            binding.check(&handle, field)?;
            let others = &self.task.records;
            sealed.push(self.sealed(others, (&handle, field, &binding), &value, entropy)?);
        }
        let is_changed = code.is_some();
        if let Some(code) = code {
            let name = step_name(source, &account);
            let code = self.give_code(code, name, unix_ms, entropy)?;
            let place = (handle.as_str(), Field::OneTimeCode, &binding);
            sealed.push(self.sealed(&self.task.records, place, &code, entropy)?);
        }
        if !self.task.fetched.iter().any(|fetch| fetch.handle == handle) {
            let (origin, source) = (wanted.origin.clone(), source.to_owned());
            self.task.fetched.push(Fetch { handle, origin, source, account: account.id });
        }
        for record in sealed {
            put(&mut self.task.records, record);
        }
        Ok(is_changed)
    }

    /// Forgets the one-time code that a source gave for this origin: it is good for one release. Its step stays noted.
    pub fn forget_fetched_code(&mut self, origin: &Origin) {
        let of_place = self.task.fetched.iter().filter(|fetch| fetch.origin == *origin);
        let handles: Vec<String> = of_place.map(|fetch| fetch.handle.clone()).collect();
        for handle in handles {
            self.forget_task_value(&handle, Field::OneTimeCode);
        }
    }

    /// The account that was fetched for this origin in this task, by the source's own name for it. A login in steps goes on with it.
    pub fn fetched_account(&self, source: &str, origin: &Origin) -> Option<&str> {
        let of_place = |fetch: &&Fetch| fetch.source == source && fetch.origin == *origin;
        self.task.fetched.iter().find(of_place).map(|fetch| fetch.account.as_str())
    }

    /// The source that supplied the values of this record in this task.
    pub fn source_of(&self, handle: &str) -> Option<&str> {
        self.task.fetched.iter().find(|fetch| fetch.handle == handle).map(|fetch| fetch.source.as_str())
    }

    pub(super) fn has_fetched(&self, field: Field, origin: &Origin) -> bool {
        let mut of_place = self.task.fetched.iter().filter(|fetch| fetch.origin == *origin);
        of_place.any(|fetch| {
            self.task.records.iter().any(|record| record.handle == fetch.handle && record.field == field)
        })
    }

    /// Returns false if the user's own records name other accounts alone for a login at this origin. An account without a user name
    /// contradicts none.
    fn is_the_users(&self, origin: &Origin, username: Option<&Secret>) -> Result<bool, VaultError> {
        let Some(username) = username else { return Ok(true) };
        let own = self.task.records.iter().filter(|record| self.source_of(&record.handle).is_none());
        let named = own.chain(&self.records).filter(|record| {
            kind_of(&record.handle) == "login"
                && matches!(record.field, Field::Username | Field::Email)
                && record.admits(&[origin])
        });
        let mut is_named = false;
        for record in named {
            let name = self.decrypt(record).map_err(|_| VaultError::Locked)?.to_secret();
            if username.is_same(&name) {
                return Ok(true);
            }
            is_named = true;
        }
        Ok(!is_named)
    }

    /// The guard's own handle for an account: it has no word of the source's.
    fn handle_for(&self, origin: &Origin, source: &str, account: &Account) -> Result<String, VaultError> {
        let same =
            |fetch: &&Fetch| fetch.origin == *origin && fetch.source == source && fetch.account == account.id;
        match self.task.fetched.iter().find(same) {
            Some(fetch) => Ok(fetch.handle.clone()),
            None => {
                let taken = |handle: &String| self.entries().any(|entry| entry.handle == *handle);
                let name = name_of_host(origin.host());
                // No record that the guard makes has such a name, also in a session at the same time.
                let mut numbered = (1..100).map(|number| format!("login:{name}_{number}"));
                numbered.find(|handle| !taken(handle)).ok_or(VaultError::BadHandle)
            }
        }
    }

    /// The code of the present step, which is noted as given.
    fn give_code(
        &mut self,
        code: FetchedCode,
        name: [u8; 8],
        unix_ms: u64,
        entropy: &mut dyn Entropy,
    ) -> Result<Secret, KeepError> {
        let seconds = unix_ms / 1000;
        match code {
            FetchedCode::Code(code) => {
                if !is_code(&code) {
                    return Err(KeepError::Damaged);
                }
                let left = CODE_STEP - seconds % CODE_STEP;
                self.note_given(&Given { name, step: seconds / CODE_STEP, left }, entropy)?;
                Ok(code)
            }
            FetchedCode::Seed(seed) => {
                let text = std::str::from_utf8(seed.expose()).map_err(|_| KeepError::Damaged)?;
                let seed = CodeSeed::parse(text).map_err(|_| KeepError::Damaged)?;
                Ok(self.give(&seed, unix_ms, entropy)?)
            }
        }
    }
}

/// A name for the codes of an account, under which the step is noted.
fn step_name(source: &str, account: &Account) -> [u8; 8] {
    let mut hash = Sha256::new();
    for part in [b"code of a source".as_slice(), source.as_bytes(), account.id.as_bytes()] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().first_chunk::<8>().copied().unwrap_or_default()
}

fn copy(value: &Secret) -> Secret {
    Secret::filled(value.expose().len(), |out| out.copy_from_slice(value.expose()))
}

/// A value that a form's line takes as it is: text without control characters.
fn is_one_line(value: &Secret) -> bool {
    std::str::from_utf8(value.expose()).is_ok_and(|text| !text.chars().any(char::is_control))
}

fn is_code(code: &Secret) -> bool {
    (4..=10).contains(&code.expose().len()) && code.expose().iter().all(u8::is_ascii_alphanumeric)
}
