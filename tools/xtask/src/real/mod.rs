//! `cargo xtask real`: tasks on software that nobody here wrote, through `portcullis mcp` and through playwright-mcp alone.
//!
//! | module | subject |
//! |---|---|
//! | [`programs`] | the programs: installed, set up in folders of their own, served, stopped |
//! | [`front`] | TLS before them: an authority for one run, and nginx |
//! | [`person`] | the vault of the person whose data the tasks need |
//! | [`keepassxc`] | the person's KeePassXC |
//! | [`by_hand`] | a login that the person makes by hand and saves |
//! | [`screen`] | the screen for the person's windows |
//! | [`trials`] | one task, and the table |
//!
//! The agent, the person who answers its questions and the tasks are data beside: `agent.py`, `tasks.json`.

mod by_hand;
mod front;
mod keepassxc;
mod person;
mod programs;
mod screen;
mod trials;

use crate::process::{self, Failure, Place};
use crate::setup::{self, Tools};
use std::path::{Path, PathBuf};

use front::Front;
use keepassxc::KeePassXc;
use programs::{Library, Program, Running, SetUp};
use trials::{Login, Mode, Task, Trial};

/// The folders and settings of a run.
pub struct Run {
    /// The folder of the run, removed at its end.
    pub folder: PathBuf,
    /// The sources beside this file.
    pub sources: PathBuf,
    /// The environment that names browser and driver.
    pub environment: Vec<(&'static str, std::ffi::OsString)>,
}

/// The name of the tests of the clients of password managers, beside those of the tasks.
const CLIENTS: &str = "password-managers";

/// Sets the programs up, runs the tasks (all, or those that are named) with and without the guard, prints a table, and removes
/// what it set up.
pub fn command(place: &Place, names: &[String]) -> Result<(), Failure> {
    let is_all = names.is_empty();
    if let Some(option) = names.iter().find(|name| name.starts_with('-')) {
        return Err(Failure::input(format!("`real` takes names of tasks, and not `{option}`")));
    }
    let tools = setup::set_up(place)?;
    tools.announce();
    programs::packages()?;
    if names.is_empty() || names.iter().any(|name| name == CLIENTS) {
        keepassxc::clients(place, &tools)?;
    }
    let names: Vec<String> = names.iter().filter(|name| *name != CLIENTS).cloned().collect();
    if !is_all && names.is_empty() {
        return Ok(());
    }
    let mut build = place.cargo();
    process::run(build.args(["build", "--package", "portcullis-cli"]).envs(tools.environment()))?;
    let run = Run {
        folder: place.target.join("real"),
        sources: place.root.join("tools/xtask/src/real"),
        environment: tools.environment(),
    };
    programs::stop_left_over(&run.folder);
    fresh(&run.folder)?;
    let outcome = whole(place, &tools, &run, &names);
    // The agent's output stays for whoever wonders why a task failed.
    let kept = place.target.join("real-logs");
    let _was_not_there = std::fs::remove_dir_all(&kept);
    let _nothing_ran = std::fs::rename(run.folder.join("logs"), &kept);
    let removed = std::fs::remove_dir_all(&run.folder);
    println!(
        "\nthe servers are stopped and {} is removed; the outputs are in {}, and Debian's packages stay",
        run.folder.display(),
        kept.display()
    );
    outcome?;
    removed
        .map_err(|error| Failure::not_set_up(format!("{} cannot be removed: {error}", run.folder.display())))
}

/// Sets the programs up, does the tasks, stops the programs, and prints the table.
fn whole(place: &Place, tools: &Tools, run: &Run, names: &[String]) -> Result<(), Failure> {
    let library = Library::fetch(place)?;
    let tasks = trials::tasks(run, &library.python(), names)?;
    let mut set_up = Vec::new();
    let is_done_in = |program: &Program| tasks.iter().any(|task| task.program == program.name);
    let is_needed = |program: &&Program| {
        let logs_in_here = |other: &Program| other.identity == Some(program.name) && is_done_in(other);
        is_done_in(program) || programs::ALL.iter().any(logs_in_here)
    };
    for program in programs::ALL.iter().filter(is_needed) {
        eprintln!("setting up {}", program.name);
        set_up.push(program.set_up(run, &library)?);
    }
    let front = Front::start(run, tools, &set_up)?;
    person::vault(place, run, &set_up)?;
    let is_asked = tasks.iter().any(|task| task.login == Login::KeePassXc);
    let keepassxc = is_asked.then(|| KeePassXc::start(place, run, &set_up)).transpose()?;
    let mut trials: Vec<Trial> = Vec::new();
    for mode in [Mode::Guard, Mode::Bare] {
        // Each mode begins with the programs as they were set up.
        let running = Running::start(run, &library, &set_up)?;
        let is_saved = |one: &&SetUp| {
            let here = |task: &Task| task.login == Login::Saved && task.program == one.program.name;
            mode == Mode::Guard && tasks.iter().any(here)
        };
        for one in set_up.iter().filter(is_saved) {
            if let Some(page) = &one.program.codes {
                by_hand::save(place, run, &library, one, page)?;
            }
        }
        for task in &tasks {
            let trial = trials::one(place, run, &library, &set_up, task, mode)?;
            println!("{}", trial.line());
            trials.push(trial);
        }
        for one in set_up.iter().filter(is_saved) {
            if let Some((page, sign_out)) =
                one.program.codes.as_ref().and_then(|page| Some((page, page.sign_out.as_ref()?)))
            {
                by_hand::sign_out(place, run, &library, one, (page, sign_out))?;
                println!("the login at {} is forgotten there and here", one.program.name);
            }
        }
        drop(running);
    }
    drop((front, keepassxc));
    println!("\n{}", trials::table(&tasks, &trials));
    Ok(())
}

/// An empty folder in the place of whatever is there.
pub fn fresh(folder: &Path) -> Result<(), Failure> {
    let _was_not_there = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::not_set_up(format!("{} cannot be made: {error}", folder.display())))
}

/// Writes a file.
pub fn written(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::not_set_up(format!("{} cannot be written: {error}", path.display())))
}
