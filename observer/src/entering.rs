//! Starting the program again inside, and saying aloud where that cannot be.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::network::Network;

/// Set for the program inside.
const INSIDE: &str = "PORTCULLIS_OBSERVED";

/// What the program inside ends with where the network cannot be made.
const NO_NETWORK: i32 = 77;

/// Namespaces of a user without rights; and, where the system gives those to nobody, of the real root.
const WAYS: [&[&str]; 2] = [&["--user", "--map-root-user", "--net", "--mount"], &["--net", "--mount"]];

/// Where the program is.
pub enum Entered {
    /// Inside, in a network that was just made.
    Inside(Network),
    /// Outside; the program was started inside and has ended.
    Ended {
        /// Whether it ended well.
        well: bool,
    },
    /// Outside; there is no inside on this system.
    Skipped {
        /// What is missing.
        why: String,
    },
}

/// Starts this program again with `arguments` in namespaces of its own and waits until it has ended; or, inside,
/// makes the network.
pub fn enter(arguments: &[OsString]) -> Entered {
    if std::env::var_os(INSIDE).is_some() {
        return match Network::make() {
            Ok(network) => Entered::Inside(network),
            Err(error) => {
                say(&format!("{error}"));
                std::process::exit(NO_NETWORK);
            }
        };
    }
    let Some(way) = WAYS.into_iter().find(|way| succeeds(Command::new("unshare").args(*way).arg("true")))
    else {
        let why = "`unshare` of util-linux makes no network and mount namespace here, neither with a user namespace nor as root";
        return Entered::Skipped { why: why.to_owned() };
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Entered::Skipped { why: format!("this program's path is not known: {error}") },
    };
    let mut inside = Command::new("unshare");
    inside.args(way).arg("--").arg(program).args(arguments).env(INSIDE, "1").stdin(Stdio::null());
    match inside.status() {
        Ok(status) if status.code() == Some(NO_NETWORK) => {
            Entered::Skipped { why: "the network cannot be made: the reason is above".to_owned() }
        }
        Ok(status) => Entered::Ended { well: status.success() },
        Err(error) => Entered::Skipped { why: format!("`unshare` does not start: {error}") },
    }
}

/// Runs the body of a test inside. `test` is the name by which the test program knows it, such as
/// `pages::nothing_leaves`. Where there is no inside, the test says so on standard error, past what the test
/// program captures, and passes.
///
/// # Panics
/// Where the test fails inside.
pub fn observed(test: &str, body: impl FnOnce(Network)) {
    let arguments = ["--exact", test, "--nocapture", "--include-ignored"].map(OsString::from);
    match enter(&arguments) {
        Entered::Inside(network) => body(network),
        Entered::Ended { well } => assert!(well, "{test} failed inside: its words are above"),
        Entered::Skipped { why } => say(&format!("SKIPPED {test}: {why}")),
    }
}

/// Past what a test program captures.
fn say(words: &str) {
    let _nobody_reads = writeln!(std::io::stderr().lock(), "{words}");
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
