//! Reads a policy file and prints each mistake with its line, or each statement with its proof or a counterexample.

use std::process::ExitCode;
use std::{env, fs};

use policy_dfa::{Policy, PolicyError};

fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: policy-check FILE");
        return ExitCode::from(2);
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    match check(&text) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            for problem in error.problems() {
                println!("{path}:{}:{}: {}", problem.line, problem.column, problem.message);
                if let Some(help) = &problem.help {
                    println!("    {help}");
                }
            }
            ExitCode::FAILURE
        }
    }
}

/// Prints the statements, and tells if all hold.
fn check(text: &str) -> Result<bool, PolicyError> {
    let policy = Policy::parse(text)?;
    for warning in policy.warnings() {
        println!("warning: {warning}");
    }
    let mut all_hold = true;
    for statement in policy.compile()?.examine() {
        let place = match &statement.span {
            Some(span) => format!("line {}", text[..span.start].lines().count().max(1)),
            None => "built in".to_owned(),
        };
        match &statement.violation {
            None => println!("proved ({place}): {}", statement.words),
            Some(violation) => {
                all_hold = false;
                println!("FAILS ({place}): {}", statement.words);
                println!("    counterexample: {violation}");
            }
        }
    }
    Ok(all_hold)
}
