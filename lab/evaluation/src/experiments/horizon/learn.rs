//! The hidden Markov model and the context-aware prior, learnt from the language model's own answers.

use std::num::NonZeroUsize;

use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{Options, Rules, Schedule, Sequences, Trainer};
use hmm_control::prior::{Prior, Rollout, Training};
use hmm_control::{Belief, Hmm, LanguageModel, Storage, Token};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use super::steer::Tree;
use super::steer::{draw, points};
use super::{HorizonError, LONGEST, failed};

/// The number of answers to each prompt.
const ANSWERS: usize = 2;
/// The distance in tokens between the starts of rollouts for the prior.
const EVERY: usize = 4;
/// The number of tokens that the prior learns to predict.
const AHEAD: usize = 32;
/// The number of steps of expectation-maximisation.
const STEPS: u32 = 15;
/// One prompt in so many is held out from the training.
const HELD_OUT: usize = 10;

/// The learnt models.
pub struct Learnt {
    /// The hidden Markov model.
    pub hmm: Hmm,
    /// The head on the language model's features.
    pub prior: Prior,
    /// The number of sampled answers, and of their tokens.
    pub drawn: (usize, usize),
    /// Nats per token of the held-out answers: by the language model, and by the hidden Markov model.
    pub held_out: (f64, f64),
    /// Mean nats of the next 32 tokens, held out: by one distribution for all texts, and by the features.
    pub prior_nats: (f64, f64),
}

/// The language model's answers to some prompts.
#[derive(Default)]
struct Drawn {
    answers: Sequences,
    rollouts: Vec<Rollout>,
    log_probability: f64,
}

/// The source of the hidden Markov model.
#[derive(Clone)]
pub enum Source {
    /// It was distilled before; only the prior is learnt from the answers.
    Given(Box<Hmm>),
    /// It is learnt from the answers, with so many hidden states.
    Answers(usize),
}

/// Samples answers and learns from them.
///
/// # Errors
/// The error of the model or the training.
pub fn learn<M: LanguageModel>(
    model: &M,
    prompts: &[Vec<Token>],
    source: &Source,
    seed: u64,
    tell: &dyn Fn(usize, usize, &str),
) -> Result<Learnt, HorizonError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut train, mut held_out) = (Drawn::default(), Drawn::default());
    for (number, prompt) in prompts.iter().enumerate() {
        tell(number, prompts.len(), "drawing answers");
        let into = if number % HELD_OUT == HELD_OUT - 1 { &mut held_out } else { &mut train };
        take_in(model, prompt, &mut rng, into)?;
    }
    tell(prompts.len(), prompts.len(), "learning");
    let hmm = match source {
        Source::Given(hmm) => Hmm::clone(hmm),
        Source::Answers(states) => distilled(model, &train, &held_out, *states, &mut rng)?,
    };
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let training = Training { threads: threads.get(), epochs: 40, ..Training::default() };
    let fitted = training.fit(&hmm, &train.rollouts, &held_out.rollouts, &mut rng).map_err(failed)?;
    let nats = |epoch: Option<&hmm_control::prior::Epoch>| epoch.map_or(f64::NAN, |epoch| -epoch.held_out);
    let prior_nats = (nats(fitted.epochs.first()), nats(fitted.epochs.get(fitted.best)));
    let hmm_nats = nats_of(&hmm, &held_out.answers);
    let tokens = |drawn: &Drawn| drawn.answers.tokens().len();
    Ok(Learnt {
        hmm,
        prior: fitted.prior,
        drawn: (train.answers.len() + held_out.answers.len(), tokens(&train) + tokens(&held_out)),
        held_out: (-held_out.log_probability / tokens(&held_out).max(1) as f64, hmm_nats),
        prior_nats,
    })
}

/// Nats per token of some answers.
fn nats_of(hmm: &Hmm, answers: &Sequences) -> f64 {
    let of = |answer: &[Token]| {
        let mut belief = Belief::start(hmm);
        answer.iter().map(|token| belief.observe(hmm, *token)).sum::<f64>()
    };
    -answers.iter().map(of).sum::<f64>() / answers.tokens().len().max(1) as f64
}

/// The model that expectation-maximisation finds.
fn distilled<M: LanguageModel>(
    model: &M,
    train: &Drawn,
    held_out: &Drawn,
    states: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Hmm, HorizonError> {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let end = model.end();
    // Training cannot raise a probability of 0.
    let rules = Rules { end, pseudocount: 1e-3, ..Rules::default() };
    let search = KMeans { threads, ..KMeans::default() };
    let clustering = Clustering { states, vocabulary: model.vocabulary(), search, rules };
    let first = from_contexts::<f32>(&train.answers, &clustering, rng).map_err(failed)?;
    let schedule = Schedule::full_batch(STEPS).map_err(failed)?;
    let options = Options { end, threads, ..Options::new(schedule) };
    let mut trainer = Trainer::new(first, &train.answers, &held_out.answers, options).map_err(failed)?;
    while trainer.step().map_err(failed)?.is_some() {}
    trainer.hmm(Storage::F32, Storage::F32).map_err(failed)
}

/// Samples the answers to one prompt.
fn take_in<M: LanguageModel>(
    model: &M,
    prompt: &[Token],
    rng: &mut ChaCha8Rng,
    into: &mut Drawn,
) -> Result<(), HorizonError> {
    let mut tree = Tree::new(model, prompt)?;
    for _ in 0..ANSWERS {
        let points = points(rng.next_u64());
        let (mut answer, mut features): (Vec<Token>, Vec<Vec<f32>>) = (Vec::new(), Vec::new());
        while answer.len() < LONGEST && (answer.is_empty() || answer.last().copied() != model.end()) {
            let node = tree.at(&answer)?;
            let all = (0..).zip(node.log_probabilities.iter().map(|log| f64::from(*log).exp()));
            let token = draw(all, points.get(answer.len()).copied().unwrap_or(0.5));
            let token = token.ok_or_else(|| failed("the language model gives no token a chance"))?;
            into.log_probability +=
                f64::from(node.log_probabilities.get(token as usize).copied().unwrap_or(0.0));
            features.push(node.features.clone());
            answer.push(token);
        }
        let has_ended = answer.last().copied() == model.end();
        for (place, features) in features.into_iter().enumerate().step_by(EVERY) {
            let rest = answer.get(place..).unwrap_or_default();
            // An answer that was cut off says nothing about the tokens after its end.
            if let Some(whole) = rest.get(..AHEAD).or(has_ended.then_some(rest)) {
                into.rollouts.push(Rollout { features, prefix: Vec::new(), continuation: whole.to_vec() });
            }
        }
        into.answers.push(&answer);
    }
    Ok(())
}
