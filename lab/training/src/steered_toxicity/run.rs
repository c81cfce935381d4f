//! A run, in shards.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use classifier::{SparseAttribute, TokenAttribute};
use hmm_control::distil::Sequences;
use hmm_control::{Attribute, Controller, Hmm, LanguageModel, Lookahead, Sampler, Storage};

use super::distilled::{Distilled, distil};
use super::judges::{Judge, Texts};
use super::prompts::{self, Prompt};
use super::report::{Models, Report, report};
use super::rows::{Journal, Row, write_whole};
use super::writing::{Steering, Writer, all_but_worst};
use super::{LanguageTexts, Method, Progress, Settings, SteeringError, language, neural};
use crate::corpora::toxicity;
use crate::hash;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The naive baseline forbids the tokens that by themselves halve a text's weight.
const WORST: f64 = -std::f64::consts::LN_2;

/// The file of the rows within the folder of a run.
pub const FILE: &str = "rows.jsonl";
/// The file of the report.
pub const SUMMARY: &str = "summary.md";
/// The file of the figure.
pub const FIGURE: &str = "violations.svg";

/// The inputs of a run: folders, the attribute and the tokenizer.
pub struct Inputs<'a> {
    /// The folder of the collections.
    pub data: &'a Path,
    /// The folder of the run.
    pub out: &'a Path,
    /// The attribute that steers; its vocabulary is that of the tokenizer.
    pub attribute: &'a SparseAttribute,
    /// The folder of a transformer that writes; without one, n-grams do.
    pub transformer: Option<&'a Path>,
    /// Turns text into tokens.
    pub encode: &'a dyn Fn(&str) -> Vec<u32>,
    /// Turns tokens into text.
    pub decode: &'a dyn Fn(&[u32]) -> String,
}

/// The state of a run at the end of a shard.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The rows that there are.
    pub rows: usize,
    /// The rows that are planned.
    pub planned: usize,
    /// The report of the rows so far; `None` before the first.
    pub report: Option<Report>,
}

impl Outcome {
    /// Returns whether every planned row is there.
    pub fn is_finished(&self) -> bool {
        self.rows == self.planned
    }
}

/// Runs the experiment for so long at most, and goes on where an earlier call or a killed one stopped.
///
/// The folder gets `settings.json`, `hmm.checkpoint` and the files [`FILE`], [`SUMMARY`] and [`FIGURE`]. The same settings give the
/// same rows but for their times, however the run is divided. Each call reads the collections, trains the n-grams or loads the transformer,
/// draws the texts that the hidden Markov model learns from, and fits the judges anew. That takes some seconds of one core with n-grams, and
/// some minutes with a transformer.
///
/// # Errors
/// When a collection is missing, the transformer does not fit, a file cannot be read or written, or the folder has rows of other settings or
/// of another transformer.
pub fn run(
    inputs: &Inputs<'_>,
    settings: &Settings,
    limit: Option<Duration>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, SteeringError> {
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    let transformer = inputs.transformer.map(neural::digest).transpose()?;
    let settings = &Settings { transformer, ..settings.clone() };
    begin(inputs.out, settings)?;
    let say = |progress: &mut dyn FnMut(Progress), stage: &str| {
        progress(Progress { stage: stage.to_owned(), done: 0, of: 1 });
    };
    say(progress, "reading the collections");
    let prompts = prompts::read(inputs.data)?;
    let mut texts = Texts::new(toxicity::read(inputs.data)?.documents);
    let tweets = std::mem::take(&mut texts.tweets);
    let learned = LanguageTexts::with_tweets(inputs.data, tweets)?;
    say(progress, "fitting the judges");
    let cut = |text: &str| {
        let tokens = (inputs.encode)(&format!(" {text}"));
        (inputs.decode)(tokens.get(..settings.length).unwrap_or(&tokens)).trim().to_owned()
    };
    let judges = texts.judges(settings.seed, &learned.held_out, &cut)?;
    let vocabulary = inputs.attribute.vocabulary();
    let sizes = learned.sizes(inputs.encode);
    let run = Run { inputs, settings, prompts: &prompts, judges: &judges, sizes, until };
    match inputs.transformer {
        Some(folder) => {
            say(progress, "loading the language model");
            let model = neural::load(folder, vocabulary)?;
            let drawn = neural::draw(&model, settings, progress)?;
            run.with(&model, drawn, neural::described(&model, settings), progress)
        }
        None => {
            say(progress, "training the language model");
            let model = language::train(&learned, vocabulary, inputs.encode)?;
            say(progress, "drawing texts");
            let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
            let mut drawn = Sequences::new();
            for _ in 0..settings.rollouts {
                drawn.push(&model.write(&model.start(), settings.rollout_length, &mut rng));
            }
            run.with(&model, drawn, "n-grams of order 4".to_owned(), progress)
        }
    }
}

/// A run before its language model.
struct Run<'a> {
    inputs: &'a Inputs<'a>,
    settings: &'a Settings,
    prompts: &'a [Prompt],
    judges: &'a [Judge],
    sizes: Vec<(String, usize)>,
    until: Option<Instant>,
}

impl Run<'_> {
    /// Distils the hidden Markov model and writes the continuations.
    fn with<M: LanguageModel>(
        self,
        model: &M,
        drawn: Sequences,
        language: String,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome, SteeringError> {
        let Run { inputs, settings, prompts, judges, sizes, until } = self;
        let file = inputs.out.join("hmm.checkpoint");
        let methods = Method::planned();
        let planned = planned(prompts, settings, &methods);
        let (mut journal, mut rows) = Journal::open(&inputs.out.join(FILE))?;
        let Some(Distilled { hmm, nats }) = distil(model, drawn, settings, &file, until, progress)? else {
            return Ok(Outcome { rows: rows.len(), planned, report: None });
        };
        let steered = Steered::new(hmm, inputs.attribute, &methods)?;
        let sampler = Sampler::new(1.0)?.top_k(settings.top_k);
        let writer = Writer { model, sampler, length: settings.length };
        let models = Models { language, sizes, nats, banned: steered.banned(inputs.attribute) };
        let context = Context { inputs, settings, judges, writer: &writer, steered: &steered };
        context.write(prompts, until, &mut journal, &mut rows, progress)?;
        let found = (!rows.is_empty()).then(|| report(&rows, judges, &models, settings));
        if let Some(found) = &found {
            write_whole(&inputs.out.join(SUMMARY), found.text.as_bytes())?;
            write_whole(&inputs.out.join(FIGURE), found.picture.as_bytes())?;
        }
        Ok(Outcome { rows: rows.len(), planned, report: found })
    }
}

/// Makes the folder, or checks that it is of these settings.
fn begin(out: &Path, settings: &Settings) -> Result<(), SteeringError> {
    std::fs::create_dir_all(out).map_err(SteeringError::file(out))?;
    let path = out.join("settings.json");
    let other = |problem: String| SteeringError::Other { path: path.clone(), problem };
    match std::fs::read(&path) {
        Ok(bytes) => {
            let found: Settings = serde_json::from_slice(&bytes).map_err(|error| other(error.to_string()))?;
            if found == *settings { Ok(()) } else { Err(other("its settings differ".to_owned())) }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let text = serde_json::to_string_pretty(settings).map_err(|error| other(error.to_string()))?;
            write_whole(&path, text.as_bytes())
        }
        Err(error) => Err(SteeringError::file(&path)(error)),
    }
}

fn continuations(prompt: &Prompt, settings: &Settings) -> usize {
    if prompt.seen { settings.continuations_of_seen } else { settings.continuations }
}

fn planned(prompts: &[Prompt], settings: &Settings, methods: &[Method]) -> usize {
    prompts.iter().map(|prompt| continuations(prompt, settings) * methods.len()).sum()
}

/// The methods with what they need.
struct Steered<'a> {
    attribute: &'a SparseAttribute,
    controllers: Vec<(Method, Controller)>,
    ahead: Lookahead,
    mask: Vec<u64>,
}

impl<'a> Steered<'a> {
    fn new(
        hmm: Hmm,
        attribute: &'a SparseAttribute,
        methods: &[Method],
    ) -> Result<Steered<'a>, SteeringError> {
        let weights = Attribute::from_tokens(attribute)?;
        let ahead = Lookahead::new(hmm, weights.clone())?;
        // With horizon 0 the weights of the next tokens alone count, whatever the model, so the smallest one serves.
        let even = one_state(attribute.vocabulary())?;
        let here = Lookahead::new(even, weights)?;
        let mut controllers = Vec::new();
        for method in methods {
            if let Method::Lookahead { horizon, strength } = *method {
                let lookahead = if horizon == 0 { &here } else { &ahead };
                controllers.push((*method, Controller::new(lookahead.clone(), f64::from(strength))?));
            }
        }
        Ok(Steered { attribute, controllers, ahead, mask: all_but_worst(attribute, WORST) })
    }

    fn of(&self, method: Method) -> Steering<'_> {
        let controller = self.controllers.iter().find(|(one, _)| *one == method).map(|(_, one)| one);
        match (method, controller) {
            (Method::Lookahead { horizon, .. }, Some(controller)) => Steering::Lookahead(controller, horizon),
            (Method::BestOf(count), _) => Steering::BestOf(count, self.attribute),
            (Method::Ban, _) => Steering::Ban(&self.mask),
            _ => Steering::Free,
        }
    }

    /// Returns the log weight of so many tokens that the hidden Markov model expects after a prompt.
    fn expected(&self, prompt: &[u32], length: usize) -> f64 {
        let mut progress = self.ahead.start();
        prompt.iter().for_each(|token| self.ahead.observe_prompt(&mut progress, *token));
        self.ahead.expectation(&progress, length)
    }

    fn banned(&self, attribute: &SparseAttribute) -> usize {
        attribute.weights().iter().filter(|(_, weight)| f64::from(*weight) < WORST).count()
    }
}

/// Returns the hidden Markov model of one state whose tokens are equally likely.
fn one_state(vocabulary: usize) -> Result<Hmm, SteeringError> {
    let even = 1.0 / vocabulary.max(1) as f64;
    let one = ndarray::Array2::from_elem((1, 1), 1.0);
    let tokens = ndarray::Array2::from_elem((1, vocabulary), even);
    Ok(Hmm::new(&[1.0], one.view(), tokens.view(), Storage::F32)?)
}

/// The models and settings that the writing of rows needs.
struct Context<'a, M> {
    inputs: &'a Inputs<'a>,
    settings: &'a Settings,
    judges: &'a [Judge],
    writer: &'a Writer<'a, M>,
    steered: &'a Steered<'a>,
}

impl<M: LanguageModel> Context<'_, M> {
    fn write(
        &self,
        prompts: &[Prompt],
        until: Option<Instant>,
        journal: &mut Journal,
        rows: &mut Vec<Row>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), SteeringError> {
        let methods = Method::planned();
        let of = planned(prompts, self.settings, &methods);
        let there: BTreeSet<(u64, usize, String)> =
            rows.iter().map(|row| (row.prompt, row.continuation, row.method.clone())).collect();
        // The first continuation of every primary prompt comes first, so that a run that is not finished is a sample.
        for (seen, continuation) in self.rounds() {
            for prompt in prompts.iter().filter(|prompt| prompt.seen == seen) {
                let tokens = (self.inputs.encode)(&format!(" {}", prompt.text));
                for method in &methods {
                    if there.contains(&(prompt.number, continuation, method.name())) {
                        continue;
                    }
                    if until.is_some_and(|until| Instant::now() >= until) {
                        return Ok(());
                    }
                    let row = self.row(prompt, &tokens, continuation, *method)?;
                    journal.push(&row)?;
                    rows.push(row);
                }
                progress(Progress { stage: "writing".to_owned(), done: rows.len(), of });
            }
        }
        Ok(())
    }

    fn rounds(&self) -> impl Iterator<Item = (bool, usize)> {
        let Settings { continuations, continuations_of_seen, .. } = *self.settings;
        (0..continuations)
            .map(|number| (false, number))
            .chain((0..continuations_of_seen).map(|number| (true, number)))
    }

    fn row(
        &self,
        prompt: &Prompt,
        tokens: &[u32],
        continuation: usize,
        method: Method,
    ) -> Result<Row, SteeringError> {
        let seed = hash(&format!("{} {} {continuation}", self.settings.seed, prompt.number));
        let began = thread_time();
        let written = self.writer.write(tokens, self.steered.of(method), seed)?;
        let took = thread_time().saturating_sub(began);
        let text = (self.inputs.decode)(&written.tokens);
        Ok(Row {
            prompt: prompt.number,
            seen: prompt.seen,
            continuation,
            method: method.name(),
            log_probability: written.log_probability,
            expected: (method == Method::Free).then(|| self.steered.expected(tokens, self.settings.length)),
            log_weight: self.inputs.attribute.log_weight_of(&written.tokens),
            judged: self.judges.iter().map(|judge| judge.log_odds(text.trim())).collect(),
            tokens: written.tokens,
            milliseconds: took.as_secs_f64() * 1e3,
        })
    }
}

/// The time that the processor spent on this thread, so that other programs do not count.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or_default())
}

/// The time since the first call, where there is no clock of a thread.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static FIRST: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use super::super::writing::exact::{Exact, bait};
    use super::*;

    /// Writes rows into a folder until a time, as a shard does.
    fn shard(out: &Path, until: Option<Instant>) -> Vec<Row> {
        let attribute = SparseAttribute::new(4, [(3, -0.5)]).unwrap();
        let exact = Exact(bait());
        let steered = Steered::new(bait(), &attribute, &Method::planned()).unwrap();
        let settings = Settings { continuations: 2, length: 6, ..Settings::default() };
        let inputs = Inputs {
            data: out,
            out,
            attribute: &attribute,
            transformer: None,
            encode: &|text| vec![2 + (text.len() % 2) as u32],
            decode: &|tokens| format!("{tokens:?}"),
        };
        let writer = Writer { model: &exact, sampler: Sampler::new(1.0).unwrap().top_k(4), length: 6 };
        let context =
            Context { inputs: &inputs, settings: &settings, judges: &[], writer: &writer, steered: &steered };
        let prompts = ["a", "bc", "d"].map(|text| Prompt {
            number: hash(text),
            text: text.to_owned(),
            seen: text == "d",
        });
        let (mut journal, mut rows) = Journal::open(&out.join(FILE)).unwrap();
        context.write(&prompts, until, &mut journal, &mut rows, &mut |_| ()).unwrap();
        // Read again, since reading a number may change its last bit.
        let (_, read) = Journal::open(&out.join(FILE)).unwrap();
        assert_eq!(read.len(), rows.len());
        read
    }

    #[test]
    fn a_killed_run_ends_in_the_same_rows() {
        let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let wanted = shard(whole.path(), None);
        // Two prompts are continued twice and one once.
        assert_eq!(wanted.len(), 5 * Method::planned().len());
        assert!(shard(killed.path(), Some(Instant::now())).is_empty());
        let file = killed.path().join(FILE);
        let bytes = std::fs::read(whole.path().join(FILE)).unwrap();
        for cut in [1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
            std::fs::write(&file, bytes.get(..cut).unwrap()).unwrap();
            let found = shard(killed.path(), None);
            assert_eq!(found.len(), wanted.len());
            assert!(found.iter().zip(&wanted).all(|(one, other)| one.is_same(other)), "cut at {cut}");
        }
    }

    #[test]
    fn a_folder_takes_one_setting() {
        let out = tempfile::tempdir().unwrap();
        let settings = Settings::default();
        begin(out.path(), &settings).unwrap();
        begin(out.path(), &settings).unwrap();
        let other = begin(out.path(), &Settings { seed: 33, ..settings });
        assert!(matches!(other, Err(SteeringError::Other { .. })), "{other:?}");
    }
}
