//! `portcullis policy`: checks, proofs, explanations, comparisons and pictures of policies.
//!
//! Exit codes: 0 the policy holds, or there is no difference; 1 a statement fails, two policies differ, or a warning is
//! denied; 2 the input is bad. With `--json` one JSON value goes to standard output, whatever the code.

mod case;
mod check;
pub mod compile;
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
    /// Parse a policy, compile it, and prove its invariants over every case.
    Check(check::Check),
    /// Prove every statement, one by one; each that fails comes with a counterexample.
    Prove(check::Prove),
    /// Explain why an event is granted, asked about or denied, and what would change the answer.
    Explain(explain::Explain),
    /// Show the differences between the answers of two policies.
    Diff(diff::Diff),
    /// Show an event's rules as a table, or its automaton as a picture.
    Show(show::Show),
    /// Propose changes of a policy from a record of use, each with a proof. Nothing is changed.
    Suggest(suggest::Suggest),
    /// Prove a policy and write it as bytes, which load without compilation.
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

/// The arguments of every command about one policy.
#[derive(clap::Args)]
struct Input {
    /// The policy, such as `policies/default.policy`, as text or JSON; `-` for standard input.
    policy: PathBuf,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

/// A parsed policy, with its text for excerpts.
struct Loaded {
    name: String,
    text: String,
    compiled: Compiled<Unchecked>,
}

/// Parses and compiles a policy.
fn load(path: &Path, json: bool) -> Result<Loaded, Failure> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    if text.trim_start().starts_with('{') {
        let bad = |error: String| Failure::Input(format!("{name}: {error}"));
        let policy = Policy::from_json(&text).map_err(|error| bad(error.to_string()))?;
        let compiled = policy.compile().map_err(|error| bad(error.to_string()))?;
        // A policy in JSON has no positions in a text.
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

/// Every problem of a policy, with its position and remedy.
fn messages(error: &PolicyError) -> Vec<(Range<usize>, String)> {
    let message = |problem: &Problem| match &problem.help {
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    };
    error.problems().iter().map(|problem| (problem.span.clone(), message(problem))).collect()
}

/// A position in bytes of the text, or null.
fn span(place: Option<&Range<usize>>) -> Value {
    place.map_or(Value::Null, |place| json!([place.start, place.end]))
}

/// The line of a position, counted from 1.
fn line(text: &str, place: &Range<usize>) -> usize {
    text.get(..place.start).map_or(1, |before| before.matches('\n').count() + 1)
}
