//! The measurements.

use std::time::{Duration, Instant};

use hmm_control::quality::{
    Divergence, Forecast, Needed, Reliability, candidates_needed, divergence, forecast, reliability,
};
use hmm_control::{Belief, Controller, Coverage, Hmm, LanguageModel, Lookahead, Token};
use language_models::ngram::TopicModel;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::Eval;
use crate::hmm::language::Loaded;
use crate::hmm::rollouts;
use crate::progress::Progress;

/// The number of candidates with which a controller starts.
const FIRST: usize = 50;

/// The bins of a reliability table.
const BINS: usize = 10;

#[derive(Default)]
pub struct Measured {
    /// On texts that the language model sampled.
    pub drawn: Option<Perplexity>,
    /// On documents that the language model was not trained on.
    pub held_out: Option<Perplexity>,
    pub divergences: Vec<Divergence>,
    /// For each horizon.
    pub reliabilities: Vec<(usize, Reliability)>,
    pub needed: Vec<Needed>,
    /// The scoring cost of a controller for a sampler of the most likely tokens with 0.9 of the probability mass, and
    /// for one of the 50 most likely.
    pub top_p: Vec<f64>,
    pub top_k: Vec<f64>,
    pub times: Option<Times>,
}

/// Nats per token; also the language model's own if it can be queried.
pub struct Perplexity {
    pub own: Option<f64>,
    pub hmm: f64,
    pub tokens: usize,
}

/// The milliseconds of each step, unsorted.
#[derive(Default)]
pub struct Times {
    /// Reading a token.
    pub observe: Vec<f64>,
    /// Scoring the whole vocabulary.
    pub full: Vec<f64>,
    /// Scoring the candidates that the certificate needs.
    pub candidates: Vec<f64>,
    /// The whole work of a controller for those samplers.
    pub top_p: Vec<f64>,
    pub top_k: Vec<f64>,
    /// The language model's own step.
    pub language_model: Vec<f64>,
}

/// The mean log likelihood of texts under both models.
pub fn perplexity(model: Option<&TopicModel>, hmm: &Hmm, texts: &[&[Token]]) -> Perplexity {
    let (mut own, mut tokens) = (model.map(|_| 0.0), 0);
    let mut log_likelihood = 0.0;
    for text in texts {
        let mut belief = Belief::start(hmm);
        for &token in *text {
            log_likelihood += belief.observe(hmm, token);
        }
        tokens += text.len();
        if let (Some(sum), Some(model)) = (&mut own, model) {
            let mut reading = model.start();
            *sum += text.iter().filter_map(|token| model.observe(&mut reading, *token).ok()).sum::<f64>();
        }
    }
    let per_token = |sum: f64| -sum / tokens as f64;
    Perplexity { own: own.map(per_token), hmm: per_token(log_likelihood), tokens }
}

/// All measurements, in one pass over the same text beginnings.
pub fn measure(arguments: &Eval, loaded: &Loaded, lookahead: &Lookahead, progress: &Progress) -> Measured {
    let (model, hmm) = (&loaded.model, lookahead.hmm());
    progress.say("measuring the perplexity".to_owned());
    let drawn = rollouts::draw(model, arguments.sequences, arguments.length, arguments.seed);
    let drawn: Vec<&[Token]> = drawn.iter().collect();
    let cut = |text: &'_ Vec<Token>| text.len().min(arguments.length);
    let held_out: Vec<&[Token]> = loaded.held_out.iter().filter_map(|text| text.get(..cut(text))).collect();
    // The texts are spread over all topics, which are stored one after the other.
    let stride = held_out.len().div_ceil(arguments.sequences.max(1)).max(1);
    let held_out: Vec<&[Token]> = held_out.into_iter().step_by(stride).collect();
    let mut measured = Measured {
        drawn: Some(perplexity(Some(model), hmm, &drawn)),
        held_out: (!held_out.is_empty()).then(|| perplexity(Some(model), hmm, &held_out)),
        ..Measured::default()
    };
    let longest = arguments.horizons.iter().copied().max().unwrap_or(1);
    lookahead.prepare(longest);
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed.wrapping_add(1));
    let mut forecasts: Vec<Vec<Forecast>> = vec![Vec::new(); arguments.horizons.len()];
    let mut times = Times::default();
    progress.say(format!("measuring at {} places", arguments.prefixes));
    for number in 0..arguments.prefixes {
        progress.set(number as u64, arguments.prefixes as u64);
        let text = model.write(&model.start(), arguments.length, &mut rng);
        // The position is before the last token, which may be the end, so that the language model chooses the next one.
        let prefix = text.get(..rng.random_range(0..text.len().max(1))).unwrap_or_default();
        at(
            arguments,
            loaded,
            lookahead,
            prefix,
            longest,
            &mut measured,
            &mut times,
            &mut forecasts,
            &mut rng,
        );
    }
    let summed = forecasts.iter().map(|forecasts| reliability(forecasts, BINS));
    measured.reliabilities = arguments.horizons.iter().copied().zip(summed).collect();
    measured.times = Some(times);
    measured
}

/// One beginning of a text.
#[allow(clippy::too_many_arguments, reason = "all of them are one loop's variables")]
fn at(
    arguments: &Eval,
    loaded: &Loaded,
    lookahead: &Lookahead,
    prefix: &[Token],
    longest: usize,
    measured: &mut Measured,
    times: &mut Times,
    forecasts: &mut [Vec<Forecast>],
    rng: &mut ChaCha8Rng,
) {
    let (model, hmm) = (&loaded.model, lookahead.hmm());
    let mut logits = vec![0.0; model.vocabulary()];
    let mut reading = model.start();
    let (took, stepped) = timed(|| model.step(&mut reading, prefix, &mut logits));
    // Every token came from the model itself.
    if stepped.is_err() {
        return;
    }
    times.language_model.push(took / prefix.len().max(1) as f64);
    let mut progress = lookahead.start();
    for &token in prefix {
        times.observe.push(timed(|| lookahead.observe_prompt(&mut progress, token)).0);
    }
    measured.divergences.push(divergence(&logits, hmm, &progress.belief));
    let needed = candidates_needed(lookahead, &progress, longest, &logits, arguments.delta);
    measured.needed.push(needed);
    let mut log_phi = vec![0.0; model.vocabulary()];
    times.full.push(timed(|| lookahead.score_all(&progress, longest, &mut log_phi)).0);
    // The strength of the attribute.
    if let Ok(controller) = Controller::new(lookahead.clone(), 1.0) {
        for (coverage, candidates, times) in [
            (
                Coverage::TopP { p: 0.9, temperature: 1.0, within: 0.01 },
                &mut measured.top_p,
                &mut times.top_p,
            ),
            (Coverage::TopK(50), &mut measured.top_k, &mut times.top_k),
        ] {
            let mut logits = logits.clone();
            let adjust =
                || controller.adjust_candidates(&progress, longest, &mut logits, None, coverage, FIRST);
            // If nothing is allowed, there is nothing to count.
            if let (took, Ok(certificate)) = timed(adjust) {
                candidates.push(certificate.candidates as f64);
                times.push(took);
            }
        }
    }
    let candidates = likeliest(&logits, needed.certified);
    times.candidates.push(timed(|| lookahead.score(&progress, longest, &candidates, &mut log_phi)).0);
    let end = model.end();
    let found = forecast(lookahead, &progress, &arguments.horizons, arguments.continuations, |longest| {
        let mut text = model.write(&reading, longest, rng);
        // After the end of a text the end token repeats.
        let fill = end.or(text.last().copied()).unwrap_or(0);
        text.resize(longest, fill);
        text
    });
    forecasts.iter_mut().zip(found).for_each(|(all, one)| all.push(one));
}

/// The given number of tokens, the most likely first.
fn likeliest(logits: &[f32], count: usize) -> Vec<Token> {
    let mut tokens: Vec<(Token, f32)> = (0..).zip(logits.iter().copied()).collect();
    tokens.sort_by(|a, b| b.1.total_cmp(&a.1));
    tokens.iter().take(count).map(|(token, _)| *token).collect()
}

/// The duration of an operation in milliseconds.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let done = work();
    (Duration::as_secs_f64(&began.elapsed()) * 1e3, done)
}
