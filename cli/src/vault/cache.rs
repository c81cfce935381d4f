//! The unlock cache: a vault's key in the system's keyring, so that the passphrase is not asked for each time.
//!
//! On Linux it is the kernel's keyring of the user: in memory, gone after a restart, and the kernel itself
//! forgets a key when its time is over. Elsewhere it is the system's own store.

use std::time::Duration;

use portcullis::vault::UnlockKey;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// The name under which a vault's key is kept.
fn name(vault: [u8; 16]) -> String {
    let id: String = vault.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("portcullis-vault-{id}")
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::NotSetUp(format!(
        "this system has no keyring that can be used ({error}); the passphrase is asked for each time"
    ))
}

/// Keeps a key. On Linux the kernel forgets it after `lasts`.
pub fn keep(vault: [u8; 16], key: &UnlockKey, lasts: Duration) -> Result<(), Failure> {
    let entry = platform::entry(&name(vault)).map_err(unavailable)?;
    entry.set_secret(&key.expose_to_keyring()).map_err(unavailable)?;
    platform::expire(&name(vault), lasts).map_err(|error| {
        // A key that would stay for ever is not what was asked for.
        let _gone = entry.delete_credential();
        unavailable(error)
    })
}

/// The key of a vault, if one is kept. A keyring that does not work keeps none.
pub fn find(vault: [u8; 16]) -> Option<UnlockKey> {
    let bytes = Zeroizing::new(platform::entry(&name(vault)).ok()?.get_secret().ok()?);
    UnlockKey::from_keyring(&bytes).ok()
}

/// Whether the key of a vault is kept.
pub fn holds(vault: [u8; 16]) -> bool {
    find(vault).is_some()
}

/// Whether this system has a keyring that answers. Nothing is kept in it.
pub fn works() -> bool {
    let nobody = [0; 16];
    match platform::entry(&name(nobody)).map(|entry| entry.get_secret().map(Zeroizing::new)) {
        Ok(Ok(_) | Err(keyring_core::Error::NoEntry)) => true,
        Ok(Err(_)) | Err(_) => false,
    }
}

/// Forgets a key. Says whether there was one.
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

    /// The user's keyring, which outlives a login session's own. Linking it to the process makes its keys
    /// readable for us also where nobody set up a session keyring (containers, services).
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

    /// These stores keep a key until `portcullis vault lock`.
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
