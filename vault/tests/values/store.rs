//! Making, saving, unlocking, changing and locking a vault.

use crate::common::{NOW, entropy, filled, guard, page, payment_grant, seen};
use sirl::{Field, FieldSet};
use vault::{Binding, KdfParams, Match, ReleaseError, Secret, Vault, VaultError};

const NUMBER: &str = "4929 1234 5678 9012";

fn made() -> (Vec<u8>, Vault) {
    let mut entropy = entropy(5);
    let mut vault =
        Vault::create(&Secret::new("open sesame"), &mut entropy, KdfParams::FLOOR, guard(1).1).ok().unwrap();
    vault
        .insert("card:personal", Field::CardNumber, Secret::new(NUMBER), &Binding::Anywhere, &mut entropy)
        .unwrap();
    vault
        .insert("card:personal", Field::CardExpiry, Secret::new("08/29"), &Binding::Anywhere, &mut entropy)
        .unwrap();
    (vault.to_bytes(&mut entropy).unwrap(), vault)
}

#[test]
fn a_saved_vault_opens_only_with_its_passphrase() {
    let (bytes, vault) = made();
    let (mut point, verifier) = guard(1);
    let opened = Vault::unlock(&bytes, &Secret::new("open sesame"), verifier).ok().unwrap();
    assert!(opened.entries().eq(vault.entries()));
    assert_eq!((opened.id(), opened.generation()), (vault.id(), 2));
    let card = opened.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).ok().unwrap();
    assert!(card.open(|card| card.number() == NUMBER.as_bytes() && card.expiry() == b"08/29"));
    for wrong in ["open sesame ", "", "Open sesame"] {
        let error = Vault::unlock(&bytes, &Secret::new(wrong), guard(1).1).err();
        assert_eq!(error, Some(VaultError::WrongPassphrase));
    }
}

#[test]
fn no_value_handle_or_passphrase_is_in_the_file() {
    let (bytes, _) = made();
    for secret in [NUMBER, "4929", "08/29", "card:", "personal", "card_number", "open sesame"] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
    }
}

#[test]
fn two_saves_share_only_the_header_and_the_records() {
    let (bytes, vault) = made();
    let again = vault.to_bytes(&mut entropy(6)).unwrap();
    assert_eq!(bytes.len(), again.len());
    assert_eq!(bytes[..164], again[..164]);
    assert_ne!(bytes[164..188], again[164..188]);
    assert_eq!(bytes[716..], again[716..]);
}

#[test]
fn other_versions_and_foreign_bytes_are_named() {
    let (mut bytes, _) = made();
    let unlock = |bytes: &[u8]| Vault::unlock(bytes, &Secret::new("open sesame"), guard(1).1).err().unwrap();
    assert_eq!(unlock(b"PK\x03\x04 something else"), VaultError::NotAVault);
    let key = Vault::unlock_key(&bytes, &Secret::new("open sesame")).ok().unwrap();
    for version in [0_u8, 1, 3, 255] {
        bytes[8] = version;
        let error = unlock(&bytes);
        assert_eq!(error, VaultError::UnsupportedVersion { found: version.into() });
        assert_eq!(Vault::check_with_key(&bytes, &key), Err(error.clone()));
        let expected =
            format!("the vault file has format version {version}, and this program reads version 2");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn locking_drops_the_keys_and_reopening_restores_them() {
    let (_, mut vault) = made();
    vault.lock();
    assert!(vault.is_locked());
    let mut entropy = entropy(7);
    let new = Secret::new("x");
    assert_eq!(
        vault.insert("card:new", Field::CardNumber, new, &Binding::Anywhere, &mut entropy),
        Err(VaultError::Locked)
    );
    assert_eq!(vault.remove("card:personal"), Err(VaultError::Locked));
    assert_eq!(vault.to_bytes(&mut entropy), Err(VaultError::Locked));
    assert_eq!(vault.reopen(&Secret::new("wrong")), Err(VaultError::WrongPassphrase));
    assert!(vault.is_locked());
    vault.reopen(&Secret::new("open sesame")).unwrap();
    assert_eq!(vault.scan(NUMBER).unwrap().len(), 1);
}

#[test]
fn a_vault_for_one_session_is_never_written() {
    let mut vault = filled(guard(1).1);
    assert_eq!(vault.to_bytes(&mut entropy(8)), Err(VaultError::Ephemeral));
    vault.lock();
    assert_eq!(vault.reopen(&Secret::new("")), Err(VaultError::Ephemeral));
}

#[test]
fn a_new_value_replaces_the_old_one_in_its_place() {
    let (_, mut vault) = made();
    let before: Vec<_> = vault.entries().map(|e| (e.handle.to_owned(), e.field)).collect();
    let new = Secret::new("5500 0000 0000 0004");
    vault.insert("card:personal", Field::CardNumber, new, &Binding::Anywhere, &mut entropy(9)).unwrap();
    assert!(vault.entries().map(|e| (e.handle.to_owned(), e.field)).eq(before));
    assert!(vault.scan(NUMBER).unwrap().is_empty());
    assert_eq!(vault.scan("5500000000000004").unwrap().len(), 1);
    assert_eq!(vault.generation(), 3);
}

#[test]
fn bad_input_changes_nothing() {
    let (_, mut vault) = made();
    let mut insert = |handle: &str, value: Vec<u8>| {
        vault
            .insert(handle, Field::CardExpiry, Secret::new(value), &Binding::Anywhere, &mut entropy(10))
            .err()
    };
    assert_eq!(insert("card personal", b"123".to_vec()), Some(VaultError::BadHandle));
    assert_eq!(insert("card:4929123456789012", b"123".to_vec()), Some(VaultError::BadHandle));
    assert_eq!(insert("card:personal", Vec::new()), Some(VaultError::EmptyValue(Field::CardExpiry)));
    assert_eq!(insert("card:personal", vec![0xff; 3]), Some(VaultError::ValueNotText(Field::CardExpiry)));
    let limit = VaultError::ValueTooLong { field: Field::CardExpiry, limit: 4094 };
    assert_eq!(insert("card:personal", vec![b'1'; 4095]), Some(limit));
    assert_eq!((vault.entries().count(), vault.generation()), (2, 2));
}

#[test]
fn has_tells_which_fields_are_stored() {
    let vault = filled(guard(1).1);
    let address = FieldSet::EMPTY.with(Field::Street).with(Field::City);
    assert!(vault.has(address, None));
    assert!(vault.has(address, Some("address:home")));
    assert!(!vault.has(address.with(Field::Name), Some("address:home")));
    assert!(vault.has(address.with(Field::Name), None));
    assert!(!vault.has(FieldSet::EMPTY.with(Field::Phone), None));
}

#[test]
fn the_scan_returns_places_and_entries() {
    let vault = filled(guard(1).1);
    let text = "ship to RUA DAS FLORES 77, xcoimbrax; cc=4111%201111%201111%201111";
    let matches = vault.scan(text).unwrap();
    let found: Vec<_> = matches.iter().map(|m| (m.field, &text[m.span.clone()], m.whole_word)).collect();
    assert_eq!(
        found,
        [
            (Field::Street, "RUA DAS FLORES 77", true),
            (Field::City, "coimbra", false),
            (Field::CardNumber, "4111%201111%201111%201111", true),
        ]
    );
    let released = [("address:home", Field::City), ("address:gone", Field::City)];
    let expected =
        Match { span: 28..35, handle: "address:home".into(), field: Field::City, whole_word: false };
    assert_eq!(vault.scan_released(text, &released), Ok(vec![expected]));
    assert_eq!(vault.scan_released::<&str>(text, &[]), Ok(Vec::new()));
}

/// An empty result would mean that the text is clean.
#[test]
fn a_locked_vault_never_calls_a_text_clean() {
    let mut vault = Vault::ephemeral(&mut entropy(13), guard(1).1);
    assert_eq!(vault.scan("anything"), Ok(Vec::new()));
    vault.lock();
    assert_eq!(vault.scan("anything"), Err(ReleaseError::Locked));
    assert_eq!(vault.scan_released::<&str>("anything", &[]), Err(ReleaseError::Locked));
}

/// No text of the vault holds a value.
#[test]
fn nothing_printed_holds_a_value() {
    let canary = "Zqxjkvb 0918273645";
    let mut entropy = entropy(12);
    let mut vault = Vault::ephemeral(&mut entropy, guard(1).1);
    vault
        .insert("identity:me", Field::GovernmentId, Secret::new(canary), &Binding::Anywhere, &mut entropy)
        .unwrap();
    let long = Secret::new(canary.repeat(300));
    let too_long =
        vault.insert("identity:me", Field::GovernmentId, long, &Binding::Anywhere, &mut entropy).unwrap_err();
    let bad_handle = vault
        .insert("identity:Zqxjkvb", Field::Name, Secret::new(canary), &Binding::Anywhere, &mut entropy)
        .unwrap_err();
    let matches = vault.scan(canary).unwrap();
    assert_eq!(matches.len(), 1);
    let entries: Vec<_> = vault.entries().collect();
    let said = format!("{too_long} {too_long:?} {bad_handle} {bad_handle:?} {matches:?} {entries:?}");
    assert!(vault.scan(&said).unwrap().is_empty(), "{said}");
    assert!(!said.contains("Zqxjkvb") && !said.contains("0918273645"), "{said}");
}
