//! The hidden Markov model, learned from the language model's own texts.

use std::path::Path;
use std::time::Instant;

use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{Options, Rules, Schedule, Sequences, Trainer};
use hmm_control::{Hmm, LanguageModel, Storage, Token};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::num::NonZeroUsize;

use super::rows::write_whole;
use super::writing::{WriteError, log_probability};
use super::{Progress, Settings, SteeringError};

/// A hidden Markov model with its quality.
pub(super) struct Distilled {
    pub(super) hmm: Hmm,
    /// Nats per token of held-out texts: of the language model itself, and of the hidden Markov model.
    pub(super) nats: (f64, f64),
}

/// One text in so many is held out.
const HELD_OUT: usize = 50;

/// Learns a hidden Markov model from texts of the language model; `None` if the time is over before. Each step is kept in the file, and a later call goes
/// on from there to the same bits.
pub(super) fn distil<M: LanguageModel>(
    model: &M,
    mut train: Sequences,
    settings: &Settings,
    file: &Path,
    until: Option<Instant>,
    say: &mut dyn FnMut(Progress),
) -> Result<Option<Distilled>, SteeringError> {
    let held_out = train.split_off(settings.rollouts / HELD_OUT);
    let mut trainer = if file.exists() {
        let bytes = std::fs::read(file).map_err(SteeringError::file(file))?;
        Trainer::<f32>::resume(&bytes, &train, &held_out, NonZeroUsize::MIN)?
    } else {
        begun(model.vocabulary(), settings, &train, &held_out)?
    };
    while !trainer.is_done() {
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        if let Some(report) = trainer.step()? {
            let bytes = trainer.checkpoint()?;
            write_whole(file, &bytes)?;
            let stage = format!(
                "distilling: {:.3} nats a token, {:.3} held out",
                -report.train,
                -report.held_out.unwrap_or(f64::NAN)
            );
            say(Progress { stage, done: report.step as usize, of: report.steps as usize });
        }
    }
    let hmm = trainer.hmm(Storage::F32, Storage::F32)?;
    let nats = (of_language_model(model, &held_out)?, of_hidden_markov_model(&hmm, &held_out));
    Ok(Some(Distilled { hmm, nats }))
}

fn begun<'a>(
    vocabulary: usize,
    settings: &Settings,
    train: &'a Sequences,
    held_out: &'a Sequences,
) -> Result<Trainer<'a, f32>, SteeringError> {
    let mut options = Options::new(Schedule::full_batch(settings.steps)?);
    options.seed = settings.seed;
    let clustering = Clustering {
        states: settings.states,
        vocabulary,
        search: KMeans { tries: 1, ..KMeans::default() },
        rules: Rules { pseudocount: options.pseudocount, ..Rules::default() },
    };
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let first = from_contexts(train, &clustering, &mut rng)?;
    Ok(Trainer::new(first, train, held_out, options)?)
}

fn of_language_model<M: LanguageModel>(model: &M, texts: &Sequences) -> Result<f64, SteeringError> {
    let mut sum = 0.0;
    let mut logits = vec![0.0_f32; model.vocabulary()];
    let failed = |error: M::Error| SteeringError::Write(WriteError::Model(Box::new(error)));
    for text in texts.iter() {
        let mut state = model.start();
        let first: Vec<Token> = model.end().into_iter().collect();
        model.step(&mut state, &first, &mut logits).map_err(failed)?;
        for token in text {
            sum += log_probability(&logits, *token);
            model.step(&mut state, &[*token], &mut logits).map_err(failed)?;
        }
    }
    Ok(-sum / texts.tokens().len().max(1) as f64)
}

fn of_hidden_markov_model(hmm: &Hmm, texts: &Sequences) -> f64 {
    let likelihood = |text: &[u32]| {
        let mut belief = hmm_control::Belief::start(hmm);
        text.iter().for_each(|token| {
            belief.observe(hmm, *token);
        });
        belief.log_likelihood()
    };
    let sum: f64 = texts.iter().map(likelihood).sum();
    -sum / texts.tokens().len().max(1) as f64
}
