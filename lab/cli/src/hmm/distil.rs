//! `portcullis-lab hmm distil`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{
    DistilError, Options, RemainingTime, Report, Rules, Schedule, Sequences, Sparse, StepSize, Trainer,
};
use hmm_control::quality::{Line, likelihood_plot};
use hmm_control::{ModelFile, Token};
use language_models::transformer::read_config;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use super::language::Language;
use super::{rollouts, threads};
use crate::failure::Failure;
use crate::files::{read_bytes, write_whole};
use crate::progress::{Progress, spoken};
use portcullis_cli::hmm::model::StorageName;

#[derive(clap::Args)]
pub struct Distil {
    #[command(flatten)]
    language: Language,
    /// A folder with a language model in Hugging Face's form (GPT-2, Llama or Qwen2) that writes the texts. With
    /// --rollouts it gives the vocabulary and the end token alone.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["texts", "lm", "tokenizer"])]
    model: Option<PathBuf>,
    /// The output of a language model in place of texts: token sequences in our format, or lines of JSON lists.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["texts", "lm"])]
    rollouts: Option<PathBuf>,
    /// Hidden states; the last is the end of a text.
    #[arg(long, value_name = "H")]
    states: usize,
    /// Steps of expectation-maximisation, each over the whole training set.
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: u32,
    /// Steps over growing portions instead, as in `10,1;5,2` for 10 steps of one portion and 5 of two.
    #[arg(long, value_name = "STEPS,PORTIONS;...", conflicts_with = "steps")]
    schedule: Option<String>,
    /// The number of portions of the training set, for --schedule.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "schedule")]
    portions: u32,
    /// Let the counts of earlier steps decay instead of dropping them at once: the exponent, above 0.5 and up to 1.
    #[arg(long, value_name = "EXPONENT", requires = "schedule")]
    stepwise: Option<f64>,
    /// The output file of the model.
    #[arg(long, value_name = "MODEL.safetensors")]
    out: PathBuf,
    /// The storage format of the model's numbers.
    #[arg(long, default_value = "f16")]
    storage: StorageName,
    /// The number of texts to sample from the language model.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    sequences: usize,
    /// The most tokens of a sampled text.
    #[arg(long, value_name = "N", default_value_t = 32)]
    length: usize,
    /// The share of the texts that is held out for measuring the likelihood.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.02)]
    held_out: f64,
    /// Stop after this many steps without a better held-out likelihood.
    #[arg(long, value_name = "STEPS")]
    patience: Option<u32>,
    /// Keep only this many transitions of each state, after half of the steps.
    #[arg(long, value_name = "M")]
    sparse: Option<u32>,
    /// A number to add to every count.
    #[arg(long, value_name = "COUNT", default_value_t = 0.001)]
    pseudocount: f64,
    /// The share of training tokens that each step leaves out.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    dropout: f64,
    /// Take no further step after this many minutes, and write the best model so far.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// The random seed: the same seed gives the same model.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of threads; the model does not depend on it. All processors by default.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The checkpoint file, which is written at least every minute.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Resume from the checkpoint, if there is one; the other settings must be unchanged.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// The output file for a picture of the likelihood at each step.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// The output file of the language model that was trained on the texts.
    #[arg(long, value_name = "FILE", requires = "texts")]
    save_lm: Option<PathBuf>,
    /// The output file of the sampled texts, for `--rollouts`.
    #[arg(long, value_name = "FILE", conflicts_with = "rollouts")]
    save_rollouts: Option<PathBuf>,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

/// The interval between two checkpoints.
const KEEP: Duration = Duration::from_secs(60);

fn bad(error: DistilError) -> Failure {
    Failure::Input(error.to_string())
}

pub fn run(arguments: &Distil) -> Result<(), Failure> {
    let began = Instant::now();
    let progress = Progress::new();
    let words = Words::of(arguments)?;
    let (mut train, held_out) = sequences(arguments, &progress)?;
    train = train.shuffled(&mut ChaCha8Rng::seed_from_u64(arguments.seed));
    let mut trainer = trainer(arguments, &words, &train, &held_out, &progress)?;
    let reports = steps(arguments, &mut trainer, &progress)?;
    progress.finish();
    let storage = arguments.storage.storage();
    let mut file = ModelFile::new(trainer.hmm(storage, storage).map_err(bad)?);
    file.end_token = words.end;
    if let Some(tokenizer) = words.tokenizer {
        file.notes.insert("tokenizer".to_owned(), tokenizer.to_owned());
    }
    file.notes.insert("command".to_owned(), std::env::args().skip(1).collect::<Vec<_>>().join(" "));
    write_whole(&arguments.out, |out| file.write(out).map_err(std::io::Error::other))?;
    if let Some(path) = &arguments.plot {
        let svg = plot(&reports);
        write_whole(path, |out| std::io::Write::write_all(out, svg.as_bytes()))?;
    }
    said(arguments, &train, &held_out, &reports, began.elapsed());
    Ok(())
}

/// The tokens that a model is learnt over.
struct Words {
    vocabulary: usize,
    end: Option<Token>,
    /// The name of the built-in tokenizer; a folder has its own.
    tokenizer: Option<&'static str>,
}

impl Words {
    fn of(arguments: &Distil) -> Result<Words, Failure> {
        let Some(folder) = &arguments.model else {
            let encoding = arguments.language.tokenizer.encoding();
            let (vocabulary, name) = (encoding.vocabulary(), encoding.name());
            return Ok(Words { vocabulary, end: Some(encoding.end()), tokenizer: Some(name) });
        };
        let config = read_config(folder).map_err(|error| Failure::Input(error.to_string()))?;
        Ok(Words { vocabulary: config.vocabulary, end: config.ends.first().copied(), tokenizer: None })
    }
}

/// The training data, and the held-out data.
fn sequences(arguments: &Distil, progress: &Progress) -> Result<(Sequences, Sequences), Failure> {
    if !(0.0..1.0).contains(&arguments.held_out) {
        let message = format!("--held-out is {}; it must be at least 0 and below 1", arguments.held_out);
        return Err(Failure::Input(message));
    }
    let mut all = if let Some(path) = &arguments.rollouts {
        rollouts::read(path)?
    } else if let Some(folder) = &arguments.model {
        let (count, longest) = (arguments.sequences, arguments.length);
        rollouts::draw_from_folder(folder, count, longest, arguments.seed, progress)?
    } else {
        let loaded = arguments.language.load(|what| progress.say(what))?;
        if let Some(path) = &arguments.save_lm {
            let bytes = loaded.model.to_bytes();
            write_whole(path, |out| std::io::Write::write_all(out, &bytes))?;
        }
        progress.say(format!("drawing {} texts", arguments.sequences));
        rollouts::draw(&loaded.model, arguments.sequences, arguments.length, arguments.seed)
    };
    if let Some(path) = &arguments.save_rollouts {
        let bytes = all.to_bytes();
        write_whole(path, |out| std::io::Write::write_all(out, &bytes))?;
    }
    let held_out = all.split_off((all.len() as f64 * arguments.held_out) as usize);
    Ok((all, held_out))
}

fn trainer<'a>(
    arguments: &Distil,
    words: &Words,
    train: &'a Sequences,
    held_out: &'a Sequences,
    progress: &Progress,
) -> Result<Trainer<'a>, Failure> {
    let threads = threads(arguments.threads);
    if let Some(path) = arguments.checkpoint.as_ref().filter(|path| arguments.resume && path.exists()) {
        progress.say(format!("going on from {}", path.display()));
        return Trainer::resume(&read_bytes(path)?, train, held_out, threads).map_err(bad);
    }
    let schedule = match &arguments.schedule {
        Some(text) => Schedule::parse(text, arguments.portions),
        None => Schedule::full_batch(arguments.steps),
    };
    let mut options = Options::new(schedule.map_err(bad)?);
    if let Some(exponent) = arguments.stepwise {
        options.step_size = StepSize::Decaying { exponent, offset: 0.0 };
    }
    options.pseudocount = arguments.pseudocount;
    options.end = words.end;
    options.token_dropout = arguments.dropout;
    options.patience = arguments.patience;
    let after = (options.schedule.steps() / 2).max(1);
    options.sparse = arguments.sparse.map(|successors| Sparse { successors, after });
    options.seed = arguments.seed;
    options.threads = threads;
    progress.say(format!("placing {} states", arguments.states));
    let clustering = Clustering {
        states: arguments.states,
        vocabulary: words.vocabulary,
        search: KMeans { threads, ..KMeans::default() },
        // Training cannot raise a probability of 0.
        rules: Rules { end: options.end, pseudocount: arguments.pseudocount.max(1e-6), ..Rules::default() },
    };
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let first = from_contexts(train, &clustering, &mut rng).map_err(bad)?;
    Trainer::new(first, train, held_out, options).map_err(bad)
}

fn steps(arguments: &Distil, trainer: &mut Trainer<'_>, progress: &Progress) -> Result<Vec<Report>, Failure> {
    let (mut estimate, mut reports) = (RemainingTime::new(), Vec::new());
    let (mut began, mut kept) = (Instant::now(), Instant::now());
    let limit = arguments.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
    let (first, over) =
        (Instant::now(), |first: Instant| limit.is_some_and(|limit| first.elapsed() >= limit));
    let keep = |trainer: &Trainer<'_>| match &arguments.checkpoint {
        Some(path) => {
            let bytes = trainer.checkpoint().map_err(bad)?;
            write_whole(path, |out| std::io::Write::write_all(out, &bytes))
        }
        None => Ok(()),
    };
    while !over(first) {
        let Some(report) = trainer.step().map_err(bad)? else { break };
        estimate.observe(report.work, report.remaining, began.elapsed());
        began = Instant::now();
        progress.set(u64::from(report.step), u64::from(report.steps));
        progress.say(told(&report, &estimate));
        if kept.elapsed() >= KEEP {
            keep(trainer)?;
            kept = Instant::now();
        }
        reports.push(report);
    }
    keep(trainer)?;
    Ok(reports)
}

fn told(report: &Report, estimate: &RemainingTime) -> String {
    let held_out = report.held_out.map_or(String::new(), |held_out| format!(", held out {held_out:.3}"));
    let pruned = report.pruned.map_or(String::new(), |pruned| {
        format!(", sparse: {:.3} before, {:.3} after", pruned.before, pruned.after)
    });
    let left = match estimate.remaining() {
        _ if report.stopped => ", no better: stopped".to_owned(),
        Some(left) => format!(", {} left", spoken(left)),
        None => String::new(),
    };
    format!(
        "step {} of {}: {:.3} nats per token{held_out}{pruned}{left}",
        report.step, report.steps, report.train
    )
}

fn plot(reports: &[Report]) -> String {
    let line = |name: &str, value: &dyn Fn(&Report) -> Option<(f64, f64)>| Line {
        name: name.to_owned(),
        points: reports.iter().filter_map(value).collect(),
    };
    let lines = [
        // The training likelihood is that of the parameters before the step.
        line("training", &|report| Some((f64::from(report.step) - 1.0, report.train))),
        line("held out", &|report| Some((f64::from(report.step), report.held_out?))),
    ];
    likelihood_plot("log likelihood in nats per token", &lines)
}

fn said(arguments: &Distil, train: &Sequences, held_out: &Sequences, reports: &[Report], took: Duration) {
    let last = reports.last();
    let best = reports.iter().rev().find(|report| report.best);
    if arguments.json {
        let steps: Vec<Value> = reports
            .iter()
            .map(|report| {
                json!({
                    "step": report.step,
                    "tokens": report.tokens,
                    "train": report.train,
                    "held_out": report.held_out,
                    "best": report.best,
                    "sparse": report.pruned.map(|pruned| json!({
                        "successors": pruned.successors,
                        "before": pruned.before,
                        "after": pruned.after,
                    })),
                })
            })
            .collect();
        let value = json!({
            "model": arguments.out.display().to_string(),
            "states": arguments.states,
            "training_tokens": train.tokens().len(),
            "held_out_tokens": held_out.tokens().len(),
            "seconds": took.as_secs_f64(),
            "steps": steps,
        });
        println!("{value:#}");
        return;
    }
    println!(
        "{}: {} states, learnt from {} texts of {} tokens in {}",
        arguments.out.display(),
        arguments.states,
        train.len(),
        train.tokens().len(),
        spoken(took),
    );
    if let (Some(last), Some(best)) = (last, best) {
        match best.held_out {
            Some(held_out) => println!(
                "held out: {held_out:.3} nats per token (perplexity {:.1}) after step {} of {}",
                (-held_out).exp(),
                best.step,
                last.steps
            ),
            None => println!("training: {:.3} nats per token before the last step", last.train),
        }
    }
    if let Some(pruned) = reports.iter().find_map(|report| report.pruned) {
        println!(
            "sparse: {} transitions a state cost {:.4} nats per token at once",
            pruned.successors,
            pruned.before - pruned.after
        );
    }
}
