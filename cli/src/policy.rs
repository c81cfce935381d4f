//! `portcullis policy`: reading, proving, explaining, comparing and showing policies.
//!
//! Exit codes: 0 it holds, or there is no difference; 1 a statement fails, two policies differ, or a warning
//! is denied; 2 the input is bad. With `--json` one JSON value goes to standard output, whatever the code.

mod case;
mod check;
mod compile;
mod diff;
mod explain;
mod show;
mod suggest;

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use portcullis::policy::{Compiled, Policy, PolicyError, Problem, Unchecked};
use serde_json::{Value, json};

use crate::{failure::Failure, read_text};

#[derive(Subcommand)]
pub enum Command {
    /// Read a policy, compile it, and prove its invariants over every case there is.
    Check(check::Check),
    /// Prove every statement, one by one; each that fails comes with a case in which it does.
    Prove(check::Prove),
    /// Why an event is granted, asked about or refused, and what would change it.
    Explain(explain::Explain),
    /// What two policies answer differently.
    Diff(diff::Diff),
    /// An event's rules as a table, or its automaton as a picture.
    Show(show::Show),
    /// What a record of use says about a policy: proposals that are proved. Nothing is changed.
    Suggest(suggest::Suggest),
    /// Prove a policy and write it as bytes, which load without being compiled.
    Compile(compile::Compile),
    /// Print a policy as JSON, or as canonical text.
    Convert(compile::Convert),
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Check(arguments) => check::check(&arguments),
        Command::Prove(arguments) => check::prove(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Suggest(arguments) => suggest::run(&arguments),
        Command::Compile(arguments) => compile::compile(&arguments),
        Command::Convert(arguments) => compile::convert(&arguments),
    }
}

/// What every command about one policy takes.
#[derive(clap::Args)]
struct Input {
    /// The policy, such as `policies/default.policy`, as text or JSON; `-` for standard input.
    policy: PathBuf,
    /// Print one JSON value instead of words.
    #[arg(long)]
    json: bool,
}

/// A policy that was read, with its text for excerpts.
struct Loaded {
    name: String,
    text: String,
    compiled: Compiled<Unchecked>,
}

/// Reads and compiles a policy.
fn load(path: &Path, json: bool) -> Result<Loaded, Failure> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    if text.trim_start().starts_with('{') {
        let bad = |error: String| Failure::Input(format!("{name}: {error}"));
        let policy = Policy::from_json(&text).map_err(|error| bad(error.to_string()))?;
        let compiled = policy.compile().map_err(|error| bad(error.to_string()))?;
        // A policy that was read from JSON points at no place of its text.
        return Ok(Loaded { name, text, compiled });
    }
    match Policy::parse(&text).and_then(|policy| policy.compile()) {
        Ok(compiled) => Ok(Loaded { name, text, compiled }),
        Err(error) => {
            if json {
                print(&json!({ "policy": name, "errors": problems(&error) }));
            }
            Err(Failure::Source { name, text, errors: messages(&error) })
        }
    }
}

fn print(value: &Value) {
    println!("{value:#}");
}

/// Every problem of a policy as JSON.
fn problems(error: &PolicyError) -> Vec<Value> {
    let each = error.problems().iter().map(|problem| {
        json!({
            "message": problem.message,
            "help": problem.help,
            "line": problem.line,
            "column": problem.column,
            "span": span(Some(&problem.span)),
        })
    });
    each.collect()
}

/// Every problem of a policy, with its place and what to do.
fn messages(error: &PolicyError) -> Vec<(Range<usize>, String)> {
    let message = |problem: &Problem| match &problem.help {
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    };
    error.problems().iter().map(|problem| (problem.span.clone(), message(problem))).collect()
}

/// A place in bytes of the text, or null.
fn span(place: Option<&Range<usize>>) -> Value {
    place.map_or(Value::Null, |place| json!([place.start, place.end]))
}

/// The line that a place is on, counted from 1.
fn line(text: &str, place: &Range<usize>) -> usize {
    text.get(..place.start).map_or(1, |before| before.matches('\n').count() + 1)
}
