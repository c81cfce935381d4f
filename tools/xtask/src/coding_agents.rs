//! Claude Code and Codex as the guard's clients: each does a whole task, with a scripted model and a user who answers.

use crate::debian::{System, install_packages};
use crate::frameworks::{example, fresh_folder, named};
use crate::npm::Pinned;
use crate::process::{Failure, Place};
use crate::setup::Tools;
use discovery::on_path;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A client, as npm has it.
struct Agent {
    name: &'static str,
    package: Pinned,
    /// Its folder below `node_modules`.
    folder: &'static str,
    /// The script in it that finds the program for this system. Scripts of the installation, which we do not run, would too.
    script: &'static str,
    version: &'static str,
}

const AGENTS: [Agent; 2] = [
    Agent {
        name: "claude",
        package: Pinned {
            name: "@anthropic-ai/claude-code 2.1.332",
            folder: "claude-code",
            manifest: include_str!("../npm/claude-code/package.json"),
            lock: include_str!("../npm/claude-code/package-lock.json"),
        },
        folder: "@anthropic-ai/claude-code",
        script: "cli-wrapper.cjs",
        version: "2.1.332",
    },
    Agent {
        name: "codex",
        package: Pinned {
            name: "@openai/codex 0.171.0",
            folder: "codex",
            manifest: include_str!("../npm/codex/package.json"),
            lock: include_str!("../npm/codex/package-lock.json"),
        },
        folder: "@openai/codex",
        script: "bin/codex.js",
        version: "0.171.0",
    },
];

/// The place of the question, as `--consent` has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consent {
    Client,
    Window,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
}

/// What is tried. Codex declines each address itself where it runs without a terminal, so it cannot be the place of the question.
const TRIALS: [(&str, Consent, Answer); 5] = [
    ("claude", Consent::Client, Answer::Yes),
    ("claude", Consent::Client, Answer::No),
    ("claude", Consent::Window, Answer::Yes),
    ("codex", Consent::Window, Answer::Yes),
    ("codex", Consent::Window, Answer::No),
];

/// Runs every client with a guard that is built, and judges what they print. `python` needs no libraries.
pub fn run_all(place: &Place, tools: &Tools, python: &Path) -> Result<(), Failure> {
    screen()?;
    for agent in &AGENTS {
        let script = find_or_install(place, agent)?;
        for (_, consent, answer) in TRIALS.into_iter().filter(|(name, _, _)| *name == agent.name) {
            let mut client = Command::new(python);
            // Python would write its cache into our sources.
            client.arg("-B").arg(place.root.join("tools/xtask/src/client_task.py")).arg(agent.name);
            client.arg(if consent == Consent::Client { "client" } else { "window" });
            client.arg(if answer == Answer::Yes { "yes" } else { "no" });
            client.arg(fresh_folder(place, "client-home")?).arg(named(tools, "PORTCULLIS_CERTUTIL")?);
            client.arg(place.binary("portcullis")).arg(named(tools, "PLAYWRIGHT_NODE_EXE")?).arg(&script);
            example(agent.package.name, client, tools, |said| judge(said, agent.name, consent, answer))?;
        }
    }
    Ok(())
}

/// What the window of a question needs where there is no display, installed where we may.
fn screen() -> Result<(), Failure> {
    let needed = [("Xvfb", "xvfb"), ("xdotool", "xdotool")];
    let missing: Vec<&str> = needed
        .into_iter()
        .filter(|(program, _)| on_path(program).is_none())
        .map(|(_, package)| package)
        .collect();
    let system = System::here();
    if missing.is_empty() {
        Ok(())
    } else if system.can_install() {
        install_packages(&missing)
    } else {
        let command = system.install_command(&missing);
        Err(Failure::not_set_up(format!("no screen for the guard's question: run `{command}`")))
    }
}

/// The client's script, from npm if it is not there.
fn find_or_install(place: &Place, agent: &Agent) -> Result<PathBuf, Failure> {
    let folder = agent.package.modules(place).join(agent.folder);
    let script = folder.join(agent.script);
    let is_installed = || {
        let manifest = fs::read_to_string(folder.join("package.json")).unwrap_or_default();
        script.is_file() && manifest.contains(&format!("\"version\": \"{}\"", agent.version))
    };
    if !is_installed() {
        agent.package.install(place)?;
    }
    if is_installed() { Ok(script) } else { Err(agent.package.did_not_arrive(place)) }
}

/// After a yes the shop has an order with the user's address, which the model never had. After a no there is no order, and the client
/// says that the guard refuses. The guard's own record has the answer.
fn judge(said: &str, name: &str, consent: Consent, answer: Answer) -> Result<(), String> {
    let opened = if consent == Consent::Client { 1 } else { 0 };
    let mut wanted = vec![
        "heading \"Kettles\"".to_owned(),
        format!("questions answered: 1, at addresses that the client opened: {opened}"),
        "values of the user's in them: 0".to_owned(),
        "the chain is whole".to_owned(),
    ];
    let mut unwanted = vec!["17 Quarry Road"];
    match answer {
        Answer::Yes => {
            wanted.extend(
                ["container: T2", "GRANT.address", "heading \"Thank you\"", "consent_answered answer=once"]
                    .map(str::to_owned),
            );
            wanted.push(format!("{name} says: The kettle is ordered."));
            wanted.push("orders at the shop: 1, with the user's address: 1".to_owned());
            unwanted.push("DENY");
        }
        Answer::No => {
            wanted.push("consent_answered answer=no".to_owned());
            wanted.push(format!("{name} says: The guard refuses portcullis_plan: DENY.address"));
            wanted.push("orders at the shop: 0, with the user's address: 0".to_owned());
            unwanted.extend(["container: T2", "GRANT"]);
        }
    }
    if let Some(found) = unwanted.into_iter().find(|unwanted| said.contains(unwanted)) {
        return Err(format!("(nothing with {found})"));
    }
    wanted.into_iter().find(|wanted| !said.contains(wanted)).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERED: &str = "- heading \"Kettles\" [level=1]\n- container: T2\nGRANT.address {}\n- heading \"Thank you\" [level=1]\n\
        codex says: The kettle is ordered.\nquestions answered: 1, at addresses that the client opened: 0\n\
        orders at the shop: 1, with the user's address: 1\nrequests to the model: 7, values of the user's in them: 0\n\
        record: consent_answered answer=once\n18 records, the chain is whole\n";

    const REFUSED: &str = "- heading \"Kettles\" [level=1]\n- container: T0\n\
        claude says: The guard refuses portcullis_plan: DENY.address {}\n\
        questions answered: 1, at addresses that the client opened: 1\n\
        orders at the shop: 0, with the user's address: 0\nrequests to the model: 5, values of the user's in them: 0\n\
        record: consent_answered answer=no\n14 records, the chain is whole\n";

    #[test]
    fn an_order_is_judged_by_the_shop_the_model_and_the_record() {
        let judge = |said: &str| judge(said, "codex", Consent::Window, Answer::Yes);
        assert_eq!(judge(ORDERED), Ok(()));
        for (of, instead) in [
            ("in them: 0", "in them: 1"),
            ("address: 1", "address: 0"),
            ("answered: 1", "answered: 0"),
            ("opened: 0", "opened: 1"),
            ("answer=once", "answer=no"),
            ("codex says", "claude says"),
            ("T2", "T0"),
            ("is whole", "is broken"),
            ("GRANT.address", "GRANT.address 17 Quarry Road"),
        ] {
            assert!(judge(&ORDERED.replace(of, instead)).is_err(), "{instead}");
        }
        assert!(judge(REFUSED).is_err());
        assert!(judge("").is_err());
    }

    #[test]
    fn a_refusal_is_judged_by_what_did_not_happen() {
        let judge = |said: &str| judge(said, "claude", Consent::Client, Answer::No);
        assert_eq!(judge(REFUSED), Ok(()));
        for (of, instead) in [
            ("shop: 0", "shop: 1"),
            ("answer=no", "answer=once"),
            ("opened: 1", "opened: 0"),
            ("T0", "T2"),
            ("The guard refuses", "All is well with"),
        ] {
            assert!(judge(&REFUSED.replace(of, instead)).is_err(), "{instead}");
        }
        assert!(judge(ORDERED).is_err());
    }

    #[test]
    fn manifests_and_locks_pin_the_versions_and_checksums() {
        for agent in &AGENTS {
            let (package, version) = (&agent.package, agent.version);
            assert_eq!(package.name, format!("{} {version}", agent.folder));
            assert!(package.manifest.contains(&format!("\"{}\": \"{version}\"", agent.folder)));
            let packages = package.lock.matches("\"version\":").count();
            assert!(packages >= 7, "a program for each system");
            assert_eq!(package.lock.matches("\"integrity\": \"sha512-").count(), packages);
            assert_eq!(package.lock.matches("\"resolved\": \"https://registry.npmjs.org/").count(), packages);
            assert!(TRIALS.iter().any(|(name, _, answer)| *name == agent.name && *answer == Answer::No));
        }
    }
}
