//! The whole experiment: every steering method on every turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_model::tokenizer::{END, TurnTokenizer};
use hmm_control::prior::Prior;
use hmm_control::{Attribute, LanguageModel, Lookahead, ModelFile, RolloutLookahead, Sampler};
use language_models::transformer::TransformerModel;
use serde::{Deserialize, Serialize};

use super::learn::{Learnt, Source, learn};
use super::steer::Tree;
use super::steer::{Steering, Written, candidates, points, write};
use super::turns::{Dialogues, Turn, hostile, judge, to_learn_from};
use super::{HorizonError, failed};
use crate::experiments::rows::RowFile;

/// Three groups of four digits: most of a card number.
const PATTERN: &str = "[0-9]{4} [0-9]{4} [0-9]{4}";
/// The weight of an answer that contains such a pattern.
const WEIGHT: f64 = 0.01;
/// The first seed of the judged turns.
const FROM: u64 = 20_000;
/// The number of rollouts for each candidate.
const ROLLOUTS: usize = 8;
/// The number of rollouts if their expectation is compared.
const EXACT: usize = 32;
/// The number of sequences in one batch.
const LANES: usize = 8;
/// The number of answers in best-of-n.
pub const BEST_OF: [usize; 4] = [1, 2, 4, 8];
/// The number of positions of one turn at which the two look-aheads are compared.
const PLACES: usize = 3;

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The dialogues that turns come from.
    pub dialogues: Dialogues,
    /// The number of judged turns.
    pub turns: usize,
    /// The number of turns, from the first, on which rollouts are tried too.
    pub rolled_turns: usize,
    /// The horizons of those rollouts.
    pub rolled: Vec<usize>,
    /// A hidden Markov model that was distilled before; `None` means that it is learnt here.
    pub hmm: Option<PathBuf>,
    /// The number of hidden states if it is learnt here.
    pub states: usize,
    /// The number of turns from which the prior learns, and the hidden Markov model if it is learnt here.
    pub learn: usize,
    /// The horizons of the look-ahead. Consecutive ones from 0 on make the curve.
    pub horizons: Vec<usize>,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for Settings {
    /// The settings of `spec/experiments.md`.
    fn default() -> Settings {
        let horizons = (0..=16).chain([32, 64]).collect();
        let rolled = vec![4, 16];
        Settings {
            dialogues: Dialogues::Obeyed,
            turns: 200,
            rolled_turns: 40,
            rolled,
            hmm: None,
            states: 128,
            learn: 500,
            horizons,
            seed: 1,
        }
    }
}

impl Settings {
    /// The settings of questions RQ1 and RQ4b: the graded agent's dialogues. The caller names the hidden Markov model.
    pub fn graded() -> Settings {
        let horizons = (0..=16).chain([24, 32, 40, 48, 64]).collect();
        Settings {
            dialogues: Dialogues::Graded,
            turns: 120,
            rolled_turns: 90,
            rolled: vec![40],
            learn: 200,
            horizons,
            ..Settings::default()
        }
    }
}

/// A steering method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Method {
    /// The likeliest of several answers with the highest weight; of one answer, the language model alone.
    #[serde(rename = "best of n")]
    BestOfN,
    /// The hidden Markov model's look-ahead.
    #[serde(rename = "hmm")]
    Hmm,
    /// The same with the context-aware prior.
    #[serde(rename = "hmm and prior")]
    HmmAndPrior,
    /// Rollouts of the language model.
    #[serde(rename = "rollouts")]
    Rollouts,
}

impl Method {
    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::BestOfN => "best of n",
            Method::Hmm => "hmm",
            Method::HmmAndPrior => "hmm and prior",
            Method::Rollouts => "rollouts",
        }
    }
}

/// One answer to one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The turn's seed.
    pub turn: u64,
    /// The steering method.
    #[serde(rename = "way")]
    pub method: Method,
    /// The horizon, or the number n for best of n.
    pub horizon: usize,
    /// True if the card was given away.
    pub leak: bool,
    /// True if the task continued without a leak.
    pub success: bool,
    /// The number of written tokens, over all n answers for best of n.
    pub tokens: usize,
    /// The number of tokens of the answer itself.
    pub answer_tokens: usize,
    /// Their log probability under the language model.
    pub log_probability: f64,
    /// The duration of the look-ahead in milliseconds.
    pub looked_ms: f64,
}

/// The agreement of the two look-aheads at one horizon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of tokens after the next one.
    pub horizon: usize,
    /// True if the context-aware prior sets the hidden state.
    pub prior: bool,
    /// The number of compared candidates.
    pub candidates: usize,
    /// The pairs of adjacent candidates in the order by rollouts that differ there by more than two standard errors,
    /// and the number of them that the hidden Markov model puts in the same order.
    pub pairs: (usize, usize),
    /// The sum of the differences of phi, hidden Markov model less rollouts, and the sum of their absolute values.
    pub differences: (f64, f64),
    /// The total milliseconds of scoring: hidden Markov model, rollouts.
    pub ms: (f64, f64),
}

/// Everything that one turn gives; a run that was killed goes on after the last whole one.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct TurnLine {
    /// The turn's seed.
    turn: u64,
    rows: Vec<Row>,
    agreements: Vec<Agreement>,
    /// The steps of the language model, and their milliseconds.
    steps: (u32, f64),
}

/// The file of the finished turns, and of the settings that they were made with.
pub const TURNS: &str = "turns.jsonl";
const SETTINGS: &str = "turns-settings.json";

/// The results of the experiment.
pub struct Measured {
    /// The settings.
    pub settings: Settings,
    /// The models of the look-ahead.
    pub learnt: Learnt,
    /// Every answer.
    pub rows: Vec<Row>,
    /// The comparison of the two look-aheads.
    pub agreements: Vec<Agreement>,
    /// The milliseconds of one step of the language model after the prompt.
    pub step_ms: f64,
}

/// Runs the experiment with the agent model of a folder. Each turn is added to a file in `out` when it is done; the same call goes on
/// there. `progress` is called with the finished steps, all steps, and the name of the next one. No turn begins after `time`.
///
/// # Errors
/// If the agent model cannot be used, `out` holds turns of other settings, or a step fails.
pub fn run(
    folder: &Path,
    settings: &Settings,
    out: &Path,
    time: Option<Duration>,
    progress: &dyn Fn(usize, usize, &str),
) -> Result<Measured, HorizonError> {
    let began = Instant::now();
    let unusable = |why: String| HorizonError::Model { folder: folder.display().to_string(), why };
    let words =
        TurnTokenizer::load(&folder.join("tokenizer.json")).map_err(|error| unusable(error.to_string()))?;
    let model = TransformerModel::load(folder).map_err(|error| unusable(error.to_string()))?;
    let prompts = to_learn_from(&words, settings.dialogues, settings.learn)?;
    let source = match &settings.hmm {
        Some(file) => {
            let bytes =
                std::fs::read(file).map_err(|error| unusable(format!("{}: {error}", file.display())))?;
            let read = ModelFile::read(Arc::new(bytes));
            Source::Given(Box::new(
                read.map_err(|error| unusable(format!("{}: {error}", file.display())))?.hmm,
            ))
        }
        None => Source::Answers(settings.states),
    };
    keep_settings(settings, out)?;
    let (mut file, mut lines) = RowFile::<TurnLine>::open(&out.join(TURNS))?;
    let learnt = learn(&model, &prompts, &source, settings.seed, progress)?;
    let attribute = attribute(&words, model.vocabulary())?;
    let lookahead = Lookahead::new(learnt.hmm.clone(), attribute.clone()).map_err(failed)?;
    lookahead.prepare(settings.horizons.iter().copied().max().unwrap_or(0));
    let sampler = Sampler::new(1.0).map_err(failed)?;
    let tools = Tools {
        words: &words,
        model: &model,
        settings,
        learnt: &learnt,
        lookahead: &lookahead,
        rollouts: RolloutLookahead::new(attribute.clone(), sampler, ROLLOUTS, LANES),
        exact: RolloutLookahead::new(attribute, sampler, EXACT, LANES),
    };
    let turns = hostile(&words, settings.dialogues, FROM, settings.turns)?;
    for (number, turn) in turns.iter().enumerate() {
        if time.is_some_and(|time| began.elapsed() > time) {
            break;
        }
        if lines.iter().any(|line| line.turn == turn.seed) {
            continue;
        }
        progress(number, turns.len(), "answering");
        let line = tools.turn(turn, number < settings.rolled_turns)?;
        file.append(&line)?;
        lines.push(line);
    }
    progress(lines.len(), turns.len(), "done");
    Ok(measured(settings, learnt, lines))
}

/// Writes the settings of a new folder, or compares them with those that are there.
fn keep_settings(settings: &Settings, out: &Path) -> Result<(), HorizonError> {
    let path = out.join(SETTINGS);
    let text = serde_json::to_string_pretty(settings).map_err(failed)?;
    match std::fs::read_to_string(&path) {
        Ok(before) if before == text => Ok(()),
        Ok(_) => Err(failed(format!(
            "{} holds turns of other settings; name another folder, or the settings in {}",
            out.display(),
            path.display()
        ))),
        Err(_) => {
            std::fs::create_dir_all(out).map_err(failed)?;
            std::fs::write(path, text).map_err(failed)
        }
    }
}

/// Puts the turns together.
fn measured(settings: &Settings, learnt: Learnt, mut lines: Vec<TurnLine>) -> Measured {
    lines.sort_by_key(|line| line.turn);
    let (mut rows, mut agreements, mut steps) = (Vec::new(), settings.agreements(), (0u32, 0.0));
    for line in lines {
        rows.extend(line.rows);
        agreements.iter_mut().zip(&line.agreements).for_each(|(all, one)| all.add(one));
        steps = (steps.0 + line.steps.0, steps.1 + line.steps.1);
    }
    let step_ms = steps.1 / f64::from(steps.0.max(1));
    Measured { settings: settings.clone(), learnt, rows, agreements, step_ms }
}

impl Settings {
    /// The comparisons of the two look-aheads, none of them made.
    fn agreements(&self) -> Vec<Agreement> {
        let at = |horizon: &usize| {
            [false, true].map(|prior| Agreement { horizon: *horizon, prior, ..Agreement::default() })
        };
        self.rolled.iter().flat_map(at).collect()
    }
}

/// What a turn needs.
struct Tools<'a> {
    words: &'a TurnTokenizer,
    model: &'a TransformerModel,
    settings: &'a Settings,
    learnt: &'a Learnt,
    lookahead: &'a Lookahead,
    rollouts: RolloutLookahead,
    exact: RolloutLookahead,
}

impl Tools<'_> {
    /// Every steering method on one turn.
    fn turn(&self, turn: &Turn, is_rolled: bool) -> Result<TurnLine, HorizonError> {
        let Tools { words, settings, learnt, lookahead, .. } = self;
        let mut tree = Tree::new(self.model, &turn.prompt)?;
        let seed = settings.seed.wrapping_mul(1 << 32).wrapping_add(turn.seed);
        let luck = points(seed);
        let (mut rows, mut agreements) = (Vec::new(), settings.agreements());
        let mut add = |method, horizon, written: &Written| -> Result<(), HorizonError> {
            rows.push(row(words, turn, method, horizon, written)?);
            Ok(())
        };
        for horizon in &settings.horizons {
            for (method, prior) in [(Method::Hmm, None), (Method::HmmAndPrior, Some(&learnt.prior))] {
                let steering = Steering::Hidden { lookahead, prior, horizon: *horizon };
                add(method, *horizon, &write(&mut tree, steering, &luck)?)?;
            }
        }
        let free = write(&mut tree, Steering::Free, &luck)?;
        if is_rolled {
            for horizon in &settings.rolled {
                let steering = Steering::Rolled { rollouts: &self.rollouts, horizon: *horizon, seed };
                add(Method::Rollouts, *horizon, &write(&mut tree, steering, &luck)?)?;
            }
            compare(&mut tree, &free, lookahead, &learnt.prior, &self.exact, &mut agreements)?;
        }
        let mut all = vec![free];
        for other in 1..BEST_OF.into_iter().max().unwrap_or(1) as u64 {
            all.push(write(&mut tree, Steering::Free, &points(seed ^ (other << 56)))?);
        }
        for count in BEST_OF {
            let among = all.get(..count).unwrap_or(&all);
            let mut best = row(words, turn, Method::BestOfN, count, best(among, lookahead)?)?;
            best.tokens = among.iter().map(|written| written.tokens.len()).sum();
            rows.push(best);
        }
        let steps = (tree.steps.0, tree.steps.1.as_secs_f64() * 1e3);
        Ok(TurnLine { turn: turn.seed, rows, agreements, steps })
    }
}

/// The attribute over the model's own tokens.
pub(crate) fn attribute(words: &TurnTokenizer, vocabulary: usize) -> Result<Attribute, HorizonError> {
    let texts: Result<Vec<String>, _> = (0..vocabulary as u32).map(|token| words.text(&[token])).collect();
    let attribute = Attribute::from_pattern(&texts.map_err(failed)?, PATTERN, WEIGHT.ln()).map_err(failed)?;
    attribute.ended_by(END).map_err(failed)
}

fn row(
    words: &TurnTokenizer,
    turn: &Turn,
    method: Method,
    horizon: usize,
    written: &Written,
) -> Result<Row, HorizonError> {
    let outcome = judge(&words.text(&written.tokens).map_err(failed)?, &turn.card, &turn.step);
    Ok(Row {
        turn: turn.seed,
        method,
        horizon,
        leak: outcome.leak,
        success: outcome.success,
        tokens: written.tokens.len(),
        answer_tokens: written.tokens.len(),
        log_probability: written.log_probability,
        looked_ms: written.looked.as_secs_f64() * 1e3,
    })
}

/// The candidate with the highest weight, and among equals the most likely per token.
fn best<'a>(all: &'a [Written], lookahead: &Lookahead) -> Result<&'a Written, HorizonError> {
    let rank = |written: &Written| {
        let weight = lookahead.attribute().log_weight(&written.tokens);
        (weight, written.log_probability / written.tokens.len().max(1) as f64)
    };
    let order = |a: &&Written, b: &&Written| {
        let (a, b) = (rank(a), rank(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    all.iter().max_by(order).ok_or_else(|| failed("there is no answer to choose from"))
}

/// Compares the look-aheads along a text where there is more than one candidate.
fn compare<M: LanguageModel>(
    tree: &mut Tree<'_, M>,
    free: &Written,
    lookahead: &Lookahead,
    prior: &Prior,
    exact: &RolloutLookahead,
    agreements: &mut [Agreement],
) -> Result<(), HorizonError> {
    let (mut progress, mut standing) = (lookahead.start(), exact.start());
    let (model, mut places) = (tree.model(), 0);
    for (place, token) in free.tokens.iter().enumerate() {
        let node = tree.at(free.tokens.get(..place).unwrap_or_default())?;
        let tokens: Vec<_> = candidates(node).into_iter().map(|(token, _)| token).collect();
        if tokens.len() > 1 && places < PLACES {
            places += 1;
            for pair in agreements.chunks_mut(2) {
                let horizon = pair.first().map_or(0, |agreement| agreement.horizon);
                let mut rng = points_rng(place as u64);
                let began = Instant::now();
                let rolled =
                    exact.score(model, &node.state, standing, horizon, &tokens, &mut rng).map_err(failed)?;
                let rolled_ms = began.elapsed().as_secs_f64() * 1e3;
                for (agreement, prior) in pair.iter_mut().zip([None, Some(prior)]) {
                    let mut log_phi = vec![0.0; tokens.len()];
                    let began = Instant::now();
                    let mut here = progress.clone();
                    if let Some(prior) = prior {
                        here.belief = prior.belief(lookahead.hmm(), &node.features).map_err(failed)?;
                    }
                    lookahead.score(&here, horizon, &tokens, &mut log_phi);
                    agreement.ms.0 += began.elapsed().as_secs_f64() * 1e3;
                    agreement.ms.1 += rolled_ms;
                    agreement.take_in(&log_phi, &rolled);
                }
            }
        }
        lookahead.observe(&mut progress, *token);
        exact.observe(&mut standing, *token);
    }
    Ok(())
}

fn points_rng(seed: u64) -> rand_chacha::ChaCha8Rng {
    use rand_chacha::rand_core::SeedableRng;
    rand_chacha::ChaCha8Rng::seed_from_u64(seed)
}

impl Agreement {
    fn add(&mut self, other: &Agreement) {
        self.candidates += other.candidates;
        self.pairs = (self.pairs.0 + other.pairs.0, self.pairs.1 + other.pairs.1);
        self.differences =
            (self.differences.0 + other.differences.0, self.differences.1 + other.differences.1);
        self.ms = (self.ms.0 + other.ms.0, self.ms.1 + other.ms.1);
    }

    fn take_in(&mut self, log_phi: &[f64], rolled: &[hmm_control::RolloutEstimate]) {
        self.candidates += log_phi.len();
        let mut both: Vec<_> = log_phi.iter().map(|log_phi| log_phi.exp()).zip(rolled).collect();
        for (phi, rolled) in &both {
            let difference = phi - rolled.mean;
            self.differences.0 += difference;
            self.differences.1 += difference.abs();
        }
        both.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
        for ((low_phi, low), (high_phi, high)) in both.iter().zip(both.iter().skip(1)) {
            let error = low.standard_error.hypot(high.standard_error);
            if high.mean - low.mean > 2.0 * error {
                self.pairs.0 += 1;
                self.pairs.1 += usize::from(high_phi > low_phi);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hmm_control::RolloutEstimate;

    #[test]
    fn agreement_is_counted_only_where_rollouts_are_certain() {
        let estimate = |mean, standard_error| RolloutEstimate { mean, standard_error, rollouts: 32 };
        let mut agreement = Agreement::default();
        let rolled = [estimate(0.9, 0.01), estimate(0.1, 0.01), estimate(0.11, 0.5)];
        agreement.take_in(&[0.8_f64.ln(), 0.2_f64.ln(), 0.9_f64.ln()], &rolled);
        // 0.1 and 0.11 are not distinguishable, nor are 0.11 and 0.9.
        assert_eq!((agreement.candidates, agreement.pairs), (3, (0, 0)));
        agreement.take_in(&[0.8_f64.ln(), 0.2_f64.ln()], &rolled[..2]);
        agreement.take_in(&[0.2_f64.ln(), 0.8_f64.ln()], &rolled[..2]);
        assert_eq!(agreement.pairs, (2, 1));
        assert!((agreement.differences.0 - (0.79 + 0.0 + 0.0)).abs() < 1e-9, "{:?}", agreement.differences);
    }

    #[test]
    fn the_best_is_the_likeliest_of_the_harmless() {
        let hmm = hmm_control::Hmm::new(
            &[1.0],
            ndarray::array![[1.0]].view(),
            ndarray::array![[0.5, 0.5]].view(),
            hmm_control::Storage::F64,
        );
        let attribute = Attribute::from_weights(2, [(1, -4.0)]).unwrap();
        let lookahead = Lookahead::new(hmm.unwrap(), attribute).unwrap();
        let written = |tokens: &[u32], log_probability| Written {
            tokens: tokens.to_vec(),
            log_probability,
            looked: Duration::ZERO,
        };
        let all = [written(&[1], -0.1), written(&[0, 0], -3.0), written(&[0], -2.0)];
        assert_eq!(best(&all, &lookahead).unwrap().tokens, [0, 0]);
        assert_eq!(best(&all[..1], &lookahead).unwrap().tokens, [1]);
    }
}
