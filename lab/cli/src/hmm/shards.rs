//! `portcullis-lab hmm count`, `merge` and `apply`: one training step by several processes, which share files and nothing else.
//!
//! `hmm distil --checkpoint FILE --minutes 0` writes the first checkpoint, and `hmm distil --checkpoint FILE --resume` the model after the
//! last step.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hmm_control::distil::{DistilError, Sequences, ShardCounts, Trainer};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{rollouts, threads};
use crate::failure::Failure;
use crate::files::{read_bytes, write_whole};

/// The texts, as `hmm distil` divides and orders them.
#[derive(clap::Args)]
pub struct Texts {
    /// The token sequences that the training was begun with.
    #[arg(long, value_name = "FILE")]
    rollouts: PathBuf,
    /// The share of them that was held out then.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.02)]
    held_out: f64,
    /// The random seed of then.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of threads; the result does not depend on it. All processors by default.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

#[derive(clap::Args)]
pub struct Count {
    #[command(flatten)]
    texts: Texts,
    /// The checkpoint of the training before the step.
    #[arg(long, value_name = "FILE")]
    checkpoint: PathBuf,
    /// The shard to count, such as 3/8.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: (u32, u32),
    /// The output file of the counts.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(clap::Args)]
pub struct Merge {
    /// The counts of shards, in any order.
    #[arg(value_name = "FILES", required = true)]
    counts: Vec<PathBuf>,
    /// The output file of the merged counts.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(clap::Args)]
pub struct Apply {
    #[command(flatten)]
    texts: Texts,
    /// The counts of all shards of the step.
    #[arg(value_name = "FILE")]
    counts: PathBuf,
    /// The checkpoint of the training before the step; it becomes the one after it.
    #[arg(long, value_name = "FILE")]
    checkpoint: PathBuf,
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('/').and_then(|(one, all)| Some((one.parse().ok()?, all.parse().ok()?)));
    numbers.ok_or_else(|| "a shard is written as I/N, such as 3/8".to_owned())
}

fn bad(error: DistilError) -> Failure {
    Failure::Input(error.to_string())
}

impl Texts {
    /// The training data, and the held-out data.
    fn read(&self) -> Result<(Sequences, Sequences), Failure> {
        if !(0.0..1.0).contains(&self.held_out) {
            let message = format!("--held-out is {}; it must be at least 0 and below 1", self.held_out);
            return Err(Failure::Input(message));
        }
        let mut train = rollouts::read(&self.rollouts)?;
        let held_out = train.split_off((train.len() as f64 * self.held_out) as usize);
        Ok((train.shuffled(&mut ChaCha8Rng::seed_from_u64(self.seed)), held_out))
    }
}

fn counts(path: &Path) -> Result<ShardCounts, Failure> {
    let counts = ShardCounts::from_bytes(&read_bytes(path)?);
    counts.map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

fn keep(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(path, |out| std::io::Write::write_all(out, bytes))
}

pub fn count(arguments: &Count) -> Result<(), Failure> {
    let (train, held_out) = arguments.texts.read()?;
    let checkpoint = read_bytes(&arguments.checkpoint)?;
    let threads = threads(arguments.texts.threads);
    let trainer = Trainer::<f32>::resume(&checkpoint, &train, &held_out, threads).map_err(bad)?;
    let (shard, of) = arguments.shard;
    let counted = trainer.count_shard(shard, of).map_err(bad)?;
    keep(&arguments.out, &counted.to_bytes().map_err(bad)?)?;
    let (sequences, tokens) = (counted.statistics().sequences(), counted.statistics().tokens());
    println!("{}: shard {shard} of {of}, {sequences} texts of {tokens} tokens", arguments.out.display());
    Ok(())
}

pub fn merge(arguments: &Merge) -> Result<(), Failure> {
    let mut all: Option<ShardCounts> = None;
    for path in &arguments.counts {
        let shard = counts(path)?;
        match &mut all {
            Some(all) => {
                all.merge(&shard).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?
            }
            None => all = Some(shard),
        }
    }
    let Some(all) = all else { return Err(Failure::Input("name the counts of shards".to_owned())) };
    keep(&arguments.out, &all.to_bytes().map_err(bad)?)?;
    let (shards, of) = all.shards();
    println!("{}: {} of {of} shards", arguments.out.display(), shards.count());
    Ok(())
}

pub fn apply(arguments: &Apply) -> Result<(), Failure> {
    let (train, held_out) = arguments.texts.read()?;
    let checkpoint = read_bytes(&arguments.checkpoint)?;
    let threads = threads(arguments.texts.threads);
    let mut trainer = Trainer::<f32>::resume(&checkpoint, &train, &held_out, threads).map_err(bad)?;
    let report = trainer.apply_shards(&counts(&arguments.counts)?).map_err(bad)?;
    keep(&arguments.checkpoint, &trainer.checkpoint().map_err(bad)?)?;
    let held_out = report.held_out.map_or(String::new(), |held_out| format!(", held out {held_out:.3}"));
    let left =
        if trainer.is_done() { "`hmm distil --resume` writes the model" } else { "count the next step" };
    println!(
        "step {} of {}: {:.3} nats per token{held_out}; {left}",
        report.step, report.steps, report.train
    );
    Ok(())
}
