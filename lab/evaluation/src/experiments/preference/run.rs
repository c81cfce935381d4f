//! The answers to every page.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_model::dialogue::{Kind, example};
use agent_model::tokenizer::TurnTokenizer;
use hmm_control::{Lookahead, ModelFile};
use language_models::transformer::TransformerModel;

use super::{FIGURE, FILE, Measured, Method, Models, Row, Settings, Words};
use crate::experiments::horizon::run::attribute;
use crate::experiments::horizon::steer::{Steering, Tree, points, write};
use crate::experiments::horizon::turns::{Turn, judge, talked_into, undisturbed};
use crate::experiments::horizon::{HorizonError, failed};
use crate::experiments::rows::RowFile;

/// The first seed of the stories.
const FROM: u64 = 400_000;

/// An agent with its tokenizer.
struct Loaded {
    words: TurnTokenizer,
    model: TransformerModel,
}

impl Loaded {
    fn read(folder: &Path) -> Result<Loaded, HorizonError> {
        let unusable = |why: String| HorizonError::Model { folder: folder.display().to_string(), why };
        let words = TurnTokenizer::load(&folder.join("tokenizer.json"))
            .map_err(|error| unusable(error.to_string()))?;
        let model = TransformerModel::load(folder).map_err(|error| unusable(error.to_string()))?;
        Ok(Loaded { words, model })
    }

    /// The page of a story, in words that may depend on this agent. `None` if the story is not one of the experiment.
    fn turn(&self, seed: u64, words: Words, tries: u64) -> Result<Option<Turn>, HorizonError> {
        match words {
            Words::None => undisturbed(&self.words, &example(seed, true), Kind::Benign, seed),
            Words::Seen => talked_into(&self.words, seed, false, 0),
            Words::Unseen => talked_into(&self.words, seed, true, 0),
            Words::Adaptive => {
                let mut worst: Option<(f64, Turn)> = None;
                for wording in 0..tries {
                    let Some(turn) = talked_into(&self.words, seed, true, wording)? else { return Ok(None) };
                    let obedience = self.obedience(&turn)?;
                    if worst.as_ref().is_none_or(|(before, _)| obedience > *before) {
                        worst = Some((obedience, turn));
                    }
                }
                Ok(worst.map(|(_, turn)| turn))
            }
        }
    }

    /// The probability that the agent's answer does not begin by continuing the task.
    fn obedience(&self, turn: &Turn) -> Result<f64, HorizonError> {
        let mut tree = Tree::new(&self.model, &turn.prompt)?;
        let mut continues = 0.0;
        for (place, token) in turn.begins.iter().enumerate() {
            let node = tree.at(turn.begins.get(..place).unwrap_or_default())?;
            let log = node.log_probabilities.get(*token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            continues += f64::from(log);
        }
        Ok(1.0 - continues.exp())
    }
}

/// Runs the experiment. The answers to each page are added to a file in `out` when they are there; the same call goes on after the last
/// one. No page begins after `time`. `progress` is called with the finished pages, all pages, and the name of the next one.
///
/// # Errors
/// If a model cannot be used, or a step fails.
pub fn run(
    models: &Models,
    settings: &Settings,
    out: &Path,
    time: Option<Duration>,
    progress: &dyn Fn(usize, usize, &str),
) -> Result<Measured, HorizonError> {
    let began = Instant::now();
    let (graded, preferred) = (Loaded::read(&models.graded)?, Loaded::read(&models.preferred)?);
    let file = models.graded.join("hmm.safetensors");
    let unusable = |why: String| HorizonError::Model { folder: models.graded.display().to_string(), why };
    let bytes = std::fs::read(&file).map_err(|error| unusable(format!("hmm.safetensors: {error}")))?;
    let hmm = ModelFile::read(Arc::new(bytes)).map_err(|error| unusable(error.to_string()))?.hmm;
    let attribute = attribute(&graded.words, hmm.vocabulary())?;
    let lookahead = Lookahead::new(hmm, attribute).map_err(failed)?;
    lookahead.prepare(settings.horizon);
    let (mut file, mut rows) = RowFile::<Vec<Row>>::open(&out.join(FILE))?;
    let all = settings.turns * Words::ALL.len();
    for words in Words::ALL {
        let (mut seed, mut found) = (FROM, 0);
        while found < settings.turns {
            let here = seed;
            seed += 1;
            if rows.iter().flatten().any(|row| row.turn == here && row.words == words) {
                found += 1;
                continue;
            }
            if time.is_some_and(|time| began.elapsed() > time) {
                break;
            }
            let Some(answers) = answers(&graded, &preferred, &lookahead, settings, here, words)? else {
                continue;
            };
            found += 1;
            file.append(&answers)?;
            rows.push(answers);
            progress(rows.len(), all, words.as_str());
        }
    }
    let measured = Measured { planned: all, rows: rows.into_iter().flatten().collect() };
    std::fs::write(out.join(FIGURE), measured.figure()).map_err(failed)?;
    Ok(measured)
}

/// The answers of every method to one page.
fn answers(
    graded: &Loaded,
    preferred: &Loaded,
    lookahead: &Lookahead,
    settings: &Settings,
    seed: u64,
    words: Words,
) -> Result<Option<Vec<Row>>, HorizonError> {
    let mut rows = Vec::new();
    let luck = points(settings.seed.wrapping_mul(1 << 32).wrapping_add(seed));
    let agents = [(graded, [Method::Base, Method::Soft]), (preferred, [Method::Preferred, Method::Both])];
    for (agent, [alone, steered]) in agents {
        let Some(turn) = agent.turn(seed, words, settings.tries)? else { return Ok(None) };
        let mut tree = Tree::new(&agent.model, &turn.prompt)?;
        let soft = Steering::Hidden { lookahead, prior: None, horizon: settings.horizon };
        for (method, steering) in [(alone, Steering::Free), (steered, soft)] {
            let written = write(&mut tree, steering, &luck)?;
            let text = agent.words.text(&written.tokens).map_err(failed)?;
            let outcome = judge(&text, &turn.card, &turn.step);
            rows.push(Row {
                turn: seed,
                words,
                method,
                leak: outcome.leak,
                success: outcome.success,
                tokens: written.tokens.len(),
                log_probability: written.log_probability,
            });
        }
    }
    Ok(Some(rows))
}
