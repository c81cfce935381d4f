//! `portcullis audit show | verify | tail`.

mod line;
mod show;
mod tail;
mod verify;

use std::path::PathBuf;

use clap::Subcommand;
use portcullis::audit::{Broken, LogError, Segment, SessionId, segments};
use portcullis::storage::SystemDisk;

use crate::failure::Failure;

#[derive(Subcommand)]
pub enum Command {
    /// Print the records, one a line, and check the chain.
    Show {
        #[command(flatten)]
        selection: Selection,
        /// Print only the last N records.
        #[arg(long, value_name = "N")]
        last: Option<usize>,
    },
    /// Check the chain and the signed head; reports the first bad record.
    Verify(verify::Arguments),
    /// Print the last records, and with `--follow` new ones as they arrive.
    Tail {
        #[command(flatten)]
        selection: Selection,
        /// The number of records.
        #[arg(long, value_name = "N", default_value_t = 10)]
        last: usize,
        /// Continue until the reader closes the stream; a record that breaks the chain ends it.
        #[arg(long)]
        follow: bool,
    },
}

/// The selection and format of records.
#[derive(clap::Args)]
pub struct Selection {
    /// The log: a folder such as `target/demo/audit`, or a single file of an earlier version.
    log: PathBuf,
    /// Only the records of this session: sixteen hexadecimal digits, or `-` for those without a session.
    #[arg(long, value_name = "ID", value_parser = session)]
    session: Option<SessionId>,
    /// Only the records of this event, such as `intent`.
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Print the records as they are in the log: one JSON object a line.
    #[arg(long)]
    json: bool,
}

fn session(text: &str) -> Result<SessionId, String> {
    if text == "-" {
        return Ok(SessionId::LOG);
    }
    SessionId::parse(text).ok_or_else(|| "a session's id is sixteen hexadecimal digits".to_owned())
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Show { selection, last } => show::run(&selection, last),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Tail { selection, last, follow } => tail::run(&selection, last, follow),
    }
}

impl Selection {
    fn segments(&self) -> Result<Vec<Segment>, Failure> {
        segments(&SystemDisk, &self.log).map_err(failure)
    }
}

/// A broken log is a finding; a log that cannot be read is bad input.
pub fn failure(error: LogError) -> Failure {
    match error {
        LogError::Broken { folder, broken } => finding(&folder, &broken),
        other => Failure::Input(other.to_string()),
    }
}

fn finding(log: &std::path::Path, broken: &Broken) -> Failure {
    Failure::Finding(format!("{}: {broken}", log.display()))
}
