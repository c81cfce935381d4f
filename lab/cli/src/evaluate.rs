//! `portcullis-lab evaluate`: the comparison of approaches that `spec/experiments.md` fixes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use classifier::SparseAttribute;
use classifier_training::steered_toxicity::{self, Inputs, SteeringError};
use evaluation::agent::chat::Endpoint;
use evaluation::compare::journal::TRIALS;
use evaluation::compare::plan::{Settings, VERSION};
use evaluation::compare::run::{Part, Progress};
use evaluation::compare::shards::{Shard, merge};
use evaluation::compare::{Evaluated, analyse, evaluate};
use evaluation::demo::EvaluationError;
use evaluation::horizon::{HorizonError, run as horizon};
use evaluation::report::Approach;
use evaluation::statistics::power;
use evaluation::suite::ScenarioKind;
use evaluation::trials::ablation::Ablation;
use evaluation::trials::agents::{Chat, MakeAgent, Obedient, Small};
use evaluation::trials::arm::Arm;
use evaluation::trials::asking::Asking;
use evaluation::user::UserModel;
use evaluation::{adaptive, miniwob, preference, worms};
use indicatif::{ProgressBar, ProgressStyle};
use portcullis_cli::hmm::byte_pair::{Encoding, Tokenizer};

use crate::failure::Failure;
use crate::hmm::horizon::measure;

/// A research question whose experiment can be run.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Question {
    /// It varies the score, the mandate and the way of paying, one at a time.
    Rq4a,
    /// It varies how often the user is asked, from never to always, on the scenarios that only a person can judge.
    Rq2,
    /// It takes parts of approach B away: each set of scrubbing, the checks of what leaves and handles; and a remembered yes. It has
    /// trials without a guard too.
    Ablations,
    /// RQ1 and RQ4b: it measures look-ahead and rollouts by horizon on the agent that can be talked into things to a degree, without a browser.
    #[value(alias = "rq4b")]
    Rq1,
    /// RQ1 with a classifier: it steers a language model by the shipped attribute of toxicity, without a browser, on the collections
    /// of `--data`.
    Rq1Toxicity,
    /// It compares the look-ahead with an agent that was trained by preferences (DPO), and both together, without a browser.
    Rq3,
    /// It follows text that asks an agent to pass it on over generations of agents and shops, with a guard and without.
    Worms,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// The last seed; fixed before the first trial.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The first seed. A run in a folder of its own can so add seeds to another one.
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Approaches, by name: none, A, B, C.
    #[arg(long, value_delimiter = ',', default_value = "none,A,B,C")]
    approaches: Vec<String>,
    /// Run the arms of a research question in place of the approaches.
    #[arg(long, value_enum, conflicts_with = "approaches")]
    question: Option<Question>,
    /// The folder of the collections, which `--question rq1-toxicity` needs; they are not part of the project.
    #[arg(long, value_name = "FOLDER", required_if_eq("question", "rq1-toxicity"))]
    data: Option<PathBuf>,
    /// The folder of a transformer in Hugging Face's form that writes in `--question rq1-toxicity`, in place of n-grams. It has GPT-2's tokens, and
    /// its texts begin after its end token.
    #[arg(long, value_name = "FOLDER", requires = "data")]
    transformer: Option<PathBuf>,
    /// Make only the trials of these approaches or arms now. The plan stays the same; the same command without this option makes the rest.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Make only this shard of the plan, such as 2/8, in a folder of its own. `--merge` puts the shards together.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Make no trial: merge the shards in these folders into `--out`, and write the report.
    #[arg(long, value_name = "FOLDERS", value_delimiter = ',', conflicts_with_all = ["power", "shard", "report_only"])]
    merge: Vec<PathBuf>,
    /// Begin no trial after so many minutes. The same command goes on from there.
    #[arg(long, value_name = "MINUTES")]
    minutes: Option<u64>,
    /// Act with the small agent model of this folder too, such as `lab/agent-model/model`.
    #[arg(long, value_name = "FOLDER")]
    agent_model: Option<PathBuf>,
    /// Act with that model a second time, free to misspell what it copies.
    #[arg(long, requires = "agent_model")]
    agent_model_free: bool,
    /// Act with this model too, or with its recording.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Where the model answers, over http in the form of chat completions; without it, recordings are played.
    #[arg(long, value_name = "URL", requires = "model")]
    endpoint: Option<String>,
    /// Where recordings are; `tapes` beside the trials by default.
    #[arg(long, value_name = "FOLDER", requires = "model")]
    tapes: Option<PathBuf>,
    /// Kinds of page, by name; all where there are none.
    #[arg(long, value_delimiter = ',')]
    kinds: Vec<String>,
    /// The policy of approach B; the shipped one by default.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The chance that the simulated user answers the first prompt wrongly.
    #[arg(long, default_value_t = 0.0)]
    user_base: f64,
    /// What each further prompt adds to it.
    #[arg(long, default_value_t = 0.0)]
    user_growth: f64,
    /// The most it becomes.
    #[arg(long, default_value_t = 0.5)]
    user_most: f64,
    /// Where the trials and the report are. A run that was killed goes on there.
    #[arg(long, value_name = "FOLDER", default_value = "target/evaluate")]
    out: PathBuf,
    /// Search for wordings that the shipped classifiers and thresholds pass, with so many queries from each start, and
    /// try the best on real pages; then write the report, where there are trials.
    #[arg(long, value_name = "QUERIES", conflicts_with_all = ["power", "report_only"])]
    adaptive: Option<u64>,
    /// What that search follows from.
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "adaptive")]
    adaptive_seed: u64,
    /// Run the tasks of MiniWoB++ whose package was unpacked in this folder, without a guard and under B, `--seeds` times
    /// each; then write the report, where there are trials.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["power", "report_only", "adaptive"])]
    miniwob: Option<PathBuf>,
    /// Only these tasks of MiniWoB++, by name.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "miniwob")]
    tasks: Vec<String>,
    /// Write what the agent did and was told in each episode of MiniWoB++ to this folder.
    #[arg(long, value_name = "FOLDER", requires = "miniwob")]
    transcripts: Option<PathBuf>,
    /// Make no trial: write the report of those that are there.
    #[arg(long, conflicts_with = "power")]
    report_only: bool,
    /// Print the calculation of the sample sizes, and nothing else.
    #[arg(long)]
    power: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.power {
        print!("{}", power::table());
        return Ok(());
    }
    if let Some(queries) = arguments.adaptive {
        return search(queries.max(1), arguments);
    }
    match arguments.question {
        Some(Question::Worms) => return followed(arguments),
        Some(Question::Rq1) => return looked_ahead(arguments),
        Some(Question::Rq1Toxicity) => return kept_clean(arguments),
        Some(Question::Rq3) => return preferred(arguments),
        Some(Question::Rq4a | Question::Rq2 | Question::Ablations) | None => {}
    }
    if let Some(folder) = &arguments.miniwob {
        return tasks_of_others(folder, arguments);
    }
    if !arguments.merge.is_empty() {
        let merged =
            merge(&arguments.merge, &arguments.out).map_err(|error| Failure::Input(error.to_string()))?;
        println!("merged  {} of {} trials", merged.trials, merged.planned);
    }
    let evaluated = if arguments.report_only || !arguments.merge.is_empty() {
        analyse(&arguments.out).map_err(failure)?
    } else {
        let makers = makers(arguments)?;
        make(settings(arguments, &makers)?, makers, arguments)?
    };
    print!("{}", evaluated.analysis.table());
    println!("trials  {} in {}", evaluated.trials, arguments.out.join("trials.jsonl").display());
    println!("report  {}", evaluated.report.display());
    match evaluated.analysis.broken_promises() {
        0 => Ok(()),
        leaks => {
            Err(Failure::Finding(format!("{leaks} trials leaked under the guard: this must not happen")))
        }
    }
}

fn make(
    settings: Settings,
    makers: Vec<Box<dyn MakeAgent>>,
    arguments: &Arguments,
) -> Result<Evaluated, Failure> {
    let part = Part {
        approaches: arguments.only.iter().map(approach).collect::<Result<_, _>>()?,
        shard: arguments.shard,
        time: duration(arguments),
    };
    watched(async |tell| evaluate(settings, makers, &arguments.out, &part, tell).await)
}

/// The adaptive attacker.
fn search(queries: u64, arguments: &Arguments) -> Result<(), Failure> {
    let found = watched(async |tell| adaptive::run(queries, arguments.adaptive_seed, tell).await)?;
    print!("{}", found.table());
    keep(found.write(&arguments.out), adaptive::findings::FILE, arguments)?;
    match found.broken_promises() {
        0 => Ok(()),
        leaks => Err(Failure::Finding(format!("{leaks} trials leaked under B or C: this must not happen"))),
    }
}

/// Worms.
fn followed(arguments: &Arguments) -> Result<(), Failure> {
    let found = watched(async |tell| {
        worms::run(arguments.seeds.max(1), &arguments.out, duration(arguments), tell).await
    })?;
    print!("{}", found.table());
    println!("chains  {}", arguments.out.join(worms::FILE).display());
    println!("plot    {}", arguments.out.join(worms::FIGURE).display());
    match found.broken_promises() {
        0 => Ok(()),
        alive => Err(Failure::Finding(format!(
            "{alive} worms were passed on under the guard: this must not happen"
        ))),
    }
}

/// The agents of the questions that need no browser: the graded one, and the one that was trained by preferences.
const GRADED: &str = "lab/agent-model/graded";
const PREFERRED: &str = "lab/agent-model/preferred";
/// The shipped attribute.
const TOXICITY: &[u8] = include_bytes!("../../../classifier/models/toxicity.attribute");

/// RQ1 and RQ4b at the planned size, with the graded agent and its hidden Markov model.
fn looked_ahead(arguments: &Arguments) -> Result<(), Failure> {
    let folder = arguments.agent_model.clone().unwrap_or_else(|| GRADED.into());
    let settings =
        horizon::Settings { hmm: Some(folder.join("hmm.safetensors")), ..horizon::Settings::graded() };
    let measured = measure(&folder, &settings, &arguments.out, duration(arguments))?;
    print!("{}", measured.table());
    Ok(())
}

/// RQ1 with the shipped attribute of toxicity, at the planned size.
fn kept_clean(arguments: &Arguments) -> Result<(), Failure> {
    let data = arguments.data.as_deref().filter(|folder| folder.is_dir()).ok_or_else(|| {
        let asked = "--data names no folder; give the one that holds the collections (they are not part of the project)";
        Failure::NotSetUp(asked.to_owned())
    })?;
    let attribute =
        SparseAttribute::from_bytes(TOXICITY).map_err(|error| Failure::Finding(error.to_string()))?;
    let tokenizer = Tokenizer::new(Encoding::Gpt2);
    let inputs = Inputs {
        data,
        out: &arguments.out,
        attribute: &attribute,
        transformer: arguments.transformer.as_deref(),
        encode: &|text| tokenizer.encode(text),
        decode: &|tokens| tokenizer.decode(tokens),
    };
    let progress = crate::progress::Progress::new();
    let outcome = steered_toxicity::run(
        &inputs,
        &steered_toxicity::Settings::default(),
        duration(arguments),
        &mut |step| {
            progress.set(step.done as u64, step.of as u64);
            progress.say(format!("{}, {} of {}", step.stage, step.done, step.of));
        },
    );
    let outcome = outcome.map_err(|error| match error {
        SteeringError::Source(_) | SteeringError::Corpus(_) | SteeringError::Data(_) => {
            Failure::NotSetUp(error.to_string())
        }
        SteeringError::Other { .. }
        | SteeringError::File { .. }
        | SteeringError::Load { .. }
        | SteeringError::Vocabulary { .. } => Failure::Input(error.to_string()),
        _ => Failure::Finding(error.to_string()),
    })?;
    progress.finish();
    if let Some(report) = &outcome.report {
        println!("{}", report.text);
    }
    let rows = arguments.out.join(steered_toxicity::FILE);
    println!("rows    {} of {} in {}", outcome.rows, outcome.planned, rows.display());
    println!("report  {}", arguments.out.join(steered_toxicity::SUMMARY).display());
    println!("plot    {}", arguments.out.join(steered_toxicity::FIGURE).display());
    Ok(())
}

/// RQ3 at the planned size.
fn preferred(arguments: &Arguments) -> Result<(), Failure> {
    let models = preference::Models {
        graded: arguments.agent_model.clone().unwrap_or_else(|| GRADED.into()),
        preferred: PREFERRED.into(),
    };
    let progress = crate::progress::Progress::new();
    let tell = |done: usize, all: usize, what: &str| {
        progress.set(done as u64, all as u64);
        progress.say(format!("{what}, {done} of {all}"));
    };
    let settings = preference::Settings::default();
    let measured = preference::run(&models, &settings, &arguments.out, duration(arguments), &tell);
    let measured = measured.map_err(|error| match error {
        HorizonError::Model { .. } => Failure::Input(error.to_string()),
        HorizonError::Failed(_) => Failure::Finding(error.to_string()),
    })?;
    progress.finish();
    print!("{}", measured.table());
    println!("rows    {}", arguments.out.join(preference::FILE).display());
    println!("plot    {}", arguments.out.join(preference::FIGURE).display());
    Ok(())
}

/// The time after which nothing more begins.
fn duration(arguments: &Arguments) -> Option<Duration> {
    arguments.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)))
}

/// MiniWoB++.
fn tasks_of_others(folder: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let plan = miniwob::trials::Plan {
        folder: folder.to_owned(),
        seeds: arguments.seeds.max(1),
        tasks: arguments.tasks.clone(),
        transcripts: arguments.transcripts.clone(),
    };
    let found = watched(async |tell| miniwob::trials::run(&plan, tell).await)?;
    print!("{}", found.table());
    keep(found.write(&arguments.out), miniwob::findings::FILE, arguments)
}

/// Says where findings were written, and writes the report anew where there are trials that it tells of.
fn keep(written: std::io::Result<()>, file: &str, arguments: &Arguments) -> Result<(), Failure> {
    let out = &arguments.out;
    written.map_err(|error| Failure::Input(format!("{} cannot be written: {error}", out.display())))?;
    println!("found   {}", out.join(file).display());
    if out.join(TRIALS).exists() {
        println!("report  {}", analyse(out).map_err(failure)?.report.display());
    }
    Ok(())
}

/// Runs something to its end, with a bar for whoever watches.
fn watched<T>(work: impl AsyncFnOnce(Progress<'_>) -> Result<T, EvaluationError>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| Failure::NotSetUp(e.to_string()))?;
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {eta} {msg}") {
        bar.set_style(style);
    }
    let told = AtomicU64::new(u64::MAX);
    let tell = |done: u64, all: u64, what: &str| {
        bar.set_length(all);
        bar.set_position(done);
        bar.set_message(what.to_owned());
        // Without a terminal the bar draws nothing; a line now and then shows that work goes on.
        if bar.is_hidden() && told.swap(done / 10, Ordering::Relaxed) != done / 10 {
            eprintln!("{done}/{all} {what}");
        }
    };
    let done = runtime.block_on(work(&tell)).map_err(failure)?;
    bar.finish_and_clear();
    Ok(done)
}

fn failure(error: EvaluationError) -> Failure {
    match error {
        EvaluationError::NotSetUp(message) => Failure::NotSetUp(message),
        EvaluationError::Input(message) => Failure::Input(message),
        EvaluationError::Failed(message) => Failure::Finding(message),
    }
}

/// The agent that obeys everything, and the small model's where there is a folder with it.
pub(crate) fn makers_of(agent_model: Option<&Path>) -> Result<Vec<Box<dyn MakeAgent>>, Failure> {
    let mut makers: Vec<Box<dyn MakeAgent>> = vec![Box::new(Obedient)];
    if let Some(folder) = agent_model {
        let small = Small::load(folder)
            .map_err(|error| Failure::NotSetUp(format!("{}: {error}", folder.display())))?;
        makers.push(Box::new(small));
    }
    Ok(makers)
}

/// Kinds of page by their names.
pub(crate) fn kinds(names: &[String]) -> Result<Vec<ScenarioKind>, Failure> {
    let kind = |name: &String| {
        let known = ScenarioKind::all().find(|kind| kind.as_str() == name.as_str());
        known.ok_or_else(|| {
            let known: Vec<&str> = ScenarioKind::all().map(ScenarioKind::as_str).collect();
            Failure::Input(format!("there is no kind of page `{name}`; there are {}", known.join(", ")))
        })
    };
    names.iter().map(kind).collect()
}

fn makers(arguments: &Arguments) -> Result<Vec<Box<dyn MakeAgent>>, Failure> {
    let mut makers = makers_of(arguments.agent_model.as_deref())?;
    if let Some(folder) = arguments.agent_model.as_deref().filter(|_| arguments.agent_model_free) {
        let free = Small::load_free(folder)
            .map_err(|error| Failure::NotSetUp(format!("{}: {error}", folder.display())))?;
        makers.push(Box::new(free));
    }
    if let Some(model) = &arguments.model {
        let endpoint = arguments.endpoint.as_deref().map(|base| Endpoint::new(base, model));
        let endpoint = endpoint.transpose().map_err(|error| Failure::Input(error.to_string()))?;
        let tapes = arguments.tapes.clone().unwrap_or_else(|| arguments.out.join("tapes"));
        makers.push(Box::new(Chat::new(model, endpoint, tapes)));
    }
    Ok(makers)
}

/// An approach, or an arm, by its name.
fn approach(name: &String) -> Result<Approach, Failure> {
    Approach::from_name(name).ok_or_else(|| {
        let known = Approach::all().map(Approach::as_str).collect::<Vec<&str>>().join(", ");
        Failure::Input(format!("there is no approach `{name}` to run; there are {known}"))
    })
}

fn settings(arguments: &Arguments, makers: &[Box<dyn MakeAgent>]) -> Result<Settings, Failure> {
    let rate = |name: &str, value: f64| {
        if (0.0..=1.0).contains(&value) {
            return Ok(value);
        }
        Err(Failure::Input(format!("--{name} {value} is not between 0 and 1")))
    };
    let kinds = kinds(&arguments.kinds)?;
    Ok(Settings {
        version: VERSION,
        approaches: match arguments.question {
            Some(Question::Rq4a) => Arm::ALL.map(Approach::Arm).to_vec(),
            Some(Question::Rq2) => Asking::LEVELS.to_vec(),
            // These are no trials of this plan.
            Some(Question::Worms | Question::Rq1 | Question::Rq1Toxicity | Question::Rq3) => Vec::new(),
            Some(Question::Ablations) => [Approach::None, Approach::B]
                .into_iter()
                .chain(Ablation::ALL.map(Approach::Without))
                .collect(),
            None => arguments.approaches.iter().map(approach).collect::<Result<_, _>>()?,
        },
        agents: makers.iter().map(|maker| maker.name().to_owned()).collect(),
        kinds: match (kinds.is_empty(), arguments.question) {
            (true, Some(Question::Rq2)) => ScenarioKind::JUDGED.to_vec(),
            (true, _) => ScenarioKind::all().collect(),
            (false, _) => kinds,
        },
        first_seed: arguments.first_seed.max(1),
        seeds: arguments.seeds.max(arguments.first_seed).max(1),
        user: UserModel {
            base: rate("user-base", arguments.user_base)?,
            growth: rate("user-growth", arguments.user_growth)?,
            most: rate("user-most", arguments.user_most)?,
        },
        policy: arguments.policy.as_deref().map(crate::files::read_text).transpose()?,
    })
}
