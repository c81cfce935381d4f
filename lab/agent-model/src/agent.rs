//! A language model with its tokenizer: from a situation to an answer.

use std::path::Path;

use hmm_control::{Coverage, Lane, LanguageModel, Sampler, Token};
use language_models::transformer::{LoadError, TransformerModel};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::copying::{Copying, Draft};
use crate::tokenizer::{LONGEST_ANSWER, TokenizerError, TurnTokenizer};
use crate::turn::Situation;

/// A language model with its tokenizer. Several agents can share it.
pub struct AgentModel<M> {
    model: M,
    tokenizer: TurnTokenizer,
    copies: bool,
}

/// Why an agent model cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum AgentModelError {
    /// The weights are missing or invalid.
    #[error(transparent)]
    Model(#[from] LoadError),
    /// The tokenizer is missing or invalid.
    #[error(transparent)]
    TurnTokenizer(#[from] TokenizerError),
}

impl AgentModel<TransformerModel> {
    /// Loads a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// When one of them is missing or invalid.
    pub fn load(folder: &Path) -> Result<AgentModel<TransformerModel>, AgentModelError> {
        let tokenizer = TurnTokenizer::load(&folder.join("tokenizer.json"))?;
        Ok(AgentModel::new(TransformerModel::load(folder)?, tokenizer))
    }
}

impl<M: LanguageModel> AgentModel<M> {
    /// An agent model from its parts.
    pub fn new(model: M, tokenizer: TurnTokenizer) -> AgentModel<M> {
        AgentModel { model, tokenizer, copies: true }
    }

    /// The same model without [`Copying`], which may misspell the values that it repeats.
    #[must_use]
    pub fn without_copying(self) -> AgentModel<M> {
        AgentModel { copies: false, ..self }
    }

    /// The language model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Its tokenizer.
    pub fn tokenizer(&self) -> &TurnTokenizer {
        &self.tokenizer
    }

    /// The answer to a situation. Its values [occur in the input](crate::copying), and a line that is not complete after
    /// [`LONGEST_ANSWER`] tokens is left out.
    ///
    /// # Errors
    /// When the model or the tokenizer fails.
    pub fn answer(
        &self,
        situation: &Situation,
        choice: &mut Choice,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        self.answer_steered(situation, choice, |_, _| Ok(()))
    }

    /// The same as [`AgentModel::answer`], but calls `steer` before each choice with the tokens so far and the logits of the
    /// next, which it may change.
    ///
    /// # Errors
    /// When the model, the tokenizer or `steer` fails.
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
        self.model.step(&mut state, &self.tokenizer.situation(situation)?, &mut logits)?;
        let mut written: Vec<Token> = Vec::new();
        while written.len() < LONGEST_ANSWER {
            steer(&written, &mut logits)?;
            let allows = |token| self.allows(copying.as_ref(), &draft, token);
            let Some(token) =
                choice.choose(&mut logits, allows).filter(|token| Some(*token) != self.model.end())
            else {
                break;
            };
            if let Some(copying) = &copying {
                copying.write(&mut draft, self.tokenizer.bytes(token));
            }
            written.push(token);
            self.model.step(&mut state, &[token], &mut logits)?;
        }
        let mut text = self.tokenizer.text(&written)?;
        if copying.is_some() && !draft.may_end() {
            text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        }
        Ok(text)
    }

    /// The probabilities that the answer to a situation begins with each text, such as `chat:`, at temperature 1 and without
    /// copying, in the order of `beginnings`.
    ///
    /// A text is split into tokens by itself, so it should end where a token ends: after a step's name and its colon. Another
    /// division into tokens of the same text is not counted; a trained model gives it next to nothing.
    ///
    /// ```
    /// use agent_model::{dialogue::example, echo::EchoModel, tokenizer::TurnTokenizer, turn::Situation};
    ///
    /// let tokenizer = TurnTokenizer::learn((0..40).map(|seed| example(seed, false).answer))?;
    /// let model = EchoModel::agent("wait: no.", tokenizer)?;
    /// let begins = model.beginnings(&Situation::default(), &["wait:", "chat:"]).map_err(|error| error.to_string());
    /// assert!(begins.is_ok_and(|begins| begins[0] > 0.4 && begins[1] < 0.01));
    /// # Ok::<(), agent_model::tokenizer::TokenizerError>(())
    /// ```
    ///
    /// # Errors
    /// When the model or the tokenizer fails.
    pub fn beginnings(
        &self,
        situation: &Situation,
        beginnings: &[&str],
    ) -> Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>> {
        let mut state = self.model.start();
        let mut first = vec![0.0; self.model.vocabulary()];
        self.model.step(&mut state, &self.tokenizer.situation(situation)?, &mut first)?;
        let mut probabilities = Vec::with_capacity(beginnings.len());
        for text in beginnings {
            let (mut state, mut logits, mut sum) = (state.clone(), first.clone(), 0.0);
            let tokens = self.tokenizer.ids(text)?;
            for (place, token) in tokens.iter().enumerate() {
                sum += log_probability(&logits, *token);
                if place + 1 < tokens.len() {
                    self.model.step(&mut state, &[*token], &mut logits)?;
                }
            }
            probabilities.push(sum.exp());
        }
        Ok(probabilities)
    }

    /// The copying constraint of a situation; none where it is switched off.
    pub(crate) fn copying(&self, situation: &Situation) -> Option<Copying> {
        self.copies.then(|| Copying::of(situation))
    }

    /// True if a token may follow a draft.
    pub(crate) fn allows(&self, copying: Option<&Copying>, draft: &Draft, token: Token) -> bool {
        match copying {
            Some(_) if Some(token) == self.model.end() => draft.may_end(),
            Some(copying) => {
                let bytes = self.tokenizer.bytes(token);
                !bytes.is_empty() && copying.write(&mut draft.clone(), bytes)
            }
            None => true,
        }
    }
}

/// The log probability of a token under logits, in nats.
fn log_probability(logits: &[f32], token: Token) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - most).exp()).sum();
    logits.get(token as usize).map_or(f64::NEG_INFINITY, |logit| f64::from(logit - most) - sum.ln())
}

/// How a token is chosen.
pub enum Choice {
    /// The most likely one.
    Greedy,
    /// Sampled with a seed.
    Drawn(Sampler, Box<ChaCha8Rng>),
}

impl Choice {
    /// Samples with `sampler`; the same seed gives the same tokens.
    pub fn drawn(sampler: Sampler, seed: u64) -> Choice {
        Choice::Drawn(sampler, Box::new(ChaCha8Rng::seed_from_u64(seed)))
    }

    /// The next token among the allowed ones; none where no token is allowed. The logits are overwritten.
    pub(crate) fn choose(&mut self, logits: &mut [f32], allows: impl Fn(Token) -> bool) -> Option<Token> {
        match self {
            Choice::Greedy => loop {
                let best = logits.iter_mut().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
                let (token, logit) = best.filter(|(_, logit)| **logit > f32::NEG_INFINITY)?;
                if allows(token as Token) {
                    return Some(token as Token);
                }
                *logit = f32::NEG_INFINITY;
            },
            // Over the whole vocabulary, rejecting a token and drawing again gives the same distribution as masking before,
            // and tests few tokens.
            Choice::Drawn(sampler, rng) if matches!(sampler.coverage(0.0), Coverage::Mass { .. }) => loop {
                let token = sampler.draw(logits, rng)?;
                if allows(token) {
                    return Some(token);
                }
                *logits.get_mut(token as usize)? = f32::NEG_INFINITY;
            },
            Choice::Drawn(sampler, rng) => {
                for (token, logit) in logits.iter_mut().enumerate() {
                    if !allows(token as Token) {
                        *logit = f32::NEG_INFINITY;
                    }
                }
                sampler.draw(logits, rng)
            }
        }
    }
}

/// An unfinished answer of a batch.
struct PendingAnswer<'a, S> {
    copying: Option<&'a Copying>,
    state: S,
    logits: Vec<f32>,
    draft: Draft,
    choice: Choice,
    /// The tokens so far, with the end token unless the answer was cut off.
    drawn: Vec<Token>,
    /// The tokens that the model has not read yet.
    unread: Vec<Token>,
}

impl<M: LanguageModel> AgentModel<M> {
    /// Samples an answer to each situation for each of its seeds, in this order and with the same result as
    /// [`AgentModel::answer`]: the tokens, with the end token unless the answer was cut off. Each situation is read once.
    ///
    /// # Errors
    /// When the model or the tokenizer fails.
    pub fn answer_batch(
        &self,
        situations: &[(&Situation, Vec<u64>)],
        sampler: Sampler,
    ) -> Result<Vec<Vec<Token>>, Box<dyn std::error::Error + Send + Sync>> {
        let copying: Vec<Option<Copying>> =
            situations.iter().map(|(situation, _)| self.copying(situation)).collect();
        let mut texts: Vec<PendingAnswer<'_, M::State>> = Vec::new();
        for ((situation, seeds), copying) in situations.iter().zip(&copying) {
            let mut state = self.model().start();
            let mut logits = vec![0.0; self.model().vocabulary()];
            self.model().step(&mut state, &self.tokenizer().situation(situation)?, &mut logits)?;
            texts.extend(seeds.iter().map(|seed| PendingAnswer {
                copying: copying.as_ref(),
                state: state.clone(),
                logits: logits.clone(),
                draft: Draft::default(),
                choice: Choice::drawn(sampler, *seed),
                drawn: Vec::new(),
                unread: Vec::new(),
            }));
        }
        self.complete(&mut texts)?;
        Ok(texts.into_iter().map(|text| text.drawn).collect())
    }

    /// Completes all answers.
    fn complete(&self, texts: &mut [PendingAnswer<'_, M::State>]) -> Result<(), M::Error> {
        let mut open: Vec<&mut PendingAnswer<'_, M::State>> = texts.iter_mut().collect();
        while !open.is_empty() {
            open.retain_mut(|text| {
                let PendingAnswer { copying, logits, draft, choice, drawn, unread, .. } = &mut **text;
                unread.clear();
                let token = choice.choose(logits, |token| self.allows(*copying, draft, token));
                let Some(token) = token else { return false };
                drawn.push(token);
                if Some(token) == self.model().end() {
                    return false;
                }
                if let Some(copying) = copying {
                    copying.write(draft, self.tokenizer().bytes(token));
                }
                unread.push(token);
                true
            });
            let mut lanes: Vec<Lane<'_, M::State>> = Vec::with_capacity(open.len());
            for text in &mut open {
                let PendingAnswer { state, logits, unread, .. } = &mut **text;
                lanes.push(Lane { state, tokens: unread, logits });
            }
            if !lanes.is_empty() {
                self.model().step_batch(&mut lanes)?;
            }
            drop(lanes);
            open.retain(|text| text.drawn.len() < LONGEST_ANSWER);
        }
        Ok(())
    }
}
