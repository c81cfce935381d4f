//! `portcullis-lab demo`: the main job on real pages in a real browser.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use evaluation::demo::{DEFAULT_SCENARIOS, EvaluationError, Settings};
use evaluation::suite::ScenarioKind;
use indicatif::{ProgressBar, ProgressStyle};

use crate::evaluate::{kinds, makers_of};
use crate::failure::Failure;

#[derive(clap::Args)]
pub struct Arguments {
    /// How often each page is tried, each time with other wordings, items and persons.
    #[arg(long, default_value_t = 1)]
    seeds: u32,
    /// Kinds of page, by name; four by default.
    #[arg(long, value_delimiter = ',', conflicts_with = "full")]
    kinds: Vec<String>,
    /// Every kind of page.
    #[arg(long)]
    full: bool,
    /// Act with the small agent model of this folder too, such as `lab/agent-model/model`.
    #[arg(long, value_name = "FOLDER")]
    agent_model: Option<PathBuf>,
    /// Write the rows of the table to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The policy of approach B; the shipped one by default.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Where the report and the audit log go.
    #[arg(long, value_name = "FOLDER", default_value = "target/demo")]
    out: PathBuf,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let policy = arguments.policy.as_deref().map(crate::files::read_text).transpose()?;
    let chosen = match kinds(&arguments.kinds)? {
        chosen if !chosen.is_empty() => chosen,
        _ if arguments.full => ScenarioKind::EVERY.to_vec(),
        _ => DEFAULT_SCENARIOS.to_vec(),
    };
    let settings = Settings { seeds: arguments.seeds.max(1), kinds: chosen, policy, out: arguments.out };
    let makers = makers_of(arguments.agent_model.as_deref())?;
    let runtime = tokio::runtime::Runtime::new().map_err(|e| Failure::NotSetUp(e.to_string()))?;
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {eta} {msg}") {
        bar.set_style(style);
    }
    let told = AtomicU64::new(u64::MAX);
    let progress = |done: u64, all: u64, what: &str| {
        bar.set_length(all);
        bar.set_position(done);
        bar.set_message(what.to_owned());
        // Without a terminal the bar draws nothing; a line now and then shows that work goes on.
        if bar.is_hidden() && told.swap(done / 6, Ordering::Relaxed) != done / 6 {
            eprintln!("{done}/{all} {what}");
        }
    };
    let report =
        evaluation::demo::run(&settings, &makers, &runtime, &progress).map_err(|error| match error {
            EvaluationError::NotSetUp(message) => Failure::NotSetUp(message),
            EvaluationError::Input(message) => Failure::Input(message),
            EvaluationError::Failed(message) => Failure::Finding(message),
        })?;
    bar.finish_and_clear();
    println!("{}", report.table());
    if let Some(path) = &arguments.json {
        let written = std::fs::write(path, report.json());
        written.map_err(|error| Failure::Input(format!("{} cannot be written: {error}", path.display())))?;
        println!("rows    {}", path.display());
    }
    println!("{}", report.places());
    match report.guarded_leaks() {
        0 => Ok(()),
        leaks => Err(Failure::Finding(format!("{leaks} leaks under B or C: this must not happen"))),
    }
}
