//! A hardened program leaves no core, is closed to others, and panics without printing a value.
//! The test starts itself again as that program.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use std::process::{Command, Output};

use portcullis::process::{PANIC_STATUS, harden};
use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

const ROLE: &str = "PROCESS_ROLE";
/// The text of the panics, joined from two parts so that the program's own bytes do not contain it.
const SAID: [&str; 2] = ["4929 1234", "5678 9012"];

#[test]
fn the_program() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let secret = SAID.join(" ");
    match role.as_str() {
        "careless" => panic!("the card is {secret}"),
        "main" => {
            assert_eq!(harden(), []);
            panic!("the card is {secret}")
        }
        "thread" => {
            assert_eq!(harden(), []);
            let _ = std::thread::spawn(move || panic!("the card is {secret}")).join();
            println!("went on");
        }
        _ => {
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
            assert_eq!(harden(), []);
            let limit = getrlimit(Resource::Core);
            assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
            // Child processes such as the browser run, and leave no core either.
            let script = "ulimit -c; ulimit -H -c; cat /proc/self/environ >/dev/null && echo readable";
            let child = Command::new("sh").args(["-c", script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&child.stdout), "0\n0\nreadable\n");
        }
    }
}

fn program(role: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn nothing_is_dumped_and_children_work() {
    let output = program("state");
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_panic_prints_its_location_only_and_ends_the_program() {
    let secret = SAID.join(" ");
    assert!(said(&program("careless")).contains(&secret), "the control must show the secret");
    for role in ["main", "thread"] {
        let output = program(role);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(i32::from(PANIC_STATUS)), "{said}");
        assert!(said.contains(&format!("failed at {}:", file!())), "{said}");
        assert!(!said.contains("went on"), "{role}");
        assert!(canary::find(&said, &secret).is_none(), "{role} told the secret");
    }
}
