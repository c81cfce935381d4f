//! The system's keyring as a source: the real GNOME Keyring, on a D-Bus daemon of the test's own. Run with `--ignored`; it needs the
//! programs `dbus-daemon`, `gnome-keyring-daemon` and `secret-tool`.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use credential_sources::secret_service::SystemKeyring;
use support::{grant, origin};
use tempfile::TempDir;
use vault::Secret;
use vault::sources::{Account, Fetched, FetchedCode, FetchedValues, Source, SourceError};

const SHOP: &str = "https://shop.example";
const PASSWORD: &str = "opal kettle 71";
const SEED: &str = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

/// A session with GNOME Keyring. Its programs end with the test.
struct Session {
    address: String,
    home: TempDir,
    programs: Vec<Child>,
}

impl Drop for Session {
    fn drop(&mut self) {
        for program in &mut self.programs {
            let _ended = program.kill();
            let _reaped = program.wait();
        }
    }
}

impl Session {
    fn start() -> Session {
        let home = tempfile::tempdir().unwrap();
        let mut daemon = Command::new("dbus-daemon");
        daemon.args(["--session", "--nofork", "--print-address"]).stdout(Stdio::piped());
        let mut daemon = daemon.env("HOME", home.path()).spawn().expect("dbus-daemon");
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let mut session = Session { address: address.trim().to_owned(), home, programs: vec![daemon] };
        let mut keyring = session.command("gnome-keyring-daemon");
        keyring.args(["--foreground", "--components=secrets", "--unlock"]).stdin(Stdio::piped());
        let mut keyring =
            keyring.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("gnome-keyring-daemon");
        keyring.stdin.take().unwrap().write_all(b"of the keyring").unwrap();
        session.programs.insert(0, keyring);
        session
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", self.home.path()).env("XDG_DATA_HOME", self.home.path().join("data"));
        command.env("XDG_RUNTIME_DIR", self.home.path()).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }

    fn keep(&self, label: &str, password: &str, attributes: &[(&str, &str)]) {
        let began = Instant::now();
        loop {
            let mut store = self.command("secret-tool");
            store
                .args(["store", "--label", label])
                .args(attributes.iter().flat_map(|(name, value)| [*name, *value]));
            let mut store = store.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("secret-tool");
            store.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
            if store.wait().unwrap().success() {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "the keyring does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn keyring(&self) -> SystemKeyring {
        SystemKeyring::on_bus(&self.address)
    }
}

async fn fetch(session: &Session, site: &str, account: Option<&Account>) -> Result<Fetched, SourceError> {
    session.keyring().fetch(&grant::login(site), account).await
}

fn is(values: &FetchedValues, username: &str, password: &str) -> bool {
    values.username.as_ref().is_some_and(|it| it.is_same(&Secret::new(username)))
        && values.password.as_ref().is_some_and(|it| it.is_same(&Secret::new(password)))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real GNOME Keyring"]
async fn a_login_comes_for_exactly_its_origin() {
    let session = Session::start();
    session.keep("Shop", PASSWORD, &[("URL", "https://shop.example/"), ("UserName", "ana"), ("otp", SEED)]);
    session.keep("Sub", "of sub", &[("URL", "https://login.shop.example"), ("UserName", "sub")]);
    session.keep("Clear", "in clear", &[("url", "http://shop.example"), ("username", "clear")]);
    session.keep(
        "Network",
        "of network",
        &[("server", "net.example"), ("protocol", "https"), ("user", "bob")],
    );
    session.keep("Port", "of port", &[("server", "port.example"), ("protocol", "https"), ("port", "8443")]);
    assert_eq!(session.keyring().check().await, Ok(()));
    let Ok(Fetched::Values(shop)) = fetch(&session, SHOP, None).await else { panic!("no values") };
    assert!(is(&shop, "ana", PASSWORD) && shop.account.label == "Shop");
    assert!(shop.code.is_none(), "a login wants no code");
    let mut keyring = session.keyring();
    let Ok(Fetched::Values(code)) = keyring.fetch(&grant::code(SHOP), None).await else { panic!("no code") };
    let Some(FetchedCode::Seed(seed)) = code.code else { panic!("no seed") };
    assert!(seed.is_same(&Secret::new(SEED)) && code.password.is_none());
    let Ok(Fetched::Values(network)) = fetch(&session, "https://net.example", None).await else {
        panic!("none")
    };
    assert!(is(&network, "bob", "of network"));
    for site in
        ["https://port.example", "https://other.example", "https://shop.example:8443", "https://example"]
    {
        assert!(matches!(fetch(&session, site, None).await, Ok(Fetched::Nothing)), "{site}");
        assert!(session.keyring().accounts(&origin(site)).await.unwrap().unwrap().len() <= 1, "{site}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real GNOME Keyring"]
async fn several_accounts_are_told_by_their_labels() {
    let session = Session::start();
    session.keep("Ana at the shop", PASSWORD, &[("URL", SHOP), ("UserName", "ana")]);
    session.keep("Work", "of work", &[("url", SHOP), ("username", "work")]);
    let listed = session.keyring().accounts(&origin(SHOP)).await.unwrap().unwrap();
    let mut labels: Vec<&str> = listed.iter().map(|account| account.label.as_str()).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["Ana at the shop", "Work"]);
    let Ok(Fetched::Several(both)) = fetch(&session, SHOP, None).await else { panic!("not several") };
    let work = both.iter().find(|account| account.label == "Work").unwrap();
    let Ok(Fetched::Values(values)) = fetch(&session, SHOP, Some(work)).await else { panic!("no values") };
    assert!(is(&values, "work", "of work"));
    let gone =
        Account { id: "/org/freedesktop/secrets/collection/login/99".to_owned(), label: String::new() };
    assert!(matches!(fetch(&session, SHOP, Some(&gone)).await, Ok(Fetched::Nothing)));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real GNOME Keyring"]
async fn a_locked_keyring_and_one_that_ends_give_nothing() {
    let mut session = Session::start();
    session.keep("Shop", PASSWORD, &[("URL", SHOP), ("UserName", "ana")]);
    let lock = session
        .command("gdbus")
        .args(["call", "--session", "--dest", "org.freedesktop.secrets"])
        .args([
            "--object-path",
            "/org/freedesktop/secrets",
            "--method",
            "org.freedesktop.Secret.Service.Lock",
        ])
        .arg("['/org/freedesktop/secrets/collection/login']")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(lock.success());
    assert_eq!(session.keyring().check().await, Err(SourceError::Locked));
    // There is no display, so its window cannot ask.
    let refused = fetch(&session, SHOP, None).await.err();
    assert!(matches!(refused, Some(SourceError::Locked | SourceError::Answer)), "{refused:?}");
    for program in &mut session.programs {
        program.kill().unwrap();
    }
    assert_eq!(session.keyring().check().await, Err(SourceError::NotRunning));
}
