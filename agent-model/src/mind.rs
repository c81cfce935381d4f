//! A language model with its tokenizer: from a situation to an answer.

use std::path::Path;

use hmm_control::{LanguageModel, Sampler, Token};
use lm_reference::{LoadError, ReferenceModel};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::turn::Situation;
use crate::words::{LONGEST_ANSWER, Words, WordsError};

/// A model with its tokenizer. Agents share it.
pub struct Mind<M> {
    model: M,
    words: Words,
}

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
pub enum MindError {
    /// The weights cannot be used.
    #[error(transparent)]
    Model(#[from] LoadError),
    /// The tokenizer cannot be used.
    #[error(transparent)]
    Words(#[from] WordsError),
}

impl Mind<ReferenceModel> {
    /// Loads a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// Where one of them is missing or cannot be used.
    pub fn load(folder: &Path) -> Result<Mind<ReferenceModel>, MindError> {
        let words = Words::load(&folder.join("tokenizer.json"))?;
        Ok(Mind { model: ReferenceModel::load(folder)?, words })
    }
}

impl<M: LanguageModel> Mind<M> {
    /// A mind of parts.
    pub fn new(model: M, words: Words) -> Mind<M> {
        Mind { model, words }
    }

    /// The answer to a situation.
    ///
    /// # Errors
    /// What the model or the tokenizer says.
    pub fn answer(
        &self,
        situation: &Situation,
        choice: &mut Choice,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let mut state = self.model.start();
        let mut logits = vec![0.0; self.model.vocabulary()];
        self.model.step(&mut state, &self.words.situation(situation)?, &mut logits)?;
        let mut written: Vec<Token> = Vec::new();
        while written.len() < LONGEST_ANSWER {
            let Some(token) = choice.choose(&logits).filter(|token| Some(*token) != self.model.end()) else {
                break;
            };
            written.push(token);
            self.model.step(&mut state, &[token], &mut logits)?;
        }
        Ok(self.words.text(&written)?)
    }
}

/// How a token is chosen.
pub enum Choice {
    /// The most likely one.
    Greedy,
    /// Drawn, by a seed.
    Drawn(Sampler, Box<ChaCha8Rng>),
}

impl Choice {
    /// Draws with `sampler`, the same for the same seed.
    pub fn drawn(sampler: Sampler, seed: u64) -> Choice {
        Choice::Drawn(sampler, Box::new(ChaCha8Rng::seed_from_u64(seed)))
    }

    fn choose(&mut self, logits: &[f32]) -> Option<Token> {
        match self {
            Choice::Greedy => {
                let best = logits.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
                best.map(|(token, _)| token as Token)
            }
            Choice::Drawn(sampler, rng) => sampler.draw(logits, rng),
        }
    }
}
