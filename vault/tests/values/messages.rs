//! No message holds a value, a passphrase or a key, and each is in words.

use crate::common::{entropy, guard};
use sirl::Field;
use vault::{
    Binding, BindingError, KdfParams, ReleaseError, Secret, Section, StateName, UnlockKey, Vault, VaultError,
};

const CANARY: &str = "Zqxjkvb 0918273645";

fn secret() -> Secret {
    Secret::new(CANARY)
}

/// Every error of the vault. Where a call can produce the error, it does, with a canary as value, passphrase and
/// key.
fn errors() -> Vec<VaultError> {
    let mut entropy = entropy(12);
    let mut vault = Vault::create(&secret(), &mut entropy, KdfParams::FLOOR, guard(1).1).ok().unwrap();
    let anywhere = Binding::Anywhere;
    let site = Binding::parse("site shop.example").unwrap();
    let long = Binding::parse(&format!("https://{}.example", "a".repeat(400))).unwrap();
    vault.insert("identity:me", Field::GovernmentId, secret(), &anywhere, &mut entropy).unwrap();
    let bytes = vault.to_bytes(&mut entropy).unwrap();
    let mut later = bytes.clone();
    if let Some(slot) = later.get_mut(8) {
        *slot = 9;
    }
    let mut damaged = bytes.clone();
    if let Some(slot) = damaged.last_mut() {
        *slot ^= 1;
    }
    let mut errors = Vec::new();
    let mut insert = |handle: &str, field, value, binding: &Binding| {
        errors.extend(vault.insert(handle, field, value, binding, &mut entropy).err());
    };
    insert("identity:Zqxjkvb", Field::Name, secret(), &anywhere);
    insert("identity:me", Field::CardCode, secret(), &anywhere);
    insert("login:me", Field::Name, secret(), &anywhere);
    insert("identity:me", Field::GovernmentId, secret(), &site);
    insert("identity:me", Field::Name, secret(), &long);
    insert("identity:me", Field::Name, Secret::new(CANARY.repeat(300)), &anywhere);
    insert("identity:me", Field::Name, Secret::new(""), &anywhere);
    insert("identity:me", Field::Name, Secret::new([CANARY.as_bytes(), &[0xff]].concat()), &anywhere);
    errors.extend(vault.rebind("identity:me", Field::City, &anywhere, &mut entropy).err());
    errors
        .extend(vault.set_state(StateName::Consents, &CANARY.repeat(4000).into_bytes(), &mut entropy).err());
    errors.extend(vault.rotate(&Secret::new("Zqxjkvb"), &mut entropy).err());
    for file in [b"Zqxjkvb".as_slice(), &later, &damaged, bytes.get(..300).unwrap(), bytes.get(..99).unwrap()]
    {
        errors.extend(Vault::unlock(file, &secret(), guard(1).1).err());
    }
    errors.extend(UnlockKey::from_keyring(CANARY.as_bytes()).err());
    let key = Vault::unlock_key(&bytes, &secret()).ok().unwrap();
    let other = Vault::create(&secret(), &mut entropy, KdfParams::FLOOR, guard(1).1).ok().unwrap();
    errors.extend(Vault::unlock_with_key(&other.to_bytes(&mut entropy).unwrap(), &key, guard(1).1).err());
    vault.rotate(&secret(), &mut entropy).unwrap();
    errors.extend(Vault::unlock_with_key(&vault.to_bytes(&mut entropy).unwrap(), &key, guard(1).1).err());
    vault.lock();
    errors.extend(vault.sign(CANARY.as_bytes()).err());
    errors.extend(KdfParams::new(1, 1, 1).err());
    assert_eq!(errors.len(), 21);
    errors.extend([
        VaultError::UnsupportedSuite { suite: 2, kdf: 3 },
        VaultError::OutOfMemory,
        VaultError::Full { limit: 1024 },
        VaultError::ValueDamaged(Field::Name),
        VaultError::StateDamaged(StateName::AuditHead),
        VaultError::SigningDamaged,
        VaultError::MadeByTheGuard,
        VaultError::Ephemeral,
        VaultError::ExportPassphraseNotText,
        VaultError::Damaged { section: Section::SigningKey, offset: 9 },
        VaultError::Damaged { section: Section::State(StateName::Phrase), offset: 9 },
        VaultError::Damaged { section: Section::End, offset: 9 },
        VaultError::Damaged { section: Section::Manifest, offset: 9 },
    ]);
    errors
}

/// Checks that a message starts in lower case, has no full stop, names no type and does not hold the canary.
fn check_message(message: &str, debug: &str) {
    let said = format!("{message} {debug}");
    assert!(!said.contains("Zqxjkvb") && !said.contains("0918273645"), "{said}");
    assert!(message.starts_with(char::is_lowercase) && !message.ends_with('.'), "{message}");
    assert!(message.is_ascii() && !message.contains("::") && !message.contains("Error"), "{message}");
    assert!(message.split(' ').count() > 2, "{message}");
}

#[test]
fn no_message_holds_a_value() {
    for error in errors() {
        check_message(&error.to_string(), &format!("{error:?}"));
    }
    for field in Field::ALL {
        for error in
            [ReleaseError::NoValue(field), ReleaseError::NotGranted(field), ReleaseError::Damaged(field)]
        {
            check_message(&error.to_string(), &format!("{error:?}"));
        }
    }
    for text in ["Zqxjkvb", "https://user:Zqxjkvb@shop.example", "ftp://Zqxjkvb"] {
        let error: BindingError = Binding::parse(text).unwrap_err();
        check_message(&error.to_string(), &format!("{error:?}"));
    }
}
