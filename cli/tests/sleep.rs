//! The system sleeps, and the screen is locked, while a guard runs. The login manager is a mock (python3-dbusmock) on a D-Bus daemon of the
//! test's own: `cargo xtask real password-managers` runs these tests.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use support::{Client, portcullis, vault};
use zbus::Connection;
use zbus::connection::Builder;
use zbus::zvariant::Value;

const PATIENCE: Duration = Duration::from_secs(60);
const SERVICE: &str = "org.freedesktop.login1";
const ROOT: &str = "/org/freedesktop/login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";
const SESSION: &str = "org.freedesktop.login1.Session";
const MOCK: &str = "org.freedesktop.DBus.Mock";

/// A D-Bus daemon with a mock of systemd-logind. Both end with the test.
struct Mocked {
    address: String,
    programs: Vec<Child>,
}

impl Drop for Mocked {
    fn drop(&mut self) {
        for program in &mut self.programs {
            let _ended = program.kill();
            let _reaped = program.wait();
        }
    }
}

impl Mocked {
    async fn start() -> (Mocked, Connection) {
        let mut daemon = Command::new("dbus-daemon");
        daemon.args(["--session", "--nofork", "--print-address"]).stdout(Stdio::piped());
        let mut daemon = daemon.spawn().unwrap_or_else(|error| panic!("dbus-daemon: {error}"));
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let mock = Command::new("/usr/bin/python3")
            .args(["-m", "dbusmock", "--system", "--template", "logind"])
            .env("DBUS_SYSTEM_BUS_ADDRESS", &address)
            .spawn()
            .unwrap();
        let bus = Builder::address(address.as_str()).unwrap().build().await.unwrap();
        let began = Instant::now();
        while bus.call_method(Some(SERVICE), ROOT, Some(MANAGER), "ListSessions", &()).await.is_err() {
            assert!(began.elapsed() < PATIENCE, "the mock does not start");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        (Mocked { address, programs: vec![mock, daemon] }, bus)
    }
}

async fn emit(
    bus: &Connection,
    path: &str,
    interface: &str,
    signal: &str,
    signature: &str,
    arguments: Vec<Value<'_>>,
) {
    let asked = (interface, signal, signature, arguments);
    bus.call_method(Some(SERVICE), path, Some(MOCK), "EmitSignal", &asked).await.unwrap();
}

/// Returns true if the guard's vault is locked. The action before it makes the guard look for the vault's key.
fn is_locked(client: &mut Client) -> bool {
    client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
    client.call("portcullis_status", json!({})).contains("the user's vault is locked")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "`cargo xtask real password-managers` runs this with dbus-daemon and python3-dbusmock"]
async fn sleep_and_a_locked_screen_lock_the_vault_and_remove_its_key() {
    let (mocked, bus) = Mocked::start().await;
    let user = rustix::process::getuid().as_raw();
    let session = ("c1", "seat0", user, "ana", true);
    let made = bus.call_method(Some(SERVICE), ROOT, Some(MOCK), "AddSession", &session).await.unwrap();
    let session: String = made.body().deserialize().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (vault, file) = vault(folder.path());
    let passphrase = std::fs::read_to_string(&file).unwrap();
    let unlock = || {
        let mut child =
            portcullis().args(["vault", "unlock"]).arg(&vault).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(passphrase.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    };
    unlock();
    let audit = folder.path().join("audit").display().to_string();
    let mut command = portcullis();
    command.arg("mcp").arg("--vault").arg(&vault).args(["--audit", &audit]);
    command
        .env("DBUS_SYSTEM_BUS_ADDRESS", &mocked.address)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    let mut client = Client::start(&mut command);
    client.begin();
    assert!(!is_locked(&mut client));
    let hint = Value::from(std::collections::HashMap::from([("LockedHint", Value::from(true))]));
    let changed = vec![Value::from(SESSION), hint, Value::from(Vec::<String>::new())];
    for (path, interface, signal, signature, arguments) in [
        (ROOT, MANAGER, "PrepareForSleep", "b", vec![Value::from(true)]),
        (&session, SESSION, "Lock", "", Vec::new()),
        (&session, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as", changed),
    ] {
        let began = Instant::now();
        // The guard may not listen yet when the first signal is sent.
        while !is_locked(&mut client) {
            assert!(began.elapsed() < PATIENCE, "{signal} locks nothing");
            emit(
                &bus,
                path,
                interface,
                signal,
                signature,
                arguments.iter().map(|it| it.try_clone().unwrap()).collect(),
            )
            .await;
        }
        let listed =
            portcullis().args(["consent", "list"]).arg(&vault).stdin(Stdio::null()).output().unwrap();
        assert!(!listed.status.success(), "{signal}: the key is still in the keyring");
        unlock();
        assert!(!is_locked(&mut client), "{signal}");
    }
    portcullis().args(["vault", "lock"]).arg(&vault).status().unwrap();
    assert!(client.end());
    drop(mocked);
}
