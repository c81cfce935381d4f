//! 1Password and Bitwarden, against stubs of their command lines: no account is there for the real ones. The stubs print what the programs' documents say, in the form of
//! `op` 2.31 and `bw` 2026.9.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

#[path = "support/script.rs"]
mod script;
mod support;

use std::fs;
use std::path::PathBuf;

use credential_sources::bitwarden::Bitwarden;
use credential_sources::one_password::OnePassword;
use support::{grant, origin};
use tempfile::TempDir;
use vault::Secret;
use vault::sources::{Account, Fetched, FetchedCode, FetchedValues, Source, SourceError};

const SHOP: &str = "https://shop.example";

/// A program that notes its arguments and goes on with a script.
struct Stub(TempDir);

impl Stub {
    fn new(script: &str) -> Stub {
        let folder = tempfile::tempdir().unwrap();
        let noted = folder.path().join("noted");
        let script = format!("#!/bin/sh\necho \"$*\" >>'{}'\n{script}\n", noted.display());
        script::write(&folder.path().join("program"), &script);
        Stub(folder)
    }

    fn program(&self) -> PathBuf {
        self.0.path().join("program")
    }

    fn noted(&self) -> Vec<String> {
        let noted = fs::read_to_string(self.0.path().join("noted")).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }
}

fn is(value: Option<&Secret>, text: &str) -> bool {
    value.is_some_and(|value| value.is_same(&Secret::new(text)))
}

fn values(fetched: Result<Fetched, SourceError>) -> FetchedValues {
    match fetched {
        Ok(Fetched::Values(values)) => values,
        Ok(_) => panic!("no values"),
        Err(error) => panic!("{error}"),
    }
}

const ITEMS: &str = r#"[
 {"id":"aaaa1111","title":"Shop","version":2,"vault":{"id":"vvvv","name":"Personal"},"category":"LOGIN",
  "additional_information":"ana","urls":[{"label":"website","primary":true,"href":"https://shop.example/login"}]},
 {"id":"bbbb2222","title":"Shop, for work","vault":{"id":"vvvv"},"category":"LOGIN","urls":[{"href":"https://shop.example"}]},
 {"id":"cccc3333","title":"Sub","vault":{"id":"vvvv"},"category":"LOGIN","additional_information":"eve","urls":[{"href":"https://www.shop.example"},
  {"href":"http://shop.example"},{"href":"https://shop.example:8443"},{"href":"https://shop.example.evil.test"},{"href":"shop.example"}]},
 {"id":"dddd4444","title":"Without an address","vault":{"id":"vvvv"},"category":"LOGIN"}]"#;

fn one_password() -> Stub {
    Stub::new(&format!(
        "case \"$*\" in\nwhoami) echo URL;;\n'item list --categories Login --format json') cat <<'END'\n{ITEMS}\nEND\n;;\n\
         'read --no-newline op://vvvv/aaaa1111/username') printf ana;;\n\
         'read --no-newline op://vvvv/aaaa1111/password') printf 'opal kettle';;\n\
         'read --no-newline op://vvvv/aaaa1111/one-time password?attribute=otp') printf 492813;;\n\
         *) echo '[ERROR] hunter2' >&2; exit 1;;\nesac"
    ))
}

#[tokio::test]
async fn one_password_lists_exactly_the_sites_logins_and_reads_the_wanted_fields() {
    let stub = one_password();
    let mut source = OnePassword::new(stub.program());
    assert_eq!(source.check().await, Ok(()));
    let accounts = source.accounts(&origin(SHOP)).await.unwrap().unwrap();
    let listed: Vec<_> = accounts.iter().map(|it| (it.id.as_str(), it.label.as_str())).collect();
    assert_eq!(listed, [("aaaa1111", "ana"), ("bbbb2222", "Shop, for work")]);
    let before = stub.noted().len();
    let found = values(source.fetch(&grant::login(SHOP), Some(&accounts[0])).await);
    assert!(is(found.username.as_ref(), "ana") && is(found.password.as_ref(), "opal kettle"));
    assert!(found.code.is_none());
    let read = stub.noted();
    assert!(!read[before..].iter().any(|line| line.contains("one-time")), "{read:?}");
    let found = values(source.fetch(&grant::code(SHOP), Some(&accounts[0])).await);
    assert!(matches!(&found.code, Some(FetchedCode::Code(code)) if code.is_same(&Secret::new("492813"))));
    assert!(found.password.is_none(), "a code wants no password");
    // An item without the field has no value; another site's item is none.
    let without = values(source.fetch(&grant::login(SHOP), Some(&accounts[1])).await);
    assert!(without.username.is_none() && without.password.is_none());
    let of_another = Account { id: "cccc3333".to_owned(), label: String::new() };
    assert!(matches!(source.fetch(&grant::login(SHOP), Some(&of_another)).await, Ok(Fetched::Nothing)));
}

#[tokio::test]
async fn a_locked_or_lying_one_password_gives_nothing() {
    for (script, error) in [
        ("exit 1", SourceError::Locked),
        ("echo nonsense hunter2", SourceError::Answer),
        ("head -c 10000000 /dev/zero", SourceError::Answer),
        (
            "echo '[{\"id\":\"../x\",\"vault\":{\"id\":\"v\"},\"urls\":[{\"href\":\"https://shop.example\"}]}]'",
            SourceError::Answer,
        ),
    ] {
        let stub = Stub::new(script);
        let mut source = OnePassword::new(stub.program());
        assert_eq!(source.accounts(&origin(SHOP)).await.err(), Some(error), "{script}");
    }
    let mut missing = OnePassword::new("/nowhere/op".into());
    assert_eq!(missing.check().await, Err(SourceError::Missing));
}

const BITWARDEN: &str = r#"[
 {"object":"item","id":"1111-aa","name":"Shop","type":1,"login":{"username":"ana","password":"opal \"kettle\"","totp":"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
  "uris":[{"match":null,"uri":"https://shop.example/login"}]}},
 {"object":"item","id":"2222-bb","name":"Sub","type":1,"login":{"username":"eve","password":"hunter2","totp":null,
  "uris":[{"uri":"https://www.shop.example"},{"uri":"http://shop.example"},{"uri":null}]}},
 {"object":"item","id":"3333-cc","name":"Note","type":2,"secureNote":{"type":0}}]"#;

fn bitwarden(items: &str) -> Stub {
    Stub::new(&format!(
        "case \"$1\" in\nstatus) echo '{{\"serverUrl\":null,\"status\":\"unlocked\"}}';;\nlist) cat <<'END'\n{items}\nEND\n;;\n*) exit 1;;\nesac"
    ))
}

#[tokio::test]
async fn bitwarden_gives_the_login_of_exactly_the_site() {
    let stub = bitwarden(BITWARDEN);
    let mut source = Bitwarden::new(stub.program());
    assert_eq!(source.check().await, Ok(()));
    assert!(source.accounts(&origin(SHOP)).await.unwrap().is_none(), "it has no list without values");
    let found = values(source.fetch(&grant::login(SHOP), None).await);
    assert!(is(found.username.as_ref(), "ana") && is(found.password.as_ref(), "opal \"kettle\""));
    assert_eq!((found.account.id.as_str(), found.account.label.as_str()), ("1111-aa", "ana"));
    assert!(matches!(found.code, Some(FetchedCode::Seed(_))));
    assert_eq!(stub.noted().last().unwrap(), "list items --nointeraction --url https://shop.example");
    assert!(matches!(source.fetch(&grant::login("https://bank.example"), None).await, Ok(Fetched::Nothing)));
}

#[tokio::test]
async fn of_several_bitwarden_logins_the_user_chooses_one() {
    let second = BITWARDEN.replace("https://www.shop.example", "https://shop.example");
    let stub = bitwarden(&second);
    let mut source = Bitwarden::new(stub.program());
    let Ok(Fetched::Several(accounts)) = source.fetch(&grant::login(SHOP), None).await else {
        panic!("not several")
    };
    let labels: Vec<_> = accounts.iter().map(|account| account.label.as_str()).collect();
    assert_eq!(labels, ["ana", "eve"]);
    let found = values(source.fetch(&grant::login(SHOP), Some(&accounts[1])).await);
    assert!(is(found.password.as_ref(), "hunter2"));
}

#[tokio::test]
async fn a_locked_or_lying_bitwarden_gives_nothing() {
    let locked = Stub::new("echo '{\"status\":\"locked\"}'");
    assert_eq!(Bitwarden::new(locked.program()).check().await, Err(SourceError::Locked));
    let two_lines = BITWARDEN.replace("opal \\\"kettle\\\"", "opal\\nkettle");
    for (items, error) in [
        ("nonsense hunter2", SourceError::Answer),
        ("{\"id\":1}", SourceError::Answer),
        (two_lines.as_str(), SourceError::Unusable),
    ] {
        let stub = bitwarden(items);
        let fetched = Bitwarden::new(stub.program()).fetch(&grant::login(SHOP), None).await;
        assert_eq!(fetched.err(), Some(error), "{items}");
    }
    let refusing = Stub::new("exit 1");
    let fetched = Bitwarden::new(refusing.program()).fetch(&grant::login(SHOP), None).await;
    assert_eq!(fetched.err(), Some(SourceError::Locked));
}
