//! `portcullis-mpi distil`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hmm_control::distil::{Report, Trainer};
use hmm_control::{ModelFile, Storage};
use serde_json::json;

use crate::failure::Failure;
use crate::files::{read, write_whole};
use crate::group::Group;
use crate::measures::{Measures, Part};
use crate::plan::Plan;
use crate::step::step;
use crate::texts::{Loaded, Texts};

#[derive(clap::Args)]
pub struct Distil {
    #[command(flatten)]
    texts: Texts,
    #[command(flatten)]
    plan: Plan,
    /// The output file of the model. Rank 0 writes it.
    #[arg(long, value_name = "MODEL.safetensors")]
    out: PathBuf,
    /// The storage format of the model's numbers.
    #[arg(long, default_value = "f16")]
    storage: StorageName,
    /// The checkpoint file. Rank 0 writes it before the first step and after each.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write the checkpoint after every N-th step only, and after the last.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "checkpoint")]
    every: u32,
    /// Resume from the checkpoint, if rank 0 has one; the other settings must be unchanged.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Begin no step after this many minutes, and write the best model so far.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

/// The storage format of numbers.
#[derive(Clone, Copy, ValueEnum)]
enum StorageName {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// 16-bit floats with a wider range and less precision.
    Bf16,
    /// 8 bits.
    Bits8,
}

impl StorageName {
    fn storage(self) -> Storage {
        match self {
            StorageName::F32 => Storage::F32,
            StorageName::F16 => Storage::F16,
            StorageName::Bf16 => Storage::Bf16,
            StorageName::Bits8 => Storage::Bits8,
        }
    }
}

pub fn run(group: &Group, arguments: &Distil) -> Result<(), Failure> {
    let began = Instant::now();
    introduce(group);
    let texts = arguments.texts.load(group, arguments.plan.seed)?;
    let Loaded { train, held_out, end, .. } = &texts;
    // The first process alone has the checkpoint, or makes the first parameters; the others get them from it.
    let first = if group.is_first() { beginning(arguments, &texts) } else { Ok(Vec::new()) };
    let first = group.broadcast_bytes(group.agree(first)?);
    let resumed = Trainer::<f32>::resume(&first, train, held_out, arguments.plan.threads);
    drop(first);
    let mut trainer = group.agree(resumed.map_err(Failure::from))?;

    let mut measures = Measures::default();
    let mut last = None;
    while !trainer.is_done() && !is_over(group, arguments, began) {
        let report = step(group, &mut trainer, &mut measures)?;
        let is_due = report.step.is_multiple_of(arguments.every.max(1)) || trainer.is_done();
        let kept = arguments.checkpoint.as_ref().filter(|_| is_due);
        measures.of(group, Part::Keep, || keep(group, &trainer, kept.map(PathBuf::as_path)))?;
        measures.end_step();
        if group.is_first() {
            eprintln!("{}", told(&report, kept.map(PathBuf::as_path)));
        }
        last = Some(report);
    }
    if let Some(path) = arguments.checkpoint.as_ref().filter(|_| !trainer.is_done() && arguments.every > 1) {
        keep(group, &trainer, Some(path))?;
    }
    let written = if group.is_first() { model(arguments, &trainer, *end) } else { Ok(()) };
    group.agree(written)?;

    let measures = measures.gather(group);
    if group.is_first() {
        if arguments.json {
            let value = json!({
                "model": arguments.out.display().to_string(),
                "states": trainer.parameters().states(),
                "training_tokens": train.tokens().len(),
                "held_out_tokens": held_out.tokens().len(),
                "seconds": began.elapsed().as_secs_f64(),
                "last_step": last.as_ref().map(|report| report.step),
                "train": last.as_ref().map(|report| report.train),
                "held_out": last.as_ref().and_then(|report| report.held_out),
                "measures": measures.json(),
            });
            println!("{value:#}");
        } else {
            println!(
                "{}: {} states, learnt from {} texts of {} tokens by {} processes\n{}",
                arguments.out.display(),
                trainer.parameters().states(),
                train.len(),
                train.tokens().len(),
                group.size(),
                measures.table()
            );
        }
    }
    Ok(())
}

/// Says which process is which, so that a dead one can be found.
fn introduce(group: &Group) {
    let mut name = [0_u8; 64];
    let host = rustix::system::uname();
    name.iter_mut().zip(host.nodename().to_bytes()).for_each(|(to, from)| *to = *from);
    let names = group.gather(&name);
    let processes = group.gather(&[std::process::id()]);
    if !group.is_first() {
        return;
    }
    for (rank, (name, process)) in names.iter().zip(processes.iter().flatten()).enumerate() {
        let name = String::from_utf8_lossy(name);
        eprintln!("rank {rank} is process {process} on {}", name.trim_end_matches('\0'));
    }
}

/// The state of the training before the next step, as a checkpoint.
fn beginning(arguments: &Distil, texts: &Loaded) -> Result<Vec<u8>, Failure> {
    let Loaded { train, held_out, vocabulary, end } = texts;
    let plan = &arguments.plan;
    if let Some(path) = arguments.checkpoint.as_ref().filter(|path| arguments.resume && path.exists()) {
        let bytes = read(path)?;
        let in_it = |said: String| Failure::input(format!("{}: {said}", path.display()));
        let trainer = Trainer::<f32>::resume(&bytes, train, held_out, plan.threads);
        let trainer = trainer.map_err(|error| in_it(error.to_string()))?;
        plan.check(&trainer, *vocabulary, *end).map_err(|failure| in_it(failure.said()))?;
        eprintln!("going on from {}", path.display());
        return Ok(bytes);
    }
    let first = plan.first(train, *vocabulary, *end)?;
    let trainer = Trainer::new(first, train, held_out, plan.options(*end)?)?;
    let bytes = trainer.checkpoint()?;
    if let Some(path) = &arguments.checkpoint {
        write_whole(path, &bytes)?;
        eprintln!("{}", restart(path));
    }
    Ok(bytes)
}

/// Whether the time is over: the first process decides.
fn is_over(group: &Group, arguments: &Distil, began: Instant) -> bool {
    let Some(minutes) = arguments.minutes else { return false };
    let mut over = [u8::from(began.elapsed() >= Duration::from_secs(minutes.saturating_mul(60)))];
    group.broadcast(0, &mut over);
    over == [1]
}

/// Writes a checkpoint at the first process, while the others wait: a step is either kept or, where that fails, given up by all.
fn keep(group: &Group, trainer: &Trainer<'_>, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let write = || write_whole(path, &trainer.checkpoint()?);
    group.agree(if group.is_first() { write() } else { Ok(()) })
}

fn restart(path: &Path) -> String {
    format!("kept in {}: if a rank dies, the same command with --resume goes on from here", path.display())
}

fn told(report: &Report, kept: Option<&Path>) -> String {
    let held_out = report.held_out.map_or(String::new(), |held_out| format!(", held out {held_out:.3}"));
    let kept = kept.map_or(String::new(), |path| format!("; {}", restart(path)));
    let stopped = if report.stopped { ", no better: stopped" } else { "" };
    format!(
        "step {} of {}: {:.3} nats per token{held_out}{stopped}{kept}",
        report.step, report.steps, report.train
    )
}

fn model(arguments: &Distil, trainer: &Trainer<'_>, end: Option<hmm_control::Token>) -> Result<(), Failure> {
    let storage = arguments.storage.storage();
    let mut file = ModelFile::new(trainer.hmm(storage, storage)?);
    file.end_token = end;
    file.notes.insert("command".to_owned(), std::env::args().skip(1).collect::<Vec<_>>().join(" "));
    let mut bytes = Vec::new();
    let path = &arguments.out;
    file.write(&mut bytes).map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    write_whole(path, &bytes)
}
