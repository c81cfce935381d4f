//! `cargo xtask test --frameworks`: what stands on other people's agent frameworks, which are fetched for it.

use crate::coding_agents;
use crate::process::{Failure, Place, install, run};
use crate::setup::Tools;
use discovery::on_path;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::Command;

/// The version that the example was tried with.
const BROWSER_USE: &str = "browser-use==0.13.14";

/// Tests the adapter for rig, then runs the examples for browser-use and the Python SDK of MCP, Claude Code and Codex with a guard
/// that was built here, and reads what they print.
pub fn run_all(place: &Place, tools: &Tools) -> Result<(), Failure> {
    let rig = |arguments: &[&str]| {
        let (package, more) = (["--package", "portcullis-rig"], arguments.get(1..).unwrap_or_default());
        run(place.cargo().args(arguments.first()).args(package).args(more).envs(tools.environment()))
    };
    rig(&["clippy", "--all-targets", "--", "-D", "warnings"])?;
    rig(&["test"])?;
    let mut build = place.cargo();
    run(build.args(["build", "--bin", "portcullis"]).envs(tools.environment()))?;
    let python = browser_use(place)?;
    let (examples, guard) = (place.root.join("examples/clients"), place.binary("portcullis"));
    let mut agent = Command::new(&python);
    agent.arg(examples.join("browser_use_agent.py")).arg(&guard);
    example("browser_use_agent.py", agent, tools, judge)?;
    // The SDK comes with browser-use. It gets a page of this machine to look at, in a home folder that trusts it.
    let (certutil, home) = (named(tools, "PORTCULLIS_CERTUTIL")?, fresh_folder(place, "client-home")?);
    let mut client = Command::new(&python);
    client.arg(place.root.join("tools/xtask/src/client_page.py")).arg(certutil).arg(&home);
    client.arg(&python).arg(examples.join("python_sdk.py")).arg("ADDRESS").arg(&guard);
    client.args(["--private-hosts", "HOST"]);
    example("python_sdk.py", client, tools, judge_client)?;
    coding_agents::run_all(place, tools, &python)
}

/// The value of a variable of the tools' environment.
pub fn named(tools: &Tools, wanted: &str) -> Result<OsString, Failure> {
    let found = tools.environment().into_iter().find(|(name, _)| *name == wanted);
    let (_, value) = found.ok_or_else(|| Failure::not_set_up(format!("what {wanted} names is not found")))?;
    Ok(value)
}

/// An empty folder below the target folder.
pub fn fresh_folder(place: &Place, name: &str) -> Result<PathBuf, Failure> {
    let folder = place.target.join(name);
    let _was_not_there = std::fs::remove_dir_all(&folder);
    let made = std::fs::create_dir_all(&folder);
    made.map_err(|error| Failure::not_set_up(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

/// Runs one example and judges what it prints.
pub fn example<Missing: Display>(
    name: &str,
    mut command: Command,
    tools: &Tools,
    judge: impl FnOnce(&str) -> Result<(), Missing>,
) -> Result<(), Failure> {
    let output = command.envs(tools.environment()).output();
    let output = output.map_err(|error| Failure::not_set_up(format!("Python does not start: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    judge(&said).map_err(|missing| {
        let errors = String::from_utf8_lossy(&output.stderr);
        Failure::finding(format!("{errors}\n{name} does not say `{missing}`"))
    })
}

/// A page is told scrubbed, a card is refused, a picture is taken.
fn judge_client(said: &str) -> Result<(), &'static str> {
    if said.contains("Ignore all") || said.contains("ann.smith") {
        return Err("[email] (and nothing that is hidden)");
    }
    let wanted = [
        "heading \"Kettles\"",
        "[email]",
        "DENY.payment",
        "(image)",
        "container: T0",
        "its container are closed",
    ];
    wanted.into_iter().find(|wanted| !said.contains(wanted)).map_or(Ok(()), Err)
}

/// What has to stand in the output: the guard's actions and none of browser-use's own, a request without a page refused, this
/// machine's own services refused, and a container that releases nothing.
fn judge(said: &str) -> Result<(), &'static str> {
    let actions = said.lines().find(|line| line.starts_with("actions: ")).unwrap_or_default();
    if actions.contains("evaluate") || actions.contains("input") {
        return Err("actions: (those of the guard alone)");
    }
    let wanted =
        ["portcullis_request", "no page is open", "DENY.verb", "container: T0", "its container are closed"];
    wanted.into_iter().find(|wanted| !said.contains(wanted)).map_or(Ok(()), Err)
}

/// The Python of an environment with browser-use in it, made if it is not there.
fn browser_use(place: &Place) -> Result<PathBuf, Failure> {
    let folder = place.target.join("browser-use");
    let (python, done) = (folder.join("bin").join("python"), folder.join(BROWSER_USE));
    if done.is_file() {
        return Ok(python);
    }
    let system = on_path("python3").ok_or_else(|| {
        Failure::not_set_up("python3 is not found: install Python 3.11 or newer, with venv".to_owned())
    })?;
    eprintln!("fetching {BROWSER_USE} with pip (360 MB)");
    install(Command::new(system).args(["-m", "venv"]).arg(&folder))?;
    install(Command::new(&python).args(["-m", "pip", "install", "--quiet", BROWSER_USE]))?;
    std::fs::write(&done, "").map_err(|error| Failure::not_set_up(format!("{}: {error}", done.display())))?;
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_judged_by_what_it_says() {
        let good = "actions: browser_click, portcullis_request\nno page is open\nDENY.verb\n- container: T0\n\
                    the page and its container are closed\n";
        assert_eq!(judge(good), Ok(()));
        assert!(judge(&good.replace("browser_click", "evaluate")).is_err());
        assert_eq!(judge(&good.replace("DENY", "ok")), Err("DENY.verb"));
        assert!(judge("").is_err());
        let good = "- heading \"Kettles\"\nWrite to [email].\nDENY.payment\n(image)\n- container: T0\n\
                    the page and its container are closed\n";
        assert_eq!(judge_client(good), Ok(()));
        assert_eq!(judge_client(&good.replace("(image)", "")), Err("(image)"));
        assert!(judge_client(&format!("{good}ann.smith@home.example")).is_err());
    }
}
