//! `portcullis-lab hmm horizon`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evaluation::horizon::HorizonError;
use evaluation::horizon::run::{Measured, Settings, TURNS, run as experiment};
use evaluation::horizon::turns::Dialogues;

use crate::failure::Failure;
use crate::files::write_whole;
use crate::progress::Progress;

/// The experiment of `spec/experiments.md`, section 10.
#[derive(clap::Args)]
pub struct Horizon {
    /// The agent model: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    #[arg(long, value_name = "FOLDER", default_value = "lab/agent-model/model")]
    agent_model: PathBuf,
    /// The number of judged turns.
    #[arg(long, value_name = "N", default_value_t = Settings::default().turns)]
    turns: usize,
    /// The number of turns, from the first, with rollouts of the language model.
    #[arg(long, value_name = "N", default_value_t = Settings::default().rolled_turns)]
    rolled_turns: usize,
    /// The horizons of those rollouts in tokens.
    #[arg(long, value_name = "K,...", value_delimiter = ',', default_values_t = Settings::default().rolled)]
    rolled_horizons: Vec<usize>,
    /// A hidden Markov model that was distilled before, such as `lab/agent-model/model/hmm.safetensors`; otherwise one is
    /// learnt here.
    #[arg(long, value_name = "FILE")]
    hmm: Option<PathBuf>,
    /// The number of hidden states if it is learnt here.
    #[arg(long, value_name = "H", default_value_t = Settings::default().states)]
    states: usize,
    /// The number of turns from whose answers the prior learns, and the hidden Markov model if it is learnt here.
    #[arg(long, value_name = "N", default_value_t = Settings::default().learn)]
    learn: usize,
    /// The look-ahead horizons in tokens; consecutive ones from 0 on make the curve.
    #[arg(long, value_name = "K,...", value_delimiter = ',', default_values_t = Settings::default().horizons)]
    horizons: Vec<usize>,
    /// Take the dialogues of the graded agent, which obeys with a designed probability.
    #[arg(long)]
    graded: bool,
    /// The random seed.
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed)]
    seed: u64,
    /// The output folder of `horizon.csv`, `horizon.json`, `horizon.svg`.
    #[arg(long, value_name = "FOLDER", default_value = "target/horizon")]
    out: PathBuf,
}

pub fn run(arguments: &Horizon) -> Result<(), Failure> {
    let dialogues = if arguments.graded { Dialogues::Graded } else { Dialogues::Obeyed };
    let settings = Settings {
        dialogues,
        turns: arguments.turns,
        rolled_turns: arguments.rolled_turns,
        rolled: arguments.rolled_horizons.clone(),
        hmm: arguments.hmm.clone(),
        states: arguments.states,
        learn: arguments.learn,
        horizons: arguments.horizons.clone(),
        seed: arguments.seed,
    };
    let measured = measure(&arguments.agent_model, &settings, &arguments.out, None)?;
    print!("{}", measured.table());
    Ok(())
}

/// Runs the experiment, and writes its files to `out`.
pub fn measure(
    agent_model: &Path,
    settings: &Settings,
    out: &Path,
    time: Option<Duration>,
) -> Result<Measured, Failure> {
    std::fs::create_dir_all(out)
        .map_err(|error| Failure::NotSetUp(format!("{} cannot be made: {error}", out.display())))?;
    let progress = Progress::new();
    let tell = |done: usize, all: usize, what: &str| {
        progress.set(done as u64, all as u64);
        progress.say(format!("{what}, {done} of {all}"));
    };
    let measured = experiment(agent_model, settings, out, time, &tell).map_err(|error| match error {
        HorizonError::Model { .. } => Failure::Input(error.to_string()),
        HorizonError::Failed(_) => Failure::Finding(error.to_string()),
    })?;
    progress.finish();
    for (name, text) in [
        ("horizon.csv", measured.csv()),
        ("horizon.json", format!("{:#}\n", measured.json())),
        ("horizon.svg", measured.plot()),
    ] {
        write_whole(&out.join(name), |file| file.write_all(text.as_bytes()))?;
    }
    println!("turns   {}", out.join(TURNS).display());
    println!("rows    {}", out.join("horizon.csv").display());
    println!("plot    {}", out.join("horizon.svg").display());
    Ok(measured)
}
