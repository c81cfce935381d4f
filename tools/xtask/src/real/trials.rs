//! One task, and the table.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::{Failure, Place};
use crate::real::programs::{Library, SetUp};
use crate::real::{Run, written};
use crate::real::{by_hand, keepassxc};

/// A line of `tasks.json`.
pub struct Task {
    name: String,
    /// The program that it is done in.
    pub program: String,
    policy: String,
    what: String,
    /// Where its login is.
    pub login: Login,
}

/// Where the login of a task is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// In the vault, as values.
    Vault,
    /// In KeePassXC.
    KeePassXc,
    /// In a vault, as a login that the person made by hand.
    Saved,
}

/// The server that a task is done through.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `portcullis mcp`.
    Guard,
    /// `@playwright/mcp`.
    Bare,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Guard => "guard",
            Mode::Bare => "bare",
        }
    }
}

/// The result of one task in one mode.
pub struct Trial {
    task: String,
    mode: Mode,
    outcome: String,
    why: String,
    questions: String,
    seconds: String,
}

impl Trial {
    /// Reads the last line of the agent's output.
    fn read(task: &Task, mode: Mode, output: &str) -> Trial {
        let line = output.lines().last().unwrap_or_default();
        let mut parts = line.split('\t').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let (outcome, why, questions, seconds) = (next(), next(), next(), next());
        let known = ["done", "refused", "failed"].contains(&outcome.as_str());
        let (outcome, why) =
            if known { (outcome, why) } else { ("failed".to_owned(), format!("the agent ended: {line}")) };
        Trial { task: task.name.clone(), mode, outcome, why, questions, seconds }
    }

    /// The line of progress about it.
    pub fn line(&self) -> String {
        let (questions, seconds) = (&self.questions, &self.seconds);
        format!(
            "{} {} {} {questions} questions {seconds} s {}",
            self.mode.name(),
            self.task,
            self.outcome,
            self.why
        )
    }
}

/// The tasks: all, or those that are named.
pub fn tasks(run: &Run, python: &Path, names: &[String]) -> Result<Vec<Task>, Failure> {
    let mut list = Command::new(python);
    list.arg(run.sources.join("agent.py")).arg("list").arg(run.sources.join("tasks.json"));
    let output =
        list.output().map_err(|error| Failure::not_set_up(format!("Python does not start: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let all: Vec<Task> = said.lines().filter_map(read_task).collect();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|task| &task.name != *name)) {
        let known: Vec<&str> = all.iter().map(|task| task.name.as_str()).collect();
        return Err(Failure::input(format!("there is no task `{unknown}`; there are {}", known.join(", "))));
    }
    Ok(all.into_iter().filter(|task| names.is_empty() || names.contains(&task.name)).collect())
}

fn read_task(line: &str) -> Option<Task> {
    let mut parts = line.split('\t').map(str::to_owned);
    Some(Task {
        name: parts.next()?,
        program: parts.next()?,
        policy: parts.next()?,
        what: parts.next()?,
        login: match parts.next()?.as_str() {
            "keepassxc" => Login::KeePassXc,
            "saved" => Login::Saved,
            _ => Login::Vault,
        },
    })
}

/// Does one task once.
pub fn one(
    place: &Place,
    run: &Run,
    library: &Library,
    programs: &[SetUp],
    task: &Task,
    mode: Mode,
) -> Result<Trial, Failure> {
    let found = programs.iter().find(|program| program.program.name == task.program);
    let program = found.ok_or_else(|| Failure::input(format!("`{}` is no program", task.program)))?;
    let mut agent = Command::new(library.python());
    agent
        .arg(run.sources.join("agent.py"))
        .arg(mode.name())
        .arg(run.sources.join("tasks.json"))
        .arg(&task.name);
    agent.arg(program.address()).arg(&program.folder);
    agent.args(match mode {
        Mode::Guard => guard(place, run, programs, task),
        Mode::Bare => bare(run),
    });
    agent.envs(run.environment.iter().cloned()).env("HOME", run.folder.join("home"));
    // playwright-mcp keeps its files in the folder where it was started.
    agent.current_dir(&run.folder).env("XDG_RUNTIME_DIR", keepassxc::runtime(run));
    agent.env("PASSPHRASE", run.folder.join("passphrase")).stdin(Stdio::null());
    let output =
        agent.output().map_err(|error| Failure::not_set_up(format!("Python does not start: {error}")))?;
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let log = run.folder.join("logs").join(format!("{}.{}.txt", task.name, mode.name()));
    written(&log, &format!("{errors}\n{said}"))?;
    Ok(Trial::read(task, mode, &said))
}

/// The command of `portcullis mcp`, which reads the passphrase from a file descriptor.
fn guard(place: &Place, run: &Run, programs: &[SetUp], task: &Task) -> Vec<OsString> {
    let hosts: Vec<String> = programs.iter().map(SetUp::host).collect();
    let policy = place.root.join("policies").join(format!("{}.policy", task.policy));
    let script = "exec \"$@\" --passphrase-fd 3 3<\"$PASSPHRASE\"";
    let mut command: Vec<OsString> = ["sh", "-c", script, "sh"].map(OsString::from).into();
    command.extend([place.binary("portcullis").into(), "mcp".into()]);
    let (vault, log) = match task.login {
        Login::Vault => (run.folder.join("private/vault"), "audit"),
        Login::KeePassXc => (keepassxc::vault(run), "audit-keepassxc"),
        Login::Saved => (by_hand::vault(run, &task.program), "audit-saved"),
    };
    command.extend(["--vault".into(), vault.into(), "--audit".into(), run.folder.join(log).into()]);
    if task.login == Login::KeePassXc {
        command.extend(["--source", "keepassxc"].map(OsString::from));
    }
    command.extend(["--policy".into(), policy.into(), "--private-hosts".into(), hosts.join(",").into()]);
    command
}

/// The command of playwright-mcp, with the same browser.
fn bare(run: &Run) -> Vec<OsString> {
    let named = |wanted: &str| {
        let found = run.environment.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut command = vec![named("PLAYWRIGHT_NODE_EXE"), named("PORTCULLIS_PLAYWRIGHT_MCP")];
    command.extend(["--headless", "--isolated", "--executable-path"].map(OsString::from));
    command.push(named("PORTCULLIS_CHROMIUM"));
    if !named("PORTCULLIS_NO_SANDBOX").is_empty() {
        command.push("--no-sandbox".into());
    }
    command
}

/// A table in Markdown: each task with and without the guard, and the reasons below it.
pub fn table(tasks: &[Task], trials: &[Trial]) -> String {
    let of = |task: &Task, mode| trials.iter().find(|trial| trial.task == task.name && trial.mode == mode);
    let mut text =
        "| task | what | guard | questions | s | bare | s |\n|---|---|---|---|---|---|---|\n".to_owned();
    for task in tasks {
        let (Some(guard), Some(bare)) = (of(task, Mode::Guard), of(task, Mode::Bare)) else { continue };
        let _written = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            task.name, task.what, guard.outcome, guard.questions, guard.seconds, bare.outcome, bare.seconds
        );
    }
    for mode in [Mode::Guard, Mode::Bare] {
        let all = trials.iter().filter(|trial| trial.mode == mode);
        let done = all.clone().filter(|trial| trial.outcome == "done").count();
        let _written = writeln!(text, "\n{}: {done} of {} done", mode.name(), all.clone().count());
        for trial in all.filter(|trial| trial.outcome != "done") {
            let _written = writeln!(text, "- {} {}: {}", trial.task, trial.outcome, trial.why);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        let line = "shop-search\toscar\tdefault\tsearch\tvault";
        read_task(line).unwrap_or_else(|| panic!("{line}"))
    }

    #[test]
    fn the_last_line_is_the_outcome_and_anything_else_is_a_failure() {
        let trial = Trial::read(&task(), Mode::Guard, "read\nrefused\tDENY.login\t2\t3.5\n");
        assert_eq!(
            (trial.outcome.as_str(), trial.why.as_str(), trial.questions.as_str()),
            ("refused", "DENY.login", "2")
        );
        for output in ["", "Traceback\nKeyError: 'x'", "well done\t\t0\t1.0"] {
            assert_eq!(Trial::read(&task(), Mode::Guard, output).outcome, "failed", "{output}");
        }
    }

    #[test]
    fn a_failed_task_stays_in_the_table_with_its_reason() {
        let trials = [
            Trial::read(&task(), Mode::Guard, "failed\tno button\t1\t3.5"),
            Trial::read(&task(), Mode::Bare, "done\t\t0\t1.0"),
        ];
        let table = table(&[task()], &trials);
        assert!(table.contains("| shop-search | search | failed | 1 | 3.5 | done | 1.0 |"), "{table}");
        assert!(table.contains("guard: 0 of 1 done\n- shop-search failed: no button"), "{table}");
        assert!(table.contains("bare: 1 of 1 done"), "{table}");
    }
}
