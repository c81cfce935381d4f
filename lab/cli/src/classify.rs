//! `portcullis-lab classify`: the small models and detectors that read untrusted text.
//!
//! Exit codes: 0 done; 2 the input is bad; 3 the folder of the data is absent, or a file cannot be written. A risk is
//! not a finding of the command: `scan` ends with 0 whatever the texts say.

mod eval;
mod fit_attribute;
mod fit_monitor;
mod train;

use std::path::Path;

use clap::{Subcommand, ValueEnum};
use classifier::LinearClassifier;
use classifier_training::corpora::{Corpus, CorpusError, SourceError};
use classifier_training::recipe::Subject;
use portcullis_cli::classify::scan;

use crate::failure::Failure;

#[derive(Subcommand)]
pub enum Command {
    /// Train a model from a folder of collections.
    Train(train::Train),
    /// Judge a model on the part of the collections that it has not learned from.
    Eval(eval::Eval),
    /// Fit the token weights of an attribute, for the look-ahead.
    FitAttribute(fit_attribute::FitAttribute),
    /// Fit the monitor that follows the risks of a page's windows.
    FitMonitor(fit_monitor::FitMonitor),
    /// Judge texts: for each line `{"id":…, "text":…}` a line `{"id":…, "risk":…, "spans":[…]}`.
    Scan(scan::Scan),
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Train(arguments) => train::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::FitAttribute(arguments) => fit_attribute::run(&arguments),
        Command::FitMonitor(arguments) => fit_monitor::run(&arguments),
        Command::Scan(arguments) => scan::run(&arguments),
    }
}

/// The models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Instructions to an agent in a place where only content should be.
    Injection,
    /// The surroundings of quoted attacks in texts that speak of attacks.
    Mention,
    /// Messages that want money or secrets by a story.
    Scam,
    /// Insults, hate, threats, lewdness, and requests for harm.
    Toxicity,
}

impl Model {
    fn subject(self) -> Subject {
        match self {
            Model::Injection => Subject::Injection,
            Model::Mention => Subject::Mention,
            Model::Scam => Subject::Scam,
            Model::Toxicity => Subject::Toxicity,
        }
    }
}

/// Reads a model's collections. `say` hears what is absent.
fn corpus(subject: Subject, folder: &Path, seed: u64, say: impl Fn(String)) -> Result<Corpus, Failure> {
    if !folder.is_dir() {
        let message = format!(
            "{} is not a folder; give the one that holds the collections (they are not part of the project)",
            folder.display()
        );
        return Err(Failure::NotSetUp(message));
    }
    let corpus = subject.corpus(folder, seed).map_err(|error| match error {
        SourceError::Absent { .. } | SourceError::Corpus(CorpusError::Read { .. }) => {
            Failure::NotSetUp(error.to_string())
        }
        SourceError::Corpus(_) => Failure::Input(error.to_string()),
    })?;
    if !corpus.absent.is_empty() {
        say(format!("without {}", corpus.absent.join(", ")));
    }
    Ok(corpus)
}

/// A model from a file, or the one that is shipped.
fn model(subject: Subject, file: Option<&Path>) -> Result<LinearClassifier, Failure> {
    portcullis_cli::classify::model(file, || subject.shipped())
}
