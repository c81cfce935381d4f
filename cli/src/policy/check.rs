//! `portcullis policy check | prove`.

use std::path::PathBuf;

use miette::{GraphicalReportHandler, LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity};
use portcullis::policy::{Statement, Warning};
use serde_json::{Value, json};

use super::case::Case;
use super::{Input, Loaded, load, print, span};
use crate::failure::Failure;

#[derive(clap::Args)]
pub struct Check {
    #[command(flatten)]
    input: Input,
    /// Fail with exit code 1 if there is a warning.
    #[arg(long)]
    deny_warnings: bool,
}

#[derive(clap::Args)]
pub struct Prove {
    #[command(flatten)]
    input: Input,
    /// Write the counterexample of each statement that fails to this folder, for `explain --case`.
    #[arg(long, value_name = "FOLDER")]
    cases: Option<PathBuf>,
}

pub fn check(arguments: &Check) -> Result<(), Failure> {
    let loaded = load(&arguments.input.policy, arguments.input.json)?;
    let (name, states) = (&loaded.name, loaded.compiled.states());
    let warnings = loaded.compiled.policy().warnings();
    let statements = loaded.compiled.examine();
    let failing: Vec<String> =
        statements.iter().filter_map(|one| one.violation.as_ref()).map(ToString::to_string).collect();
    if arguments.input.json {
        let warned = warnings.iter().map(|warning| {
            json!({
                "message": warning.message,
                "help": warning.help,
                "span": span(warning.span.as_ref()),
            })
        });
        print(&json!({
            "policy": name,
            "holds": failing.is_empty(),
            "statements": statements.len(),
            "states": states,
            "fails": failing,
            "warnings": warned.collect::<Vec<Value>>(),
        }));
    } else {
        warnings.iter().for_each(|warning| warn(&loaded, warning));
    }
    if !failing.is_empty() {
        let all: Vec<String> = failing.iter().map(|violation| format!("  {violation}")).collect();
        return Err(Failure::Finding(format!("{name}: does not hold:\n{}", all.join("\n"))));
    }
    if arguments.deny_warnings && !warnings.is_empty() {
        return Err(Failure::Finding(format!("{name}: {}", counted(warnings.len()))));
    }
    if !arguments.input.json {
        let odd = if warnings.is_empty() { String::new() } else { format!("; {}", counted(warnings.len())) };
        println!("{name}: all {} statements hold; the automaton has {states} states{odd}", statements.len());
    }
    Ok(())
}

fn counted(warnings: usize) -> String {
    format!("{warnings} warning{}", if warnings == 1 { "" } else { "s" })
}

/// Prints a warning with the lines that it concerns.
fn warn(loaded: &Loaded, warning: &Warning) {
    let mut diagnostic = MietteDiagnostic::new(warning.message.clone())
        .with_severity(Severity::Warning)
        .with_help(warning.help.clone());
    if let Some(place) = &warning.span {
        diagnostic = diagnostic.with_label(LabeledSpan::new(None, place.start, place.len()));
    }
    let report =
        Report::new(diagnostic).with_source_code(NamedSource::new(&loaded.name, loaded.text.clone()));
    let mut out = String::new();
    match GraphicalReportHandler::new().render_report(&mut out, report.as_ref()) {
        Ok(()) => eprintln!("{out}"),
        Err(_) => eprintln!("warning: {warning}"),
    }
}

pub fn prove(arguments: &Prove) -> Result<(), Failure> {
    let loaded = load(&arguments.input.policy, arguments.input.json)?;
    let statements = loaded.compiled.examine();
    if arguments.input.json {
        let all: Vec<Value> = statements.iter().map(described).collect();
        print(&json!({ "policy": loaded.name, "statements": all }));
    } else {
        for statement in &statements {
            match &statement.violation {
                None => println!("holds  {}", statement.words),
                Some(violation) => {
                    println!("FAILS  {violation}");
                    println!("       as a case: {}", Case::of(violation).json());
                }
            }
        }
    }
    let failing: Vec<_> = statements.iter().filter_map(|one| one.violation.as_ref()).collect();
    if let Some(folder) = &arguments.cases {
        let written = |error: std::io::Error| {
            Failure::Input(format!("{} cannot be written: {error}", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(written)?;
        for (number, violation) in failing.iter().enumerate() {
            let text = format!("{:#}\n", Case::of(violation).json());
            std::fs::write(folder.join(format!("case-{}.json", number + 1)), text).map_err(written)?;
        }
    }
    match failing.len() {
        0 => Ok(()),
        count => Err(Failure::Finding(format!("{}: {count} of {} fail", loaded.name, statements.len()))),
    }
}

fn described(statement: &Statement) -> Value {
    let case = statement.violation.as_ref().map(|violation| Case::of(violation).json());
    json!({
        "statement": statement.words,
        "span": span(statement.span.as_ref()),
        "holds": statement.violation.is_none(),
        "counterexample": statement.violation.as_ref().map(ToString::to_string),
        "case": case,
    })
}
