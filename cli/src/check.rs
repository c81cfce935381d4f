//! `portcullis policy check` and `portcullis sirl check`.

use std::ops::Range;
use std::path::PathBuf;

use clap::Subcommand;
use portcullis::policy::{Policy, PolicyError};

use crate::{failure::Failure, read_text};

#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Read a policy, compile it, and prove its invariants over every case there is.
    Check {
        /// The policy, such as `policies/default.policy`; `-` for standard input.
        policy: PathBuf,
    },
}

#[derive(Subcommand)]
pub enum SirlCommand {
    /// Read a request block and print it in its canonical form.
    Check {
        /// The text; `-` for standard input.
        text: PathBuf,
    },
}

pub fn policy(command: PolicyCommand) -> Result<(), Failure> {
    let PolicyCommand::Check { policy: path } = command;
    let text = read_text(&path)?;
    let name = path.display().to_string();
    let at = |errors| Failure::Source { name: name.clone(), text: text.clone(), errors };
    let policy = Policy::parse(&text).map_err(|error| at(problems(&error)))?;
    let compiled = policy.compile().map_err(|error| at(problems(&error)))?;
    match compiled.check() {
        Ok(checked) => {
            let (statements, states) = (checked.statements(), checked.states());
            println!("{name}: all {statements} statements hold; the automaton has {states} states");
            Ok(())
        }
        Err(violations) => {
            let all: Vec<String> = violations.iter().map(|v| format!("  {v}")).collect();
            Err(Failure::Finding(format!("{name}: does not hold:\n{}", all.join("\n"))))
        }
    }
}

pub fn sirl(command: SirlCommand) -> Result<(), Failure> {
    let SirlCommand::Check { text: path } = command;
    let text = read_text(&path)?;
    match portcullis::sirl::parse_block(&text) {
        Ok(block) => {
            println!("{block}");
            Ok(())
        }
        Err(error) => {
            let errors = vec![(error.span.clone(), error.to_string())];
            Err(Failure::Source { name: path.display().to_string(), text, errors })
        }
    }
}

/// Every problem of a policy, with its place and what to do.
fn problems(error: &PolicyError) -> Vec<(Range<usize>, String)> {
    let message = |problem: &portcullis::policy::Problem| match &problem.help {
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    };
    error.problems().iter().map(|problem| (problem.span.clone(), message(problem))).collect()
}
