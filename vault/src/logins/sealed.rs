//! The file of one saved login: magic, format version, and the state, encrypted at a padded length.

use browser_signals::login::LoginState;

use super::list::Entry;
use super::{LoginError, SavedLogin};
use crate::crypto::cipher::{Entropy, Key, Unauthentic, context, label};
use crate::crypto::padded;

/// The first bytes: `PCLOGIN`, a control character, and the format version 1.
const MAGIC: [u8; 10] = *b"PCLOGIN\x1a\x01\x00";

/// The largest state, in MiB.
const LARGEST_MIB: usize = 8;

/// The shortest padded text, in bytes.
const SHORTEST_PADDED: usize = 4096;

/// The bytes that a text's length takes.
const PREFIX: usize = 4;

/// Encrypts a state under its key.
pub(super) fn seal(
    vault: &[u8; 16],
    login: &SavedLogin,
    key: &Key,
    state: &LoginState,
    entropy: &mut dyn Entropy,
) -> Result<Vec<u8>, LoginError> {
    let too_large = || LoginError::TooLarge { limit: LARGEST_MIB };
    let text = state.expose_to_vault();
    if text.len() > LARGEST_MIB << 20 {
        return Err(too_large());
    }
    let sealed = padded::seal::<PREFIX>(key, &place(vault, login), &text, SHORTEST_PADDED, entropy)
        .map_err(|Unauthentic| too_large())?;
    Ok([MAGIC.as_slice(), &sealed].concat())
}

/// Decrypts the state of a login from its newest file.
pub(super) fn open(vault: &[u8; 16], own: &Entry, bytes: &[u8]) -> Result<LoginState, LoginError> {
    let sealed = bytes.strip_prefix(&MAGIC).ok_or(LoginError::Damaged)?;
    let text = padded::unseal::<PREFIX>(&own.key, &place(vault, &own.login), sealed)
        .map_err(|Unauthentic| LoginError::Damaged)?;
    let state = LoginState::from_vault(text.expose()).map_err(|_| LoginError::Damaged)?;
    if *state.origin() == own.login.origin { Ok(state) } else { Err(LoginError::Damaged) }
}

/// The associated data of a file: the vault, the login, the file and its origin.
fn place(vault: &[u8; 16], login: &SavedLogin) -> Vec<u8> {
    let origin = login.origin.to_string();
    context(&[label("login").as_bytes(), vault, &login.id.0, &login.file.0, origin.as_bytes()])
}
