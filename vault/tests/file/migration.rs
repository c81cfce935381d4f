//! A file of format 1, written by the code of that time, opens and becomes one of format 2.
//!
//! `fixtures/v1.vault` was written on 21 Nov 2026 with passphrase `an old passphrase` and the lowest costs, and
//! holds the values below, one card number of version 2, and a card code.

use crate::common::{NOW, entropy, guard, page, payment_grant, seen};
use browser_signals::Origin;
use sha2::{Digest, Sha256};
use sirl::{Field, FieldSet, Kind};
use vault::{Binding, Secret, Section, UnlockKey, Vault, VaultError};

const OLD: &[u8] = include_bytes!("../fixtures/v1.vault");

const VALUES: [(&str, Field, &str); 8] = [
    ("contact:me", Field::Name, "Maria Quintela"),
    ("contact:me", Field::Email, "maria.quintela@mail.example"),
    ("card:personal", Field::CardNumber, "4111 1111 1111 1111"),
    ("card:personal", Field::CardExpiry, "12/31"),
    ("address:home", Field::Street, "Rua das Flores 77"),
    ("address:home", Field::City, "Coimbra"),
    ("login:shop", Field::Email, "quintela@shop.example"),
    ("login:shop", Field::Password, "Zq7-opal-kettle"),
];

fn passphrase() -> Secret {
    Secret::new("an old passphrase")
}

fn migrated() -> Vault {
    Vault::unlock(OLD, &passphrase(), guard(1).1).ok().unwrap()
}

fn holds_everything(vault: &Vault) {
    let entries: Vec<_> = vault.entries().map(|e| (e.handle, e.field)).collect();
    assert_eq!(entries, VALUES.map(|(handle, field, _)| (handle, field)));
    for (handle, field, value) in VALUES {
        let found = vault.scan(value).unwrap();
        assert!(found.iter().any(|m| m.handle == handle && m.field == field && m.span == (0..value.len())));
    }
    let version = vault.entries().find(|e| e.field == Field::CardNumber).unwrap().version;
    assert_eq!((version, vault.generation()), (2, 10));
}

#[test]
fn an_old_file_opens_whole_and_is_written_in_the_new_format() {
    let vault = migrated();
    assert_eq!(vault.format_found(), 1);
    holds_everything(&vault);
    let bytes = vault.to_bytes(&mut entropy(1)).unwrap();
    let again = Vault::unlock(&bytes, &passphrase(), guard(1).1).ok().unwrap();
    assert_eq!(again.format_found(), 2);
    assert_eq!((again.id(), again.public_key()), (vault.id(), vault.public_key()));
    holds_everything(&again);
    assert!(again.left_out().is_empty());
    let key = Vault::unlock_key(&bytes, &passphrase()).ok().unwrap();
    holds_everything(&Vault::unlock_with_key(&bytes, &key, guard(1).1).ok().unwrap());
}

#[test]
fn a_payment_is_made_from_an_old_file() {
    let (mut point, verifier) = guard(1);
    let vault = Vault::unlock(OLD, &passphrase(), verifier).ok().unwrap();
    let card = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).ok().unwrap();
    assert!(card.open(|card| card.number() == b"4111 1111 1111 1111" && card.code().is_none()));
}

#[test]
fn a_card_code_is_left_out_and_named() {
    let vault = migrated();
    assert_eq!(vault.left_out(), [("card:personal".to_owned(), Field::CardCode)]);
    assert!(vault.scan("737").unwrap().is_empty());
}

/// The old format did not say what a login is for, so it is for nothing until somebody says.
#[test]
fn an_old_login_goes_nowhere_until_it_is_bound() {
    let mut vault = migrated();
    let login = FieldSet::EMPTY.with(Field::Email).with(Field::Password);
    let shop = Origin::parse("https://shop.example").unwrap();
    let unbound: Vec<_> = vault.entries().filter(|e| e.needs_binding()).map(|e| e.field).collect();
    assert_eq!(unbound, [Field::Email, Field::Password]);
    let contact = ("contact:me".to_owned(), Field::Email);
    assert_eq!(vault.suppliers(Kind::Login, login, &shop), [contact]);
    for field in login.iter() {
        vault.rebind("login:shop", field, &Binding::Origin(shop.clone()), &mut entropy(2)).unwrap();
    }
    let supplied = login.iter().map(|field| ("login:shop".to_owned(), field)).collect::<Vec<_>>();
    assert_eq!(vault.suppliers(Kind::Login, login, &shop), supplied);
    assert_eq!(vault.scan("Zq7-opal-kettle").unwrap().len(), 1);
    assert!(!vault.entries().any(|e| e.needs_binding()));
}

/// Nothing new is drawn when an old file is opened, so that opening it twice gives one signing key. What is
/// derived hangs on the whole file: two old files never share a nonce.
#[test]
fn the_same_old_file_gives_the_same_vault() {
    let save = || migrated().to_bytes(&mut entropy(3)).unwrap();
    assert_eq!(save(), save());
    assert_eq!(migrated().public_key(), migrated().public_key());
}

#[test]
fn an_old_file_needs_its_passphrase_once() {
    assert_eq!(Vault::unlock_key(OLD, &passphrase()).err(), Some(VaultError::OlderFormat { found: 1 }));
    let bytes = migrated().to_bytes(&mut entropy(4)).unwrap();
    let key: UnlockKey = Vault::unlock_key(&bytes, &passphrase()).ok().unwrap();
    let error = Vault::unlock_with_key(OLD, &key, guard(1).1).err();
    assert_eq!(error, Some(VaultError::OlderFormat { found: 1 }));
    let wrong = Vault::unlock(OLD, &Secret::new("another"), guard(1).1).err();
    assert_eq!(wrong, Some(VaultError::WrongPassphrase));
}

/// The header's sum is the one thing that hides the rest, so it is made right here.
#[test]
fn a_damaged_old_file_is_noticed() {
    let open = |bytes: &[u8]| Vault::unlock(bytes, &passphrase(), guard(1).1).err();
    let flip = |place: usize| {
        let mut bytes = OLD.to_vec();
        bytes[place] ^= 1;
        bytes
    };
    assert_eq!(open(&flip(60)), Some(VaultError::Damaged { section: Section::Header, offset: 0 }));
    assert_eq!(open(&flip(200)), Some(VaultError::Damaged { section: Section::Manifest, offset: 144 }));
    let last = OLD.len() - 1;
    assert!(matches!(open(&flip(last)), Some(VaultError::Damaged { section: Section::Record(9), .. })));
    assert!(matches!(open(&OLD[..last]), Some(VaultError::Truncated { section: Section::Record(9), .. })));
    // Called by another version number, an old file is not read as a new one.
    let mut renamed = OLD.to_vec();
    renamed[8] = 2;
    let sum = Sha256::digest(&renamed[..144]);
    renamed[144..160].copy_from_slice(&sum[..16]);
    assert_eq!(open(&renamed), Some(VaultError::WrongPassphrase));
}
