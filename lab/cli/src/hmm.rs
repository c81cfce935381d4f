//! `portcullis-lab hmm`: making and judging the small models that look ahead for a language model.
//!
//! Exit codes: 0 done; 1 `score` found a text whose rate is below the one asked for; 2 the input is bad; 3 a file
//! cannot be written. With `--json` one JSON value goes to standard output.

mod distil;
mod eval;
pub mod horizon;
mod inspect;
mod language;
mod rollouts;
mod shards;
mod texts;

use std::num::NonZeroUsize;

use clap::Subcommand;
use portcullis_cli::hmm::score;

use crate::failure::Failure;

#[derive(Subcommand)]
pub enum Command {
    /// Learn a hidden Markov model from what a language model writes.
    Distil(Box<distil::Distil>),
    /// Count one shard of the next training step, for a machine among several.
    Count(shards::Count),
    /// Merge the counts of shards, in any order.
    Merge(shards::Merge),
    /// Complete a training step with the counts of all its shards.
    Apply(shards::Apply),
    /// Say what a model is made of: sizes, storage, how its states are used, what they write.
    Inspect(inspect::Inspect),
    /// Read a text and say, token by token, what is to be expected of it.
    Score(score::Score),
    /// Measure a model against the language model that it approximates.
    Eval(Box<eval::Eval>),
    /// Measure what looking ahead does to a model that can be talked into leaking: leaks, success and perplexity by horizon, compared
    /// with rollouts and the best of several answers.
    Horizon(horizon::Horizon),
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Distil(arguments) => distil::run(&arguments),
        Command::Count(arguments) => shards::count(&arguments),
        Command::Merge(arguments) => shards::merge(&arguments),
        Command::Apply(arguments) => shards::apply(&arguments),
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
