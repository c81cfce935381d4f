//! Vault files: unlocking any bytes with a fixed key, so that no passphrase is derived.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use policy_dfa::{Policy, Verifier, authority};
use sha2::{Digest, Sha256};
use vault::{StateName, UnlockKey, Vault, VaultError};

/// The data key and the vault's id, in every file here.
const DATA: [u8; 32] = [7; 32];
const ID: [u8; 16] = [6; 16];

/// The places of a file, as in `spec/vault.md`.
const START: &[u8] = b"PCVAULT\x1a\x02\x00\x01\x01\x00\x4c\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00";
const NAMED: std::ops::Range<usize> = 40..72;
const SUMMED: usize = 144;
const HEADER: usize = 160;
const PADDING: usize = 512;

/// Opens the input; with a correct sum of the header; with the vault's id and the key's mark too; and as the list and
/// the parts of a file that is otherwise valid, so that the code behind the decryption is reached.
///
/// # Panics
/// An opened vault is written and opened again as another one, or an error is outside of the file.
pub fn run(input: &[u8]) {
    check(input);
    let mut bytes = input.to_vec();
    correct_sum(&mut bytes);
    check(&bytes);
    insert_id(&mut bytes);
    check(&bytes);
    check(&file_of(input));
}

/// Inserts the vault's id and the key's mark, and corrects the sum.
fn insert_id(bytes: &mut [u8]) {
    let right = ID.into_iter().chain(subkey("mark"));
    for (slot, byte) in bytes.iter_mut().take(NAMED.end).skip(NAMED.start).zip(right) {
        *slot = byte;
    }
    correct_sum(bytes);
}

/// Corrects the header's sum.
fn correct_sum(bytes: &mut [u8]) {
    let Some((start, rest)) = bytes.split_at_mut_checked(SUMMED) else { return };
    for (slot, byte) in rest.iter_mut().zip(Sha256::digest(&*start).iter().take(HEADER - SUMMED)) {
        *slot = *byte;
    }
}

/// Derives the key of one purpose, as in `spec/vault.md`.
fn subkey(purpose: &str) -> [u8; 32] {
    let mut key = [0; 32];
    let label = format!("portcullis vault 2 {purpose}");
    let expanded = Hkdf::<Sha256>::new(Some(&ID), &DATA).expand(label.as_bytes(), &mut key);
    assert!(expanded.is_ok(), "a subkey is of fixed length");
    key
}

/// Makes a file from the input: two bytes with the length of the list, the list, and the parts.
fn file_of(input: &[u8]) -> Vec<u8> {
    let (length, rest) = input.split_at_checked(2).unwrap_or((&[0, 0], input));
    let length = length.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte));
    let (list, parts) = rest.split_at_checked(length).unwrap_or((rest, &[]));
    let mut file = START.to_vec();
    file.resize(HEADER, 0);
    insert_id(&mut file);
    let mut list = list.to_vec();
    list.resize(list.len().next_multiple_of(PADDING).max(PADDING), 0);
    let label = b"portcullis vault 2 manifest".as_slice();
    let mut context = Vec::new();
    for part in [label, &Sha256::digest(&file)] {
        context.extend_from_slice(&(part.len() as u64).to_le_bytes());
        context.extend_from_slice(part);
    }
    let nonce = [8; 24];
    let cipher = XChaCha20Poly1305::new(&subkey("manifest").into());
    let tag = cipher.encrypt_inout_detached(&XNonce::from(nonce), &context, list.as_mut_slice().into());
    let Ok(tag) = tag else { panic!("a list is far below the cipher's limit") };
    file.extend_from_slice(&u32::try_from(list.len() + 40).unwrap_or(u32::MAX).to_le_bytes());
    file.extend_from_slice(&nonce);
    file.extend_from_slice(&list);
    file.extend_from_slice(&tag);
    file.extend_from_slice(parts);
    file
}

/// Reads one file.
fn check(bytes: &[u8]) {
    let stored = [[1].as_slice(), &ID, &DATA].concat();
    let Ok(key) = UnlockKey::from_keyring(&stored) else { panic!("the fixed key is none") };
    if let Err(error) = Vault::check_with_key(bytes, &key) {
        return check_error(bytes, &error);
    }
    let Ok(vault) = Vault::unlock_with_key(bytes, &key, verifier()) else {
        panic!("a checked file does not open")
    };
    let written = vault.to_bytes(&mut |out: &mut [u8]| out.fill(9));
    let Ok(written) = written else { panic!("an opened vault is not written") };
    assert_eq!(written.len(), bytes.len(), "the vault is written at another length");
    let Ok(again) = Vault::unlock_with_key(&written, &key, verifier()) else {
        panic!("the written file does not open")
    };
    assert!(again.entries().eq(vault.entries()), "the written file is another vault");
    assert_eq!(
        (again.id(), again.generation(), again.public_key()),
        (vault.id(), vault.generation(), vault.public_key())
    );
    for name in StateName::ALL {
        assert!(again.state(name) == vault.state(name), "another state of {}", name.as_str());
    }
    assert!(again.scan("a text").is_ok() == vault.scan("a text").is_ok(), "other values");
}

/// Makes a verifier for one vault. This is slow, so it is done only for files that open.
fn verifier() -> Verifier {
    let policy = Policy::parse(include_str!("../../../policies/default.policy"));
    let checked = policy.ok().and_then(|policy| policy.compile().ok()?.check().ok());
    let Some(checked) = checked else { panic!("the shipped policy does not hold") };
    authority(checked, [1; 16]).1
}

/// Checks that an error has a message and a place in the file.
fn check_error(bytes: &[u8], error: &VaultError) {
    assert!(!error.to_string().is_empty(), "refused without a reason");
    match error {
        VaultError::Damaged { offset, .. } | VaultError::Truncated { offset, .. } => {
            assert!(*offset <= bytes.len(), "byte {offset} is behind the file");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{DATA, ID, correct_sum, file_of};
    use vault::{UnlockKey, Vault};

    /// The seeds are files of the fixed key, and lists of such files. Without them no input would be decrypted.
    #[test]
    fn the_seeds_open() {
        let stored = [[1].as_slice(), &ID, &DATA].concat();
        let key = UnlockKey::from_keyring(&stored).ok().unwrap_or_else(|| panic!("no key"));
        let mut file = include_bytes!("../corpus/vault_file/values").to_vec();
        assert_eq!(Vault::check_with_key(&file, &key), Ok(()));
        correct_sum(&mut file);
        assert_eq!(Vault::check_with_key(&file, &key), Ok(()));
        let list = file_of(include_bytes!("../corpus/vault_file/values-list"));
        assert_eq!(Vault::check_with_key(&list, &key), Ok(()));
    }
}
