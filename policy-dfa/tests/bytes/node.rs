//! The JavaScript reader gives the same answers as Rust.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use policy_dfa::{Axis, Compiled, Outcome, Root, Unchecked, VerbKind};

use crate::random::{Random, near, policy};
use crate::{SHIPPED, compiled};

/// Node 20 or newer: the one that `cargo xtask setup` installed or found, else the one on PATH.
fn node() -> PathBuf {
    let named = env::var_os("PLAYWRIGHT_NODE_EXE").map(PathBuf::from);
    let driver = env::var_os("PLAYWRIGHT_DRIVER_PATH").map(|folder| Path::new(&folder).join("node"));
    let all = [named, driver, Some(PathBuf::from("node"))];
    let fits = |path: &PathBuf| {
        let output = Command::new(path).arg("--version").output().ok()?;
        let version = String::from_utf8(output.stdout).ok()?;
        let major: u32 = version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()?;
        (major >= 20).then_some(())
    };
    all.into_iter().flatten().find(|path| fits(path).is_some()).unwrap_or_else(|| {
        panic!("no Node 20 or newer is found for policy-dfa/js/check.mjs: run `cargo xtask setup`")
    })
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("policy-bytes-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn check(&self) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/check.mjs");
        Command::new(node()).arg(script).arg(&self.0).output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that remains in the temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn verb(verb: VerbKind) -> &'static str {
    match verb {
        VerbKind::Open => "open",
        VerbKind::Read => "read",
        VerbKind::Click => "click",
        VerbKind::Type => "type",
        VerbKind::Choose => "choose",
        VerbKind::Press => "press",
        VerbKind::Submit => "submit",
        VerbKind::Idle => "idle",
    }
}

fn shown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Deny(_, reason) => format!("deny {}", reason.code()),
        Outcome::Ask(scope) => {
            format!("ask {}", ["every time", "once per session", "once per site"][scope as usize])
        }
        Outcome::Grant(delivery) => format!("grant {}", delivery.map_or("", |delivery| delivery.as_str())),
    }
}

/// Writes a policy with cases that Rust decided. Returns the number of cases.
fn write(folder: &Folder, name: &str, policy: &Compiled<Unchecked>) -> usize {
    let (mut answers, mut cases, mut count) = (BTreeMap::new(), Vec::new(), 0);
    let random = &mut Random(11);
    for (index, root) in Root::all().enumerate() {
        let wild: Vec<_> = (0..200).map(|_| random.valuation()).collect();
        for valuation in near().iter().chain(&wild) {
            let fresh = answers.len();
            let answer = *answers.entry(shown(policy.outcome(root, valuation))).or_insert(fresh);
            cases.push(index as u8);
            cases.extend(Axis::ALL.iter().map(|axis| valuation.get(*axis)));
            cases.extend((answer as u16).to_le_bytes());
            count += 1;
        }
    }
    let mut listed: Vec<_> = answers.into_iter().collect();
    listed.sort_by_key(|(_, number)| *number);
    let listed: Vec<_> = listed.into_iter().map(|(answer, _)| answer).collect();
    let events = Root::all().map(|root| match root {
        Root::Request(kind, need) => [kind.as_str(), need.as_str()],
        Root::Verb(done) => [verb(done), ""],
        Root::Checkout(_, need) => [root.event_name(), need.as_str()],
    });
    let axes = Axis::ALL.iter().map(|axis| format!("[{:?}, {:?}]", axis.as_str(), axis.symbols()));
    let axes = axes.collect::<Vec<_>>().join(", ");
    let hash = policy.policy_hash().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    // Plain ASCII words: Rust and JSON quote them alike.
    let events = events.collect::<Vec<_>>();
    let json = format!(
        "{{\"hash\": {hash:?}, \"events\": {events:?}, \"axes\": [{axes}], \"answers\": {listed:?}}}"
    );
    fs::write(folder.0.join(format!("{name}.json")), json).unwrap();
    fs::write(folder.0.join(format!("{name}.cases")), cases).unwrap();
    fs::write(folder.0.join(format!("{name}.bytes")), policy.to_bytes()).unwrap();
    count
}

#[test]
fn javascript_decides_as_rust_does() {
    let folder = Folder::new("agree");
    let mut expected = vec![format!("\"default\":{}", write(&folder, "default", &compiled(SHIPPED)))];
    for seed in 1..8 {
        let name = format!("random-{seed}");
        expected.push(format!("\"{name}\":{}", write(&folder, &name, &compiled(&policy(seed)))));
    }
    let output = folder.check();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("{{{}}}", expected.join(",")));
}

#[test]
fn a_case_that_differs_is_noticed() {
    let folder = Folder::new("differ");
    write(&folder, "default", &compiled(SHIPPED));
    let path = folder.0.join("default.cases");
    let mut cases = fs::read(&path).unwrap();
    // The last case of the last verb, which every policy grants: the orders come after it.
    let width = Axis::COUNT + 3;
    let verbs = Root::all().take_while(|root| !matches!(root, Root::Checkout(..))).count();
    let last = verbs * (cases.len() / Root::all().count() / width) * width - 2;
    cases[last] ^= 1;
    fs::write(&path, cases).unwrap();
    let output = folder.check();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("default: idle : grant , not "));
}
