//! The person's KeePassXC, for the tasks that take the login from it: on a screen of its own, with the same logins as the vault has for
//! the other tasks, and connected with a vault that has none. The person's part in its window is played by `xdotool`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::process::{self, Failure, Place};
use crate::real::person::{self, PASSPHRASE, PASSWORD};
use crate::real::programs::SetUp;
use crate::real::screen::{Screen, until};
use crate::real::{Run, fresh, written};
use crate::setup::Tools;

/// The rest of a number of an entry in Base64, after one letter.
const ZEROS: &str = "AAAAAAAAAAAAAAAAAAAAA==";
const MASTER: &str = "Gallimaufry sextant 41 brocade";

/// KeePassXC and its screen. They end when this is dropped.
pub struct KeePassXc {
    program: Option<Child>,
    screen: Screen,
}

impl Drop for KeePassXc {
    fn drop(&mut self) {
        // It stays on a request to end.
        if let Some(child) = &mut self.program {
            let _ended = child.kill();
            let _reaped = child.wait();
        }
    }
}

/// Tests the clients of password managers against the real KeePassXC, GnuPG and GNOME Keyring, and the end of an unlock when the system sleeps.
pub fn clients(place: &Place, tools: &Tools) -> Result<(), Failure> {
    let mut sleep = place.cargo();
    sleep.args(["test", "--package", "portcullis-cli", "--test", "sleep", "--", "--ignored"]);
    process::run(sleep.envs(tools.environment()))?;
    let mut test = place.cargo();
    test.args([
        "test",
        "--package",
        "portcullis-sources",
        "--test",
        "real",
        "--test",
        "pass",
        "--test",
        "keyring",
        "--",
    ]);
    test.args(["--ignored", "--nocapture", "--test-threads", "1"]);
    process::run(test.env("KEEPASSXC", "/usr/bin/keepassxc").env("KEEPASSXC_CLI", "/usr/bin/keepassxc-cli"))
}

/// The folder of its socket.
pub fn runtime(run: &Run) -> PathBuf {
    run.folder.join("keepassxc/run")
}

/// The vault that is connected with it.
pub fn vault(run: &Run) -> PathBuf {
    run.folder.join("private/vault-keepassxc")
}

fn failed(why: impl std::fmt::Display) -> Failure {
    Failure::not_set_up(format!("KeePassXC: {why}"))
}

impl KeePassXc {
    /// Starts it with the logins of these programs, and connects it.
    pub fn start(place: &Place, run: &Run, programs: &[SetUp]) -> Result<KeePassXc, Failure> {
        let home = run.folder.join("keepassxc");
        fresh(&home)?;
        for folder in ["run", "tmp", ".config/keepassxc"] {
            fresh(&home.join(folder))?;
        }
        private(&runtime(run))?;
        let settings = "[General]\nConfigVersion=2\nMinimizeAfterUnlock=false\n[GUI]\nCheckForUpdates=false\n[Browser]\n\
                        Enabled=true\nAlwaysAllowAccess=true\n";
        written(&home.join(".config/keepassxc/keepassxc.ini"), settings)?;
        written(&home.join("logins.xml"), &logins(programs)?)?;
        let (xml, database) = (home.join("logins.xml"), home.join("logins.kdbx"));
        let mut import = program(run, "keepassxc-cli");
        import.args(["import", "-q", "-p", "-t", "100"]).args([&xml, &database]);
        let import = fed(import, &format!("{MASTER}\n{MASTER}\n"))?;
        if !import.status.success() {
            return Err(failed(String::from_utf8_lossy(&import.stderr)));
        }
        let screen = Screen::start()?;
        let display = screen.display.clone();
        let mut keepassxc = KeePassXc { program: None, screen };
        let mut start = program(run, "keepassxc");
        start.env("DISPLAY", &display).arg("--pw-stdin").arg(&database);
        start.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut started = start.spawn().map_err(failed)?;
        if let Some(mut to) = started.stdin.take() {
            to.write_all(format!("{MASTER}\n").as_bytes()).map_err(failed)?;
        }
        keepassxc.program = Some(started);
        let socket = runtime(run).join("app/org.keepassxc.KeePassXC/org.keepassxc.KeePassXC.BrowserServer");
        until("KeePassXC opens no socket", || socket.exists().then_some(()))?;
        connect(place, run, &keepassxc.screen)?;
        Ok(keepassxc)
    }
}

/// Makes a vault without logins and connects it, as the README's reader does.
fn connect(place: &Place, run: &Run, screen: &Screen) -> Result<(), Failure> {
    person::said_to(place, &vault(run), &["init"], &[], &format!("{PASSPHRASE}\n"))?;
    let mut connect = Command::new(place.binary("portcullis"));
    connect.args(["vault", "connect"]).arg(vault(run)).arg("keepassxc");
    connect.env("XDG_RUNTIME_DIR", runtime(run));
    connect.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut connect = connect.spawn().map_err(failed)?;
    if let Some(mut to) = connect.stdin.take() {
        to.write_all(format!("{PASSPHRASE}\n").as_bytes()).map_err(failed)?;
    }
    let window = screen.window("New key association request")?;
    screen.xdotool(&["windowfocus", "--sync", &window]);
    screen.xdotool(&["type", "portcullis"]);
    screen.xdotool(&["key", "Return"]);
    let output = connect.wait_with_output().map_err(failed)?;
    if output.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&output.stderr))) }
}

/// The person's logins, in the form that KeePassXC imports.
fn logins(programs: &[SetUp]) -> Result<String, Failure> {
    let mut entries = String::new();
    for (letter, program) in ('B'..'Z').zip(programs) {
        let Some((record, _)) = program.program.login else { continue };
        let strings = [
            ("Title", program.program.name.to_owned()),
            ("UserName", person::name_of(record).to_owned()),
            ("Password", PASSWORD.to_owned()),
            ("URL", program.address()),
        ];
        let strings: String = strings
            .iter()
            .map(|(key, value)| format!("<String><Key>{key}</Key><Value>{value}</Value></String>"))
            .collect();
        write!(entries, "<Entry><UUID>{letter}{ZEROS}</UUID>{strings}</Entry>").map_err(failed)?;
    }
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><KeePassFile><Meta><Generator>xtask</Generator></Meta>\
         <Root><Group><UUID>Z{ZEROS}</UUID><Name>Root</Name>{entries}</Group></Root></KeePassFile>"
    ))
}

/// One of its programs, in a home folder of the run's.
fn program(run: &Run, name: &str) -> Command {
    let home = run.folder.join("keepassxc");
    let mut command = Command::new(name);
    command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config"));
    command.env("XDG_RUNTIME_DIR", home.join("run")).env("TMPDIR", home.join("tmp"));
    command
}

fn fed(mut command: Command, input: &str) -> Result<std::process::Output, Failure> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut to) = child.stdin.take() {
        to.write_all(input.as_bytes()).map_err(failed)?;
    }
    child.wait_with_output().map_err(failed)
}

/// Takes a folder's rights from all others: KeePassXC's client refuses another one.
fn private(folder: &std::path::Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).map_err(failed)
}
