//! `portcullis hmm`: making and judging the small models that look ahead for a language model.
//!
//! Exit codes: 0 done; 1 `score` found a text whose rate is below the one asked for; 2 the input is bad; 3 a file
//! cannot be written. With `--json` one JSON value goes to standard output.

mod attribute;
mod distil;
mod eval;
mod horizon;
mod inspect;
mod language;
mod model;
mod progress;
mod rollouts;
mod score;
mod table;
mod texts;

pub use progress::Progress;

use std::num::NonZeroUsize;
use std::path::Path;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Subcommand)]
pub enum Command {
    /// Learn a hidden Markov model from what a language model writes.
    Distil(Box<distil::Distil>),
    /// Say what a model is made of: sizes, storage, how its states are used, what they write.
    Inspect(inspect::Inspect),
    /// Read a text and say, token by token, what is to be expected of it.
    Score(score::Score),
    /// Measure a model against the language model that it stands for.
    Eval(Box<eval::Eval>),
    /// Measure what looking ahead does to a model that can be talked into leaking: leaks, success and perplexity by horizon, beside
    /// rollouts and the best of several answers.
    Horizon(horizon::Horizon),
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Distil(arguments) => distil::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Score(arguments) => score::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Horizon(arguments) => horizon::run(&arguments),
    }
}

/// As many threads as were asked for, or as the machine has.
fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::Input(format!("{} cannot be read: {error}", path.display())))
}

/// Writes a file beside its place and moves it there, so that no reader sees a part of it.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut std::io::BufWriter<std::fs::File>) -> std::io::Result<()>,
) -> Result<(), Failure> {
    use std::io::Write;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = (|| {
        let mut file = std::io::BufWriter::new(std::fs::File::create(&partial)?);
        write(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        std::fs::rename(&partial, path)
    })();
    written.map_err(|error| Failure::NotSetUp(format!("{} cannot be written: {error}", path.display())))
}
