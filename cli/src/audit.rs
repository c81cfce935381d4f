//! `portcullis audit show | verify`.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use portcullis::audit::verify;
use serde_json::{Map, Value};

use crate::{failure::Failure, read_text};

#[derive(Subcommand)]
pub enum Command {
    /// Print the records, one a line.
    Show {
        /// The log, such as `target/demo/audit.jsonl`.
        log: PathBuf,
    },
    /// Check the chain; names the first bad record.
    Verify {
        /// The log.
        log: PathBuf,
    },
}

pub fn run(command: Command) -> Result<(), Failure> {
    let (Command::Show { log } | Command::Verify { log }) = &command;
    let text = read_text(log)?;
    if let Command::Show { .. } = command {
        let mut out = std::io::stdout().lock();
        for line in text.lines() {
            let shown = match serde_json::from_str::<Map<String, Value>>(line) {
                Ok(record) => readable(&record),
                Err(_) => "?     not a record of the log".to_owned(),
            };
            // Whoever reads may stop early, as `head` does.
            if writeln!(out, "{shown}").is_err() {
                return Ok(());
            }
        }
    }
    match verify(&text) {
        Ok((records, chain)) => {
            println!("{} records, the chain is whole; head {}", records.len(), chain.head());
            Ok(())
        }
        Err(broken) => Err(Failure::Finding(format!("{}: {broken}", log.display()))),
    }
}

/// One record for a person: number, event, then what it holds.
fn readable(record: &Map<String, Value>) -> String {
    let word = |key: &str| {
        record.get(key).map_or(String::new(), |value| value.as_str().map_or(value.to_string(), str::to_owned))
    };
    let rest: Vec<String> = record
        .iter()
        .filter(|(key, value)| {
            !matches!(key.as_str(), "number" | "time" | "event" | "hash" | "previous") && !value.is_null()
        })
        .map(|(key, _)| format!("{key}={}", word(key)))
        .collect();
    format!("{:<5} {:<8} {}", word("number"), word("event"), rest.join(" "))
}
