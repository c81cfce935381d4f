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
        /// Only the last N of them.
        #[arg(long, value_name = "N")]
        last: Option<usize>,
    },
    /// Check the chain and the signed head; names the first bad record.
    Verify(verify::Arguments),
    /// Print the last records, and with `--follow` those that come.
    Tail {
        #[command(flatten)]
        selection: Selection,
        /// How many of them.
        #[arg(long, value_name = "N", default_value_t = 10)]
        last: usize,
        /// Go on until the reader goes away; a record that does not fit ends it.
        #[arg(long)]
        follow: bool,
    },
}

/// Which records, and how.
#[derive(clap::Args)]
pub struct Selection {
    /// The log: a folder such as `target/demo/audit`, or a single file of an earlier version.
    log: PathBuf,
    /// Only those of this session: sixteen hexadecimal digits, or `-` for those of none.
    #[arg(long, value_name = "ID", value_parser = session)]
    session: Option<SessionId>,
    /// Only those of this event, such as `intent`.
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Print the records as they stand in the log: one JSON object a line.
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

/// A log that is not whole is a finding; one that cannot be read is bad input.
pub fn failure(error: LogError) -> Failure {
    match error {
        LogError::Broken { folder, broken } => finding(&folder, &broken),
        other => Failure::Input(other.to_string()),
    }
}

fn finding(log: &std::path::Path, broken: &Broken) -> Failure {
    Failure::Finding(format!("{}: {broken}", log.display()))
}
