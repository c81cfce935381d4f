//! The age file around a document.

use std::io::{Read, Write};

use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt};
use zeroize::Zeroizing;

use super::error::ImportError;
use crate::crypto::secret::Secret;
use crate::error::VaultError;

/// The number of bytes that `age` encrypts at a time, in a buffer that it does not wipe.
pub(super) const CHUNK: usize = 64 * 1024;

/// Copies the passphrase into the type of `age`, which wipes it.
fn passphrase_of(passphrase: &Secret) -> Option<SecretString> {
    // Its length is its capacity, so that it is never reallocated.
    let bytes = Zeroizing::new(passphrase.expose().to_vec());
    std::str::from_utf8(&bytes).ok().map(|text| SecretString::from(text.to_owned()))
}

/// Encrypts a document, whose last [`CHUNK`] bytes are padding. `age` collects every chunk in the same buffer, so
/// the padding overwrites the values in it.
pub(super) fn seal(
    document: Zeroizing<Vec<u8>>,
    passphrase: &Secret,
    log_n: u8,
) -> Result<Vec<u8>, VaultError> {
    let passphrase = passphrase_of(passphrase).ok_or(VaultError::ExportPassphraseNotText)?;
    let mut recipient = scrypt::Recipient::new(passphrase);
    recipient.set_work_factor(log_n);
    let encryptor = Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
        .map_err(|_| VaultError::OutOfMemory)?;
    let mut file = Vec::with_capacity(document.len() + CHUNK);
    let written = encryptor.wrap_output(&mut file).and_then(|mut writer| {
        writer.write_all(&document)?;
        writer.finish().map(|_| ())
    });
    written.map_err(|_| VaultError::OutOfMemory)?;
    Ok(file)
}

/// Decrypts a document whose cost is at most 2 to the power of `most`.
pub(super) fn open(bytes: &[u8], passphrase: &Secret, most: u8) -> Result<Zeroizing<Vec<u8>>, ImportError> {
    let decryptor = Decryptor::new(bytes).map_err(|_| ImportError::NotAnExport)?;
    if !decryptor.is_scrypt() {
        return Err(ImportError::NotAnExport);
    }
    let mut identity = scrypt::Identity::new(passphrase_of(passphrase).ok_or(ImportError::WrongPassphrase)?);
    identity.set_max_work_factor(most);
    let reader = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
    let mut reader = reader.map_err(|error| match error {
        DecryptError::ExcessiveWork { .. } => ImportError::TooCostly,
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed | DecryptError::NoMatchingKeys => {
            ImportError::WrongPassphrase
        }
        _ => ImportError::Damaged,
    })?;
    // A document is shorter than its file, so this buffer is never reallocated.
    let mut document = Zeroizing::new(vec![0; bytes.len()]);
    let mut length = 0;
    while let Some(free) = document.get_mut(length..).filter(|free| !free.is_empty()) {
        match reader.read(free).map_err(|_| ImportError::Damaged)? {
            0 => break,
            read => length += read,
        }
    }
    document.truncate(length);
    Ok(document)
}
