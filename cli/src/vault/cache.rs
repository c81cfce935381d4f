//! The unlock cache: a vault's key in the system's keyring, so that the passphrase is not needed each time.
//!
//! On Linux it is the kernel's keyring of the user: it is in memory, disappears at a restart, and the kernel deletes a
//! key when its time is over. Elsewhere it is the system's own store.

use std::time::Duration;

use portcullis::vault::UnlockKey;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// The name of a vault's key in the keyring.
fn name(vault: [u8; 16]) -> String {
    let id: String = vault.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("portcullis-vault-{id}")
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::NotSetUp(format!(
        "this system has no keyring that can be used ({error}); the passphrase is asked for each time"
    ))
}

/// Stores a key. On Linux the kernel deletes it after `lasts`.
pub fn keep(vault: [u8; 16], key: &UnlockKey, lasts: Duration) -> Result<(), Failure> {
    let entry = platform::entry(&name(vault)).map_err(unavailable)?;
    entry.set_secret(&key.expose_to_keyring()).map_err(unavailable)?;
    platform::expire(&name(vault), lasts).map_err(|error| {
        // A key without an expiry was not asked for.
        let _gone = entry.delete_credential();
        unavailable(error)
    })
}

/// The stored key of a vault. A keyring that does not work stores none.
pub fn find(vault: [u8; 16]) -> Option<UnlockKey> {
    let bytes = Zeroizing::new(platform::entry(&name(vault)).ok()?.get_secret().ok()?);
    UnlockKey::from_keyring(&bytes).ok()
}

/// Returns true if the key of a vault is stored.
pub fn holds(vault: [u8; 16]) -> bool {
    find(vault).is_some()
}

/// Returns true if this system has a working keyring. Nothing is stored in it.
pub fn works() -> bool {
    let nobody = [0; 16];
    match platform::entry(&name(nobody)).map(|entry| entry.get_secret().map(Zeroizing::new)) {
        Ok(Ok(_) | Err(keyring_core::Error::NoEntry)) => true,
        Ok(Err(_)) | Err(_) => false,
    }
}

/// Deletes a key. Returns true if there was one.
pub fn forget(vault: [u8; 16]) -> Result<bool, Failure> {
    let entry = platform::entry(&name(vault)).map_err(unavailable)?;
    match entry.delete_credential() {
        Ok(()) => Ok(true),
        Err(keyring_core::Error::NoEntry) => Ok(false),
        Err(error) => Err(unavailable(error)),
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::sync::Arc;
    use std::time::Duration;

    use keyring_core::{Entry, Error};
    use linux_keyutils::{KeyRing, KeyRingIdentifier};
    use linux_keyutils_keyring_store::Cred;

    /// The user's keyring, which outlives the one of a login session. Linking it to the process makes its keys readable
    /// even where there is no session keyring (containers, services).
    fn keyring() -> Result<KeyRing, Error> {
        let failed = |error| Error::NoStorageAccess(Box::new(error));
        let user = KeyRing::from_special_id(KeyRingIdentifier::User, true).map_err(failed)?;
        let process = KeyRing::from_special_id(KeyRingIdentifier::Process, true).map_err(failed)?;
        process.link_keyring_id(KeyRingIdentifier::User).map_err(failed)?;
        Ok(user)
    }

    pub fn entry(name: &str) -> Result<Entry, Error> {
        let session = keyring()?;
        let cred = Cred { session, persistent: None, description: name.to_owned(), specifiers: None };
        Ok(Entry::new_with_credential(Arc::new(cred)))
    }

    pub fn expire(name: &str, lasts: Duration) -> Result<(), Error> {
        let failed = |error| Error::PlatformFailure(Box::new(error));
        let seconds = usize::try_from(lasts.as_secs().max(1)).unwrap_or(usize::MAX);
        keyring()?.search(name).and_then(|key| key.set_timeout(seconds)).map_err(failed)
    }
}

#[cfg(any(target_os = "macos", windows))]
mod platform {
    use std::time::Duration;

    use keyring_core::api::CredentialStoreApi;
    use keyring_core::{Entry, Error};

    pub fn entry(name: &str) -> Result<Entry, Error> {
        #[cfg(target_os = "macos")]
        let store = apple_native_keyring_store::keychain::Store::new()?;
        #[cfg(windows)]
        let store = windows_native_keyring_store::Store::new()?;
        store.build("portcullis", name, None)
    }

    /// These stores hold a key until `portcullis vault lock`.
    pub fn expire(_: &str, _: Duration) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod platform {
    use std::time::Duration;

    use keyring_core::{Entry, Error};

    pub fn entry(_: &str) -> Result<Entry, Error> {
        Err(Error::NoDefaultStore)
    }

    pub fn expire(_: &str, _: Duration) -> Result<(), Error> {
        Err(Error::NoDefaultStore)
    }
}
