//! `portcullis sirl check`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::{failure::Failure, read_text};

#[derive(Subcommand)]
pub enum SirlCommand {
    /// Read a request block and print it in its canonical form.
    Check {
        /// The text; `-` for standard input.
        text: PathBuf,
    },
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
