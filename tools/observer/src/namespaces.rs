//! Starting the program again in namespaces of its own, and reporting why that is not possible.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::network::Network;

/// The variable that is set for the program in the namespaces.
const INSIDE: &str = "PORTCULLIS_OBSERVED";

/// The exit code of the program in the namespaces if the network cannot be made.
const NO_NETWORK: i32 = 77;

/// The options of `unshare`: with a user namespace, or as root where the system allows no user namespaces.
const OPTIONS: [&[&str]; 2] = [&["--user", "--map-root-user", "--net", "--mount"], &["--net", "--mount"]];

/// The outcome of [`run_in_namespaces`].
pub enum NamespaceRun {
    /// The program is in the namespaces, with a new network.
    Inside(Network),
    /// The program was started in namespaces and has ended.
    Ended {
        /// True if it succeeded.
        success: bool,
    },
    /// The system does not allow the namespaces.
    Skipped {
        /// The reason.
        why: String,
    },
}

/// Starts this program again with `arguments` in namespaces of its own and waits until it has ended. In the
/// namespaces, it makes the network.
pub fn run_in_namespaces(arguments: &[OsString]) -> NamespaceRun {
    if std::env::var_os(INSIDE).is_some() {
        return match Network::make() {
            Ok(network) => NamespaceRun::Inside(network),
            Err(error) => {
                say(&format!("{error}"));
                std::process::exit(NO_NETWORK);
            }
        };
    }
    let Some(options) =
        OPTIONS.into_iter().find(|options| succeeds(Command::new("unshare").args(*options).arg("true")))
    else {
        let why = "`unshare` of util-linux makes no network and mount namespace here, neither with a user namespace nor as root";
        return NamespaceRun::Skipped { why: why.to_owned() };
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            return NamespaceRun::Skipped { why: format!("this program's path is not known: {error}") };
        }
    };
    let mut inside = Command::new("unshare");
    inside.args(options).arg("--").arg(program).args(arguments).env(INSIDE, "1").stdin(Stdio::null());
    match inside.status() {
        Ok(status) if status.code() == Some(NO_NETWORK) => {
            NamespaceRun::Skipped { why: "the network cannot be made: the reason is above".to_owned() }
        }
        Ok(status) => NamespaceRun::Ended { success: status.success() },
        Err(error) => NamespaceRun::Skipped { why: format!("`unshare` does not start: {error}") },
    }
}

/// Runs the body of a test in namespaces. `test` is the full name of the test, such as `pages::nothing_leaves`. If
/// the system does not allow namespaces, the test prints the reason to standard error, which the test program does
/// not capture, and passes.
///
/// # Panics
/// The test fails in the namespaces.
pub fn observed(test: &str, body: impl FnOnce(Network)) {
    let arguments = ["--exact", test, "--nocapture", "--include-ignored"].map(OsString::from);
    match run_in_namespaces(&arguments) {
        NamespaceRun::Inside(network) => body(network),
        NamespaceRun::Ended { success } => assert!(success, "{test} failed: its output is above"),
        NamespaceRun::Skipped { why } => say(&format!("SKIPPED {test}: {why}")),
    }
}

/// Prints to standard error, which the test program does not capture.
fn say(text: &str) {
    let _ignored = writeln!(std::io::stderr().lock(), "{text}");
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
