//! The whole experiment: every steering method on every turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_model::tokenizer::{END, TurnTokenizer};
use hmm_control::prior::Prior;
use hmm_control::{Attribute, LanguageModel, Lookahead, ModelFile, RolloutLookahead, Sampler};
use language_models::transformer::TransformerModel;

use super::learn::{Learnt, Source, learn};
use super::steer::Tree;
use super::steer::{Steering, Written, candidates, points, write};
use super::turns::{Turn, hostile, judge, to_learn_from};
use super::{HorizonError, failed};

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
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Settings {
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

/// One answer to one turn.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Row {
    /// The turn's seed.
    pub turn: u64,
    /// The steering method: `free`, `hmm`, `hmm and prior`, `rollouts`, `best of n`.
    #[serde(rename = "way")]
    pub method: &'static str,
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
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
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

/// Runs the experiment with the agent model of a folder; `progress` is called with the finished steps, all steps, and the
/// name of the next one.
///
/// # Errors
/// If the agent model cannot be used, or a step fails.
pub fn run(
    folder: &Path,
    settings: &Settings,
    progress: &dyn Fn(usize, usize, &str),
) -> Result<Measured, HorizonError> {
    let unusable = |why: String| HorizonError::Model { folder: folder.display().to_string(), why };
    let words =
        TurnTokenizer::load(&folder.join("tokenizer.json")).map_err(|error| unusable(error.to_string()))?;
    let model = TransformerModel::load(folder).map_err(|error| unusable(error.to_string()))?;
    let prompts = to_learn_from(&words, settings.learn)?;
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
    let learnt = learn(&model, &prompts, &source, settings.seed, progress)?;
    let attribute = attribute(&words, model.vocabulary())?;
    let lookahead = Lookahead::new(learnt.hmm.clone(), attribute.clone()).map_err(failed)?;
    lookahead.prepare(settings.horizons.iter().copied().max().unwrap_or(0));
    let sampler = Sampler::new(1.0).map_err(failed)?;
    let rollouts = RolloutLookahead::new(attribute.clone(), sampler, ROLLOUTS, LANES);
    let exact = RolloutLookahead::new(attribute, sampler, EXACT, LANES);
    let turns = hostile(&words, FROM, settings.turns)?;
    let with_prior = [None, Some(&learnt.prior)];
    let (mut rows, mut steps) = (Vec::new(), (0, Duration::ZERO));
    let mut agreements: Vec<Agreement> = settings
        .rolled
        .iter()
        .flat_map(|horizon| {
            [false, true].map(|prior| Agreement { horizon: *horizon, prior, ..Agreement::default() })
        })
        .collect();
    for (number, turn) in turns.iter().enumerate() {
        progress(number, turns.len(), "answering");
        let mut tree = Tree::new(&model, &turn.prompt)?;
        let seed = settings.seed.wrapping_mul(1 << 32).wrapping_add(turn.seed);
        let luck = points(seed);
        let mut add = |method, horizon, written: &Written| -> Result<(), HorizonError> {
            rows.push(row(&words, turn, method, horizon, written)?);
            Ok(())
        };
        for horizon in &settings.horizons {
            for prior in with_prior {
                let steering = Steering::Hidden { lookahead: &lookahead, prior, horizon: *horizon };
                let name = if prior.is_some() { "hmm and prior" } else { "hmm" };
                add(name, *horizon, &write(&mut tree, steering, &luck)?)?;
            }
        }
        let free = write(&mut tree, Steering::Free, &luck)?;
        if number < settings.rolled_turns {
            for horizon in &settings.rolled {
                let steering = Steering::Rolled { rollouts: &rollouts, horizon: *horizon, seed };
                add("rollouts", *horizon, &write(&mut tree, steering, &luck)?)?;
            }
            compare(&mut tree, &free, &lookahead, &learnt.prior, &exact, &mut agreements)?;
        }
        let mut all = vec![free];
        for other in 1..BEST_OF.into_iter().max().unwrap_or(1) as u64 {
            all.push(write(&mut tree, Steering::Free, &points(seed ^ (other << 56)))?);
        }
        for count in BEST_OF {
            let among = all.get(..count).unwrap_or(&all);
            let mut best = row(&words, turn, "best of n", count, best(among, &lookahead)?)?;
            best.tokens = among.iter().map(|written| written.tokens.len()).sum();
            rows.push(best);
        }
        steps = (steps.0 + tree.steps.0, steps.1 + tree.steps.1);
    }
    progress(turns.len(), turns.len(), "done");
    let step_ms = steps.1.as_secs_f64() * 1e3 / f64::from(steps.0.max(1));
    Ok(Measured { settings: settings.clone(), learnt, rows, agreements, step_ms })
}

/// The attribute over the model's own tokens.
fn attribute(words: &TurnTokenizer, vocabulary: usize) -> Result<Attribute, HorizonError> {
    let texts: Result<Vec<String>, _> = (0..vocabulary as u32).map(|token| words.text(&[token])).collect();
    let attribute = Attribute::from_pattern(&texts.map_err(failed)?, PATTERN, WEIGHT.ln()).map_err(failed)?;
    attribute.ended_by(END).map_err(failed)
}

fn row(
    words: &TurnTokenizer,
    turn: &Turn,
    method: &'static str,
    horizon: usize,
    written: &Written,
) -> Result<Row, HorizonError> {
    let outcome = judge(&words.text(&written.tokens).map_err(failed)?, &turn.card);
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
