//! Protections that a program which holds a vault turns on for its own process, at the start of `main`.
//!
//! They change the whole process, so a library must not call them.

use std::fmt;
use std::panic::PanicHookInfo;

/// The exit status of a program after a panic.
pub const PANIC_STATUS: u8 = 101;

/// A protection that the system refused. The program works without it, and should warn the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// A crash may write the process's memory to a core file.
    CoreLimit,
    /// Other processes of the same user may read the process's memory, and a crash may pass it to the
    /// system's crash reporter.
    Undumpable,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::CoreLimit => "core dumps could not be turned off; run `ulimit -c 0` first",
            Refused::Undumpable => "other programs of this user can read this program's memory",
        })
    }
}

/// Turns core dumps off for this process and those it starts, closes its memory to other processes of the
/// same user (Linux), and ends the program at a panic. Returns the protections that the system refused.
///
/// - Child processes inherit the limit on core files, so the browser, which receives values too, leaves none either.
/// - A process whose memory is closed cannot be debugged, and most of its files under `/proc` belong to
///   root. Programs that it starts do not inherit this. It also covers systems that pipe cores to a crash
///   reporter, to which the limit does not apply.
/// - A panic's message may contain a value. So only the source location is printed, and the process ends with
///   [`PANIC_STATUS`] whichever thread panicked, since the state of a guard after a failure is unknown. It ends
///   without a signal, since a signal starts the crash reporter, and without unwinding: the system takes the
///   memory back. Child processes see their pipes close.
///
/// ```no_run
/// for refused in portcullis::process::harden() {
///     eprintln!("warning: {refused}");
/// }
/// ```
pub fn harden() -> Vec<Refused> {
    std::panic::set_hook(Box::new(end));
    let mut refused = Vec::new();
    if !no_core_files() {
        refused.push(Refused::CoreLimit);
    }
    if !closed_to_others() {
        refused.push(Refused::Undumpable);
    }
    refused
}

fn end(panic: &PanicHookInfo<'_>) {
    use std::io::Write;
    let (file, line) = panic.location().map_or(("an unknown file", 0), |at| (at.file(), at.line()));
    // Standard error may be closed, and there is no other channel.
    let _ =
        writeln!(std::io::stderr(), "portcullis failed at {file}:{line} and has ended; please report this");
    std::process::exit(i32::from(PANIC_STATUS));
}

#[cfg(unix)]
fn no_core_files() -> bool {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).is_ok()
}

#[cfg(not(unix))]
fn no_core_files() -> bool {
    false
}

#[cfg(target_os = "linux")]
fn closed_to_others() -> bool {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn closed_to_others() -> bool {
    false
}
