//! A language model with its tokenizer: from a situation to an answer.

use std::path::Path;

use hmm_control::{Coverage, LanguageModel, Sampler, Token};
use language_models::transformer::{LoadError, TransformerModel};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::copying::{Copying, Draft};
use crate::turn::Situation;
use crate::words::{LONGEST_ANSWER, Words, WordsError};

/// A model with its tokenizer. Agents share it.
pub struct Mind<M> {
    model: M,
    words: Words,
    copies: bool,
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

impl Mind<TransformerModel> {
    /// Loads a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// Where one of them is missing or cannot be used.
    pub fn load(folder: &Path) -> Result<Mind<TransformerModel>, MindError> {
        let words = Words::load(&folder.join("tokenizer.json"))?;
        Ok(Mind::new(TransformerModel::load(folder)?, words))
    }
}

impl<M: LanguageModel> Mind<M> {
    /// A mind of parts.
    pub fn new(model: M, words: Words) -> Mind<M> {
        Mind { model, words, copies: true }
    }

    /// The same, free to misspell what it copies: without [`Copying`].
    #[must_use]
    pub fn freely(self) -> Mind<M> {
        Mind { copies: false, ..self }
    }

    /// The language model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Its tokenizer.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The answer to a situation. What it copies is [copied from what was read](crate::copying), and a line that was
    /// not completed in [`LONGEST_ANSWER`] tokens is left out.
    ///
    /// # Errors
    /// What the model or the tokenizer says.
    pub fn answer(
        &self,
        situation: &Situation,
        choice: &mut Choice,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        self.answer_steered(situation, choice, |_, _| Ok(()))
    }

    /// As [`Mind::answer`]; `steer` is called before each choice with the tokens that were written and the logits of
    /// the next, which it may change.
    ///
    /// # Errors
    /// What the model, the tokenizer or `steer` says.
    pub fn answer_steered(
        &self,
        situation: &Situation,
        choice: &mut Choice,
        mut steer: impl FnMut(&[Token], &mut [f32]) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let copying = self.copying(situation);
        let mut draft = Draft::default();
        let mut state = self.model.start();
        let mut logits = vec![0.0; self.model.vocabulary()];
        self.model.step(&mut state, &self.words.situation(situation)?, &mut logits)?;
        let mut written: Vec<Token> = Vec::new();
        while written.len() < LONGEST_ANSWER {
            steer(&written, &mut logits)?;
            let may_stand = |token| self.may_stand(copying.as_ref(), &draft, token);
            let Some(token) =
                choice.choose(&mut logits, may_stand).filter(|token| Some(*token) != self.model.end())
            else {
                break;
            };
            if let Some(copying) = &copying {
                copying.write(&mut draft, self.words.bytes(token));
            }
            written.push(token);
            self.model.step(&mut state, &[token], &mut logits)?;
        }
        let mut text = self.words.text(&written)?;
        if copying.is_some() && !draft.may_end() {
            text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        }
        Ok(text)
    }

    /// What may be copied in the answer to a situation; none where it is free to misspell.
    pub(crate) fn copying(&self, situation: &Situation) -> Option<Copying> {
        self.copies.then(|| Copying::of(situation))
    }

    /// Whether a token may stand behind a draft.
    pub(crate) fn may_stand(&self, copying: Option<&Copying>, draft: &Draft, token: Token) -> bool {
        match copying {
            Some(_) if Some(token) == self.model.end() => draft.may_end(),
            Some(copying) => {
                let bytes = self.words.bytes(token);
                !bytes.is_empty() && copying.write(&mut draft.clone(), bytes)
            }
            None => true,
        }
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

    /// A token that may stand there; none where no token may. The logits are used up.
    pub(crate) fn choose(&mut self, logits: &mut [f32], may_stand: impl Fn(Token) -> bool) -> Option<Token> {
        match self {
            Choice::Greedy => loop {
                let best = logits.iter_mut().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
                let (token, logit) = best.filter(|(_, logit)| **logit > f32::NEG_INFINITY)?;
                if may_stand(token as Token) {
                    return Some(token as Token);
                }
                *logit = f32::NEG_INFINITY;
            },
            // Where everything may be drawn, drawing again is the same as leaving out before, and asks of few tokens.
            Choice::Drawn(sampler, rng) if matches!(sampler.coverage(0.0), Coverage::Mass { .. }) => loop {
                let token = sampler.draw(logits, rng)?;
                if may_stand(token) {
                    return Some(token);
                }
                *logits.get_mut(token as usize)? = f32::NEG_INFINITY;
            },
            Choice::Drawn(sampler, rng) => {
                for (token, logit) in logits.iter_mut().enumerate() {
                    if !may_stand(token as Token) {
                        *logit = f32::NEG_INFINITY;
                    }
                }
                sampler.draw(logits, rng)
            }
        }
    }
}
