//! Another passphrase, another data key, a stored unlock key, the signing key.

use crate::common::{entropy, filled, guard};
use browser_signals::Origin;
use ed25519_dalek::{Signature, VerifyingKey};
use sirl::Field;
use vault::{Binding, KdfParams, Secret, StateName, UnlockKey, Vault, VaultError};

const NUMBER: &str = "4929 1234 5678 9012";
const CODE: &str = "900817";

fn old() -> Secret {
    Secret::new("open sesame")
}

fn new() -> Secret {
    Secret::new("shut sesame")
}

fn made() -> Vault {
    let mut entropy = entropy(5);
    let mut vault = Vault::create(&old(), &mut entropy, KdfParams::FLOOR, guard(1).1).ok().unwrap();
    let anywhere = Binding::Anywhere;
    let shop = Binding::Origin(Origin::parse("https://shop.example").unwrap());
    let number = Secret::new(NUMBER);
    vault.insert("card:personal", Field::CardNumber, number, &anywhere, &mut entropy).unwrap();
    vault.insert_for_task("otp:now", Field::OneTimeCode, Secret::new(CODE), &shop, &mut entropy).unwrap();
    vault.set_state(StateName::Phrase, b"green kettles", &mut entropy).unwrap();
    vault
}

fn saved(vault: &Vault) -> Vec<u8> {
    vault.to_bytes(&mut entropy(6)).unwrap()
}

fn open(bytes: &[u8], passphrase: &Secret) -> Result<Vault, VaultError> {
    Vault::unlock(bytes, passphrase, guard(1).1)
}

fn holds_everything(vault: &Vault) {
    assert_eq!(vault.scan(NUMBER).unwrap().len(), 1);
    assert_eq!(vault.state(StateName::Phrase).unwrap().unwrap().as_slice(), b"green kettles");
    let signature = Signature::from_bytes(&vault.sign(b"a message").unwrap());
    let public = VerifyingKey::from_bytes(&vault.public_key()).unwrap();
    public.verify_strict(b"a message", &signature).unwrap();
    assert!(public.verify_strict(b"another", &signature).is_err());
}

#[test]
fn a_new_passphrase_replaces_the_old_one_and_leaves_the_values_alone() {
    let mut vault = made();
    let before = saved(&vault);
    let costs = KdfParams::new(20 * 1024, 2, 1).unwrap();
    vault.change_passphrase(&old(), &new(), costs, &mut entropy(7)).unwrap();
    let after = saved(&vault);
    assert_eq!(open(&after, &old()).err(), Some(VaultError::WrongPassphrase));
    let opened = open(&after, &new()).ok().unwrap();
    holds_everything(&opened);
    assert_eq!((opened.id(), opened.public_key()), (vault.id(), vault.public_key()));
    assert_eq!(opened.generation(), 3);
    // Costs, salt and wrapped key are new; vault id, mark and every sealed part are the same.
    assert_ne!(before[12..40], after[12..40]);
    assert_eq!(before[40..72], after[40..72]);
    assert_ne!(before[72..160], after[72..160]);
    assert_eq!(before[716..], after[716..]);
    // An unlock key from before still opens it.
    let key = Vault::unlock_key(&before, &old()).ok().unwrap();
    holds_everything(&Vault::unlock_with_key(&after, &key, guard(1).1).ok().unwrap());
}

#[test]
fn a_wrong_passphrase_changes_nothing() {
    let mut vault = made();
    let before = saved(&vault);
    let wrong = Err(VaultError::WrongPassphrase);
    assert_eq!(vault.change_passphrase(&new(), &new(), KdfParams::FLOOR, &mut entropy(7)), wrong);
    assert_eq!(vault.rotate(&new(), &mut entropy(7)), wrong);
    assert_eq!(saved(&vault), before);
    vault.lock();
    let locked = Err(VaultError::Locked);
    assert_eq!(vault.change_passphrase(&old(), &new(), KdfParams::FLOOR, &mut entropy(7)), locked);
    assert_eq!(vault.rotate(&old(), &mut entropy(7)), locked);
    assert_eq!(vault.sign(b"a message").err(), Some(VaultError::Locked));
    vault.reopen(&old()).unwrap();
    assert_eq!(saved(&vault), before);
}

#[test]
fn rotation_encrypts_everything_again() {
    let mut vault = made();
    let before = saved(&vault);
    let public = vault.public_key();
    vault.rotate(&old(), &mut entropy(8)).unwrap();
    holds_everything(&vault);
    assert_eq!(vault.scan(CODE).unwrap().len(), 1);
    let after = vault.to_bytes(&mut entropy(60)).unwrap();
    assert_eq!(before.len(), after.len());
    // No 16 bytes after the vault's id are the same, so no id, nonce, ciphertext or tag is reused.
    for window in before[56..].windows(16) {
        assert!(!after[56..].windows(16).any(|other| other == window));
    }
    let opened = open(&after, &old()).ok().unwrap();
    holds_everything(&opened);
    assert_eq!((opened.id(), opened.public_key()), (vault.id(), public));
    assert_eq!(opened.entries().next().unwrap().version, 1);
    assert_eq!(opened.generation(), 3);
}

#[test]
fn an_unlock_key_opens_its_vault_until_a_rotation() {
    let mut vault = made();
    let before = saved(&vault);
    let key = Vault::unlock_key(&before, &old()).ok().unwrap();
    assert_eq!(Vault::unlock_key(&before, &new()).err(), Some(VaultError::WrongPassphrase));
    let kept = key.expose_to_keyring();
    let key = UnlockKey::from_keyring(&kept).ok().unwrap();
    assert_eq!(key.vault(), vault.id());
    holds_everything(&Vault::unlock_with_key(&before, &key, guard(1).1).ok().unwrap());
    vault.lock();
    vault.reopen_with_key(&key).unwrap();
    holds_everything(&vault);
    vault.rotate(&old(), &mut entropy(8)).unwrap();
    let replaced = Some(VaultError::KeyReplaced);
    assert_eq!(Vault::unlock_with_key(&saved(&vault), &key, guard(1).1).err(), replaced);
    vault.lock();
    assert_eq!(vault.reopen_with_key(&key).err(), replaced);
    let other = Vault::create(&old(), &mut entropy(9), KdfParams::FLOOR, guard(1).1).ok().unwrap();
    let foreign = Some(VaultError::KeyOfAnotherVault);
    assert_eq!(Vault::unlock_with_key(&saved(&other), &key, guard(1).1).err(), foreign);
    let mut damaged = before;
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let error = Vault::unlock_with_key(&damaged, &key, guard(1).1).err();
    assert!(matches!(error, Some(VaultError::Damaged { .. })));
    assert_eq!(Vault::check_with_key(&damaged, &key).err(), error);
    damaged[last] ^= 1;
    assert_eq!(Vault::check_with_key(&damaged, &key), Ok(()));
}

#[test]
fn other_bytes_are_no_unlock_key() {
    let key = Vault::unlock_key(&saved(&made()), &old()).ok().unwrap();
    let kept = key.expose_to_keyring();
    let not_a_key = Some(VaultError::NotAnUnlockKey);
    for length in 0..kept.len() {
        assert_eq!(UnlockKey::from_keyring(&kept[..length]).err(), not_a_key);
    }
    let longer = [kept.as_slice(), &[0]].concat();
    assert_eq!(UnlockKey::from_keyring(&longer).err(), not_a_key);
    let mut later = kept.clone();
    later[0] = 2;
    assert_eq!(UnlockKey::from_keyring(&later).err(), not_a_key);
}

#[test]
fn a_vault_without_a_file_signs_and_keeps_states_and_has_no_passphrase() {
    let mut vault = filled(guard(1).1);
    let ephemeral = Err(VaultError::Ephemeral);
    assert_eq!(vault.rotate(&old(), &mut entropy(7)), ephemeral);
    assert_eq!(vault.change_passphrase(&old(), &new(), KdfParams::FLOOR, &mut entropy(7)), ephemeral);
    assert_ne!(vault.public_key(), [0; 32]);
    assert_ne!(vault.public_key(), Vault::ephemeral(&mut entropy(99), guard(1).1).public_key());
    vault.set_state(StateName::Settings, b"", &mut entropy(7)).unwrap();
    assert_eq!(vault.state(StateName::Settings).unwrap().unwrap().as_slice(), b"");
    assert_eq!(vault.state(StateName::Consents), Ok(None));
    vault.lock();
    assert_eq!(vault.state(StateName::Settings), Err(VaultError::Locked));
    assert_eq!(vault.set_state(StateName::Settings, b"", &mut entropy(7)), Err(VaultError::Locked));
}

#[test]
fn each_state_is_separate_and_replaced_as_a_whole() {
    let mut vault = made();
    for (number, name) in StateName::ALL.into_iter().enumerate() {
        vault.set_state(name, &vec![number as u8; 1 + 6_000 * number], &mut entropy(10)).unwrap();
    }
    let too_long = VaultError::StateTooLong { name: StateName::Consents, limit: 65_536 };
    assert_eq!(vault.set_state(StateName::Consents, &[0; 65_537], &mut entropy(11)), Err(too_long));
    let opened = open(&saved(&vault), &old()).ok().unwrap();
    for (number, name) in StateName::ALL.into_iter().enumerate() {
        assert_eq!(*opened.state(name).unwrap().unwrap(), vec![number as u8; 1 + 6_000 * number]);
    }
    // The vault had two changes before, and each state is one more.
    assert_eq!(opened.generation(), 2 + StateName::ALL.len() as u64);
}
