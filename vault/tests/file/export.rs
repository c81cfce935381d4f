//! An export opens with the `age` library, comes back whole, and changes nothing where it does not.

use std::io::{Read, Write};

use crate::common::{entropy, guard};
use age::secrecy::SecretString;
use browser_signals::Origin;
use serde_json::{Value, json};
use sirl::Field;
use vault::{Binding, ExportCost, ImportError, Imported, KdfParams, Secret, StateName, Vault, VaultError};

const VALUES: [(&str, Field, &str, &str); 4] = [
    ("contact:me", Field::Name, "anywhere", "Zo\u{eb} \"Q\" \\ \t Quintela \u{1f511}"),
    ("card:personal", Field::CardNumber, "anywhere", "4111 1111 1111 1111"),
    ("login:shop", Field::Password, "https://shop.example", "Zq7-opal-kettle"),
    ("contact:me", Field::Email, "site shop.example", "zoe@mail.example"),
];

fn passphrase() -> Secret {
    Secret::new("open sesame")
}

fn other() -> Secret {
    Secret::new("carry sesame")
}

fn empty() -> Vault {
    Vault::create(&passphrase(), &mut entropy(5), KdfParams::FLOOR, guard(1).1).ok().unwrap()
}

fn made() -> Vault {
    let mut vault = empty();
    for (handle, field, bound, value) in VALUES {
        let bound = Binding::parse(bound).unwrap();
        vault.insert(handle, field, Secret::new(value), &bound, &mut entropy(6)).unwrap();
    }
    let shop = Binding::Origin(Origin::parse("https://shop.example").unwrap());
    let code = Secret::new("900817");
    vault.insert_for_task("otp:now", Field::OneTimeCode, code, &shop, &mut entropy(7)).unwrap();
    vault.set_state(StateName::Phrase, b"green kettles", &mut entropy(8)).unwrap();
    vault
}

fn exported(vault: &Vault) -> Vec<u8> {
    vault.export(&passphrase(), &other(), ExportCost::FLOOR).unwrap()
}

/// Opens an export as the `age` command does.
fn opened(file: &[u8]) -> Vec<u8> {
    let identity = age::scrypt::Identity::new(SecretString::from("carry sesame".to_owned()));
    let mut reader =
        age::Decryptor::new(file).unwrap().decrypt(std::iter::once(&identity as &dyn age::Identity)).unwrap();
    let mut text = Vec::new();
    reader.read_to_end(&mut text).unwrap();
    text
}

/// Writes an export as another program would.
fn sealed(document: &[u8], log_n: u8) -> Vec<u8> {
    let mut recipient = age::scrypt::Recipient::new(SecretString::from("carry sesame".to_owned()));
    recipient.set_work_factor(log_n);
    let encryptor =
        age::Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient)).unwrap();
    let mut file = Vec::new();
    let mut writer = encryptor.wrap_output(&mut file).unwrap();
    writer.write_all(document).unwrap();
    writer.finish().unwrap();
    file
}

fn import(vault: &mut Vault, file: &[u8]) -> Result<Imported, ImportError> {
    vault.import(file, &other(), &mut entropy(9))
}

#[test]
fn an_export_is_an_age_file_with_a_json_document() {
    let file = exported(&made());
    assert!(file.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    let text = opened(&file);
    assert_eq!(text.len(), 2 * 64 * 1024);
    let document: Value = serde_json::from_slice(&text).unwrap();
    let values: Vec<Value> = VALUES
        .iter()
        .map(|(handle, field, binding, value)| {
            json!({"handle": handle, "field": field.as_str(), "binding": binding, "value": value})
        })
        .collect();
    assert_eq!(document, json!({"format": "portcullis vault values", "version": 1, "values": values}));
}

#[test]
fn an_export_comes_back_whole() {
    let vault = made();
    let file = exported(&vault);
    let mut new = empty();
    assert_eq!(import(&mut new, &file), Ok(Imported { added: 4, replaced: 0 }));
    assert!(new.entries().eq(vault.entries().filter(|entry| !entry.for_task)));
    assert_eq!(opened(&exported(&new)), opened(&file));
    assert_eq!(import(&mut new, &file), Ok(Imported { added: 0, replaced: 4 }));
    assert!(new.entries().all(|entry| entry.version == 2));
    assert_eq!(new.generation(), 8);
    assert!(new.state(StateName::Phrase).unwrap().is_none());
}

#[test]
fn an_export_needs_the_vaults_passphrase() {
    let mut vault = made();
    let export =
        |vault: &Vault, passphrase: &Secret| vault.export(passphrase, &other(), ExportCost::FLOOR).err();
    assert_eq!(export(&vault, &other()), Some(VaultError::WrongPassphrase));
    let bytes = Secret::new([0xff, 0xfe]);
    let not_text = vault.export(&passphrase(), &bytes, ExportCost::FLOOR).err();
    assert_eq!(not_text, Some(VaultError::ExportPassphraseNotText));
    vault.lock();
    assert_eq!(export(&vault, &passphrase()), Some(VaultError::Locked));
    assert_eq!(import(&mut vault, b"").err(), Some(ImportError::Vault(VaultError::Locked)));
    let ephemeral = Vault::ephemeral(&mut entropy(1), guard(1).1);
    assert_eq!(export(&ephemeral, &passphrase()), Some(VaultError::Ephemeral));
    for (log_n, accepted) in [(0, false), (13, false), (14, true), (20, true), (21, false), (255, false)] {
        assert_eq!(ExportCost::new(log_n).is_ok(), accepted);
    }
}

#[test]
fn an_invalid_export_changes_nothing() {
    let mut vault = made();
    let before = vault.to_bytes(&mut entropy(1)).unwrap();
    let file = exported(&vault);
    let mut fails = |file: &[u8], expected: ImportError| {
        assert_eq!(import(&mut vault, file), Err(expected));
    };
    fails(b"", ImportError::NotAnExport);
    fails(&before, ImportError::NotAnExport);
    fails(&file[..100], ImportError::NotAnExport);
    for cut in [1, 20, 64 * 1024 + 16, 64 * 1024 + 100] {
        fails(&file[..file.len() - cut], ImportError::Damaged);
    }
    fails(&[file.as_slice(), &[0]].concat(), ImportError::Damaged);
    for place in [file.len() - 1, file.len() / 2, file.len() / 3] {
        let mut damaged = file.clone();
        damaged[place] ^= 1;
        fails(&damaged, ImportError::Damaged);
    }
    fails(&sealed(b"", 14), ImportError::NotADocument { line: 1, column: 0 });
    fails(&sealed(b"{}", 14), ImportError::NotADocument { line: 1, column: 2 });
    let document = |format: &str, version: u32, values: Value| {
        let text = json!({"format": format, "version": version, "values": values}).to_string();
        sealed(text.as_bytes(), 14)
    };
    let another = ImportError::NotADocument { line: 0, column: 0 };
    fails(&document("portcullis vault value", 1, json!([])), another.clone());
    fails(&document("portcullis vault values", 2, json!([])), another);
    let good = json!({"handle": "contact:x", "field": "name", "binding": "anywhere", "value": "Ana"});
    let mut with = |key: &str, text: Value, expected: ImportError| {
        let mut bad = good.clone();
        bad[key] = text;
        fails(&document("portcullis vault values", 1, json!([good, bad])), expected);
    };
    let unknown = |what| ImportError::Unknown { place: 2, what };
    let value = |error| ImportError::Value { place: 2, error };
    with("handle", json!("contact x"), value(VaultError::BadHandle));
    with("field", json!("nam"), unknown("a field"));
    with("field", json!("card_code"), value(VaultError::NeverStored(Field::CardCode)));
    with("binding", json!("here"), unknown("a binding"));
    with("value", json!(4), unknown("a text"));
    with("value", json!(""), value(VaultError::EmptyValue(Field::Name)));
    with("handle", json!("login:x"), value(VaultError::NeedsBinding(Field::Name)));
    with("value", json!("Bea"), ImportError::Twice { place: 2 });
    let street = json!({"handle": "address:x", "field": "street", "binding": "site a.example", "value": "1"});
    let site = ImportError::Value { place: 1, error: VaultError::NeverToASite(Field::Street) };
    fails(&document("portcullis vault values", 1, json!([street])), site);
    let many: Vec<Value> = (0..1021)
        .map(|number| {
            let name: String =
                format!("{number:04}").bytes().map(|digit| char::from(digit + b'a' - b'0')).collect();
            json!({"handle": format!("contact:{name}"), "field": "name", "binding": "anywhere", "value": "A"})
        })
        .collect();
    let full = ImportError::Vault(VaultError::Full { limit: 1024 });
    fails(&document("portcullis vault values", 1, json!(many)), full);
    let wrong = vault.import(&file, &passphrase(), &mut entropy(9));
    assert_eq!(wrong, Err(ImportError::WrongPassphrase));
    assert_eq!(vault.to_bytes(&mut entropy(1)).unwrap(), before);
}

/// A costly file is refused before any work on it.
#[test]
fn a_file_that_would_stall_the_program_is_refused() {
    let mut file = sealed(b"{}", 14);
    let place = file.windows(4).position(|window| window == b" 14\n").unwrap();
    file[place + 1..place + 3].copy_from_slice(b"21");
    assert_eq!(import(&mut made(), &file), Err(ImportError::TooCostly));
}

/// An import error does not repeat what was read.
#[test]
fn no_message_repeats_a_value() {
    let mut vault = empty();
    for bad in [
        json!({"handle": 4, "field": "name", "binding": "anywhere", "value": "Qzxcanary 551"}),
        json!({"handle": "contact:x", "field": ["Qzxcanary 551"], "binding": "anywhere", "value": "a"}),
        json!({"handle": "Qzxcanary 551", "field": "Qzxcanary 551", "binding": "anywhere", "value": "a"}),
        json!({"handle": "Qzxcanary 551", "field": "name", "binding": "Qzxcanary 551", "value": "a"}),
        json!({"handle": "Qzxcanary 551", "field": "name", "binding": "anywhere", "value": "a"}),
        json!({"handle": "contact:x", "field": "name", "binding": "anywhere", "value": ["Qzxcanary 551"]}),
        json!({"handle": "contact:x", "field": "name", "binding": "anywhere", "Qzxcanary 551": "Qzxcanary 551"}),
    ] {
        let text = json!({"format": "portcullis vault values", "version": 1, "values": [bad]}).to_string();
        let error = import(&mut vault, &sealed(text.as_bytes(), 14)).unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(!said.contains("canary") && !said.contains("551"), "{said}");
    }
}
