//! The process itself, and the policies.

use std::path::PathBuf;

use portcullis::policy::Policy;
use portcullis::process::{Refused, harden};
use portcullis::vault::{Protection, Secret};

use super::finding::Finding;

/// The protections that the system grants to a process with secrets, as at the start of every command.
pub fn process() -> Vec<Finding> {
    let refused = harden();
    let state = |name, what: Refused, good: &str| {
        if refused.contains(&what) {
            Finding::problem(name, what.to_string(), "see `man ulimit`; the guard works without it")
        } else {
            Finding::ok(name, good)
        }
    };
    let memory = match Secret::new("a stand-in").protection() {
        Protection::FULL => Finding::ok("memory", "secrets are never written to swap"),
        Protection { locked: true, .. } => {
            Finding::ok("memory", "secrets are never written to swap; core files are off altogether")
        }
        Protection { .. } => Finding::problem(
            "memory",
            "secrets may be written to swap",
            "raise what a process may lock: `ulimit -l`",
        ),
    };
    vec![
        state("core dumps", Refused::CoreLimit, "off"),
        state("other programs", Refused::Undumpable, "cannot read this program's memory"),
        memory,
    ]
}

/// Parses, compiles and proves every shipped policy and those that the user named.
pub fn policies(named: &[PathBuf]) -> Vec<Finding> {
    let shipped = [
        ("policy A", portcullis::APPROACH_A_POLICY),
        ("policy B", portcullis::DEFAULT_POLICY),
        ("policy C", portcullis::APPROACH_C_POLICY),
    ];
    let shipped = shipped.map(|(name, text)| match proved(text) {
        Ok(says) => Finding::ok(name, says),
        Err(why) => Finding::problem(name, why, "install Portcullis again: the shipped policies hold"),
    });
    // A guard needs a policy. If the default is broken, no guard starts without options.
    shipped.into_iter().map(Finding::needed).chain(named_policies(named)).collect()
}

/// Parses, compiles and proves policies that the user named.
pub fn named_policies(named: &[PathBuf]) -> impl Iterator<Item = Finding> {
    named.iter().map(|path| {
        let shown = path.display();
        let mend = format!("`portcullis policy check {shown}` shows where");
        match std::fs::read_to_string(path) {
            Err(error) => {
                Finding::problem("policy", format!("{shown} cannot be read: {error}"), "name another file")
            }
            Ok(text) => match proved(&text) {
                Ok(says) => Finding::ok("policy", format!("{says} ({shown})")),
                Err(why) => Finding::problem("policy", format!("{shown}: {why}"), mend),
            },
        }
    })
}

fn proved(text: &str) -> Result<String, String> {
    let policy = Policy::parse(text).map_err(|error| error.to_string())?;
    let name = policy.name().to_owned();
    let compiled = policy.compile().map_err(|error| error.to_string())?;
    let statements = compiled.examine();
    match statements.iter().filter(|one| one.violation.is_some()).count() {
        0 => Ok(format!("\"{name}\": all {} statements hold", statements.len())),
        fails => Err(format!("\"{name}\": {fails} of {} statements do not hold", statements.len())),
    }
}
