//! `portcullis hmm score`, and the model files, attributes and tables that it shares with the laboratory's commands.

pub mod attribute;
pub mod byte_pair;
pub mod model;
pub mod score;
pub mod table;

use clap::Subcommand;

use crate::failure::Failure;

/// The commands of `portcullis hmm`; those that make and measure models are commands of `portcullis-lab hmm`.
#[derive(Subcommand)]
pub enum Command {
    /// Read a text and say, token by token, what is to be expected of it.
    Score(score::Score),
}

/// Exit codes: 0 done; 1 a text's rate is below the one asked for; 2 the input is bad.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Score(arguments) => score::run(arguments),
    }
}
