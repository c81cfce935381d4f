//! `pass` as a source: with a mock of GnuPG that can lie, and with the real one.

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
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use credential_sources::pass::Pass;
use support::{grant, origin};
use tempfile::TempDir;
use vault::Secret;
use vault::sources::{Account, Fetched, FetchedCode, FetchedValues, Source, SourceError};

const SHOP: &str = "https://shop.example";
const ENTRY: &str = "opal kettle 71\nlogin: ana\nurl: https://shop.example/login\notpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n";

/// A store whose files are not encrypted, and a program in the place of GnuPG.
struct MockStore {
    folder: TempDir,
}

impl MockStore {
    /// The mock's script gets the file as its last argument.
    fn with(script: &str, entries: &[(&str, &str)]) -> MockStore {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in entries {
            let file = folder.path().join("store").join(format!("{name}.gpg"));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        }
        let gpg = folder.path().join("gpg");
        script::write(&gpg, &format!("#!/bin/sh\nfor file; do :; done\n{script}\n"));
        MockStore { folder }
    }

    fn pass(&self) -> Pass {
        Pass::new(self.folder.path().join("store"), self.folder.path().join("gpg"))
    }
}

fn honest(entries: &[(&str, &str)]) -> MockStore {
    MockStore::with("exec cat \"$file\"", entries)
}

fn account(name: &str) -> Account {
    Account { id: name.to_owned(), label: name.to_owned() }
}

async fn listed(pass: &mut Pass, site: &str) -> Vec<String> {
    let accounts = pass.accounts(&origin(site)).await.unwrap().unwrap();
    accounts.into_iter().map(|account| account.id).collect()
}

async fn login(pass: &mut Pass, site: &str, name: &str) -> Result<Fetched, SourceError> {
    pass.fetch(&grant::login(site), Some(&account(name))).await
}

fn values(fetched: Result<Fetched, SourceError>) -> FetchedValues {
    match fetched {
        Ok(Fetched::Values(values)) => values,
        Ok(_) => panic!("no values"),
        Err(error) => panic!("{error}"),
    }
}

/// Waits for something, with a generous end.
async fn until(is_there: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_there() {
        assert!(began.elapsed() < Duration::from_secs(120), "it did not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is(value: Option<&Secret>, text: &str) -> bool {
    value.is_some_and(|value| value.is_same(&Secret::new(text)))
}

#[tokio::test]
async fn the_entry_of_a_site_gives_its_login_and_its_seed() {
    let store = honest(&[("web/shop.example", ENTRY), ("web/bank.example", "other"), ("notes", "x")]);
    let mut pass = store.pass();
    assert_eq!(pass.check().await, Ok(()));
    assert_eq!(listed(&mut pass, SHOP).await, ["web/shop.example"]);
    let found = values(login(&mut pass, SHOP, "web/shop.example").await);
    assert!(is(found.password.as_ref(), "opal kettle 71") && is(found.username.as_ref(), "ana"));
    assert!(found.code.is_none(), "a login wants no code");
    let code = values(pass.fetch(&grant::code(SHOP), Some(&account("web/shop.example"))).await).code;
    assert!(matches!(code, Some(FetchedCode::Seed(_))));
}

#[tokio::test]
async fn an_entry_is_for_the_site_that_its_content_or_the_user_names_and_for_no_other() {
    let store = honest(&[
        ("shop.example/ana", ENTRY),
        ("shop.example/other", "secret\nurl: https://shop.example.evil.test\n"),
        ("shop.example/port", "secret\nurl: https://shop.example:8443\n"),
        ("shop.example/plain", "secret\nurl: http://shop.example\n"),
        ("shop.example/bare", "secret\nlogin: bob\n"),
    ]);
    let mut pass = store.pass();
    assert_eq!(listed(&mut pass, SHOP).await.len(), 5, "the names alone do not tell them apart");
    assert!(matches!(login(&mut pass, SHOP, "shop.example/ana").await, Ok(Fetched::Values(_))));
    for name in ["shop.example/other", "shop.example/port", "shop.example/plain"] {
        assert!(matches!(login(&mut pass, SHOP, name).await, Ok(Fetched::Nothing)), "{name}");
    }
    let error = login(&mut pass, SHOP, "shop.example/bare").await.err();
    assert_eq!(error, Some(SourceError::WithoutSite));
    // A rule of the user's says it, also for an entry whose name does not.
    let mut ruled = store.pass().with_site("shop.example/bare", origin(SHOP));
    assert!(matches!(login(&mut ruled, SHOP, "shop.example/bare").await, Ok(Fetched::Values(_))));
    let error = login(&mut ruled, "https://www.shop.example", "shop.example/bare").await.err();
    assert_eq!(error, Some(SourceError::WithoutSite));
}

#[tokio::test]
async fn what_hangs_fails_or_answers_too_much_gives_nothing() {
    for (script, expected) in [
        ("exit 2", SourceError::NotDecrypted),
        ("echo partial; exit 2", SourceError::NotDecrypted),
        ("kill -9 $$", SourceError::NotDecrypted),
        ("yes x | head -c 10000000", SourceError::Answer),
        ("printf '\\377\\376'", SourceError::Answer),
    ] {
        let store = MockStore::with(script, &[("shop.example", ENTRY)]);
        let began = Instant::now();
        let error = login(&mut store.pass(), SHOP, "shop.example").await.err();
        assert_eq!(error, Some(expected), "{script}");
        assert!(began.elapsed() < Duration::from_secs(30), "{script}");
    }
    let store = MockStore::with(
        "echo $$ > \"$(dirname \"$0\")/process\"; exec sleep 600",
        &[("shop.example", ENTRY)],
    );
    let mut pass = store.pass();
    let noted = store.folder.path().join("process");
    let is_noted = || fs::read_to_string(&noted).is_ok_and(|process| process.ends_with('\n'));
    tokio::select! {
        _ = login(&mut pass, SHOP, "shop.example") => panic!("the program hangs"),
        () = until(is_noted) => {}
    }
    // The program ends with the question.
    let process = fs::read_to_string(&noted).unwrap();
    let running = || Path::new(&format!("/proc/{}", process.trim())).exists();
    if cfg!(target_os = "linux") {
        until(|| !running()).await;
    }
}

#[tokio::test]
async fn nothing_outside_of_the_store_is_decrypted() {
    let store = honest(&[("shop.example", ENTRY)]);
    let outside = store.folder.path().join("outside.gpg");
    fs::write(&outside, "outside\nurl: https://shop.example\n").unwrap();
    std::os::unix::fs::symlink(&outside, store.folder.path().join("store/link.gpg")).unwrap();
    for name in ["../outside", "link", "/etc/passwd", "", "shop.example/../shop.example"] {
        let error = login(&mut store.pass(), SHOP, name).await.err();
        assert_eq!(error, Some(SourceError::Answer), "{name}");
    }
}

#[tokio::test]
async fn a_store_or_a_program_that_is_not_there_is_said() {
    let store = honest(&[("shop.example", ENTRY)]);
    let path = |name: &str| store.folder.path().join(name);
    let mut no_store = Pass::new(path("none"), path("gpg"));
    assert_eq!(no_store.check().await, Err(SourceError::Missing));
    assert_eq!(no_store.accounts(&origin(SHOP)).await.err(), Some(SourceError::Missing));
    let mut no_program = Pass::new(path("store"), path("none"));
    assert_eq!(login(&mut no_program, SHOP, "shop.example").await.err(), Some(SourceError::Missing));
}

/// Runs the real GnuPG with a key ring of its own.
fn gpg(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("/usr/bin/gpg");
    command.env("GNUPGHOME", home).args(["--batch", "--quiet"]).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[tokio::test]
#[ignore = "needs the real GnuPG at /usr/bin/gpg"]
async fn the_real_gnupg_decrypts_an_entry_and_fails_with_a_locked_key() {
    let folder = tempfile::tempdir().unwrap();
    let home: PathBuf = folder.path().join("keys");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    // No window can open, so that a locked key fails instead of waiting.
    fs::write(home.join("gpg-agent.conf"), "pinentry-program /bin/false\nallow-loopback-pinentry\n").unwrap();
    let loopback = ["--pinentry-mode", "loopback", "--passphrase", "quartz"];
    let make =
        [&loopback[..], &["--quick-gen-key", "ana@mail.example", "default", "default", "never"]].concat();
    assert!(gpg(&home, &make).status().unwrap().success());
    let store = folder.path().join("store");
    fs::create_dir(&store).unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, ENTRY).unwrap();
    let file = store.join("shop.example.gpg");
    let encrypt = ["--recipient", "ana@mail.example", "--trust-model", "always", "--output"];
    let mut command = gpg(&home, &encrypt);
    assert!(command.arg(&file).arg("--encrypt").arg(&plain).status().unwrap().success());
    // A wrapper names the key ring, since tests share one environment.
    let wrapper = folder.path().join("gpg");
    let text = format!("#!/bin/sh\nGNUPGHOME={} exec /usr/bin/gpg \"$@\"\n", home.display());
    script::write(&wrapper, &text);
    let mut pass = Pass::new(store, wrapper);
    let forget = || Command::new("gpgconf").env("GNUPGHOME", &home).args(["--kill", "gpg-agent"]).status();
    forget().unwrap();
    assert_eq!(login(&mut pass, SHOP, "shop.example").await.err(), Some(SourceError::NotDecrypted));
    // The agent keeps the key once the user unlocked it.
    let unlock = [&loopback[..], &["--output", "/dev/null", "--decrypt"]].concat();
    assert!(gpg(&home, &unlock).arg(&file).status().unwrap().success());
    let found = values(login(&mut pass, SHOP, "shop.example").await);
    assert!(is(found.password.as_ref(), "opal kettle 71"));
    forget().unwrap();
}
