//! `portcullis classify scan`, and the models that it shares with the laboratory's commands.

pub mod scan;

use std::path::Path;

use clap::Subcommand;
use classifier::{LinearClassifier, ModelError};

use crate::failure::Failure;

/// The commands of `portcullis classify`; those that train and measure models are commands of `portcullis-lab classify`.
#[derive(Subcommand)]
pub enum Command {
    /// Judge texts: for each line `{"id":…, "text":…}` a line `{"id":…, "risk":…, "spans":[…]}`.
    Scan(scan::Scan),
}

/// Exit codes: 0 done, whatever the texts say; 2 the input is bad.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Scan(arguments) => scan::run(arguments),
    }
}

/// A model from a file, or else the one that is shipped.
pub fn model(
    file: Option<&Path>,
    shipped: impl FnOnce() -> Result<LinearClassifier, ModelError>,
) -> Result<LinearClassifier, Failure> {
    let Some(path) = file else {
        return shipped().map_err(|error| Failure::NotSetUp(format!("the shipped model: {error}")));
    };
    let bytes = crate::files::read_bytes(path)?;
    LinearClassifier::from_bytes(&bytes)
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}
