//! Writes one continuation by one method.

use classifier::{SparseAttribute, TokenAttribute};
use hmm_control::{ControlError, Controller, LanguageModel, MaskWords, Progress, Sampler, Token};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// How a continuation is steered.
#[derive(Clone, Copy)]
pub enum Steering<'a> {
    /// Not at all.
    Free,
    /// By a controller, which looks at so many tokens after the next one.
    Lookahead(&'a Controller, usize),
    /// Only tokens of the mask are written.
    Ban(&'a MaskWords),
    /// So many free continuations are written, and the one with the highest weight is taken; of equals the first.
    BestOf(usize, &'a SparseAttribute),
}

/// Writes continuations of prompts.
///
/// A method draws one random number for each token, and the numbers follow from the seed alone, so that methods meet the
/// same ones. A look-ahead scores only the tokens that its certificate needs; under top-k the result is exact.
pub struct Writer<'a, M> {
    /// The language model.
    pub model: &'a M,
    /// How a token is drawn.
    pub sampler: Sampler,
    /// The tokens of a continuation.
    pub length: usize,
}

/// A continuation.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Its tokens, without the prompt.
    pub tokens: Vec<Token>,
    /// Their log probability under the language model alone.
    pub log_probability: f64,
}

/// The error of a continuation that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The language model failed.
    #[error("the language model failed")]
    Model(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Its logits cannot be controlled.
    #[error(transparent)]
    Control(#[from] ControlError),
}

/// The first number of candidates, and the share that may be left out by a sampler without top-k.
const CANDIDATES: usize = 128;
const LEFT_OUT: f64 = 1e-3;

impl<M: LanguageModel> Writer<'_, M> {
    /// Writes a continuation of exactly as many tokens as the settings say.
    ///
    /// # Errors
    /// When the language model fails, or no token may be written.
    pub fn write(&self, prompt: &[Token], steering: Steering<'_>, seed: u64) -> Result<Written, WriteError> {
        let Steering::BestOf(count, attribute) = steering else {
            return self.one(prompt, steering, seed, 0);
        };
        let mut best = self.one(prompt, Steering::Free, seed, 0)?;
        for stream in 1..count {
            let other = self.one(prompt, Steering::Free, seed, stream as u64)?;
            if attribute.log_weight_of(&other.tokens) > attribute.log_weight_of(&best.tokens) {
                best = other;
            }
        }
        Ok(best)
    }

    fn one(
        &self,
        prompt: &[Token],
        steering: Steering<'_>,
        seed: u64,
        stream: u64,
    ) -> Result<Written, WriteError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        let mut state = self.model.start();
        let mut logits = vec![0.0_f32; self.model.vocabulary()];
        let mut read = |tokens: &[Token], logits: &mut [f32]| {
            self.model.step(&mut state, tokens, logits).map_err(|error| WriteError::Model(Box::new(error)))
        };
        // A model with an end token begins its texts after it.
        let first: Vec<Token> = self.model.end().into_iter().chain(prompt.iter().copied()).collect();
        read(&first, &mut logits)?;
        let mut progress = started(prompt, steering);
        let mut written = Written { tokens: Vec::with_capacity(self.length), log_probability: 0.0 };
        while written.tokens.len() < self.length {
            let plain = logits.clone();
            self.steer(steering, progress.as_ref(), &mut logits)?;
            let token = self.sampler.draw(&logits, &mut rng).ok_or(ControlError::NothingAllowed)?;
            written.log_probability += log_probability(&plain, token);
            written.tokens.push(token);
            if let (Steering::Lookahead(controller, _), Some(progress)) = (steering, progress.as_mut()) {
                controller.lookahead().observe(progress, token);
            }
            if written.tokens.len() < self.length {
                read(&[token], &mut logits)?;
            }
        }
        Ok(written)
    }

    fn steer(
        &self,
        steering: Steering<'_>,
        progress: Option<&Progress>,
        logits: &mut [f32],
    ) -> Result<(), ControlError> {
        match (steering, progress) {
            (Steering::Lookahead(controller, horizon), Some(progress)) => {
                let coverage = self.sampler.coverage(LEFT_OUT);
                controller.adjust_candidates(progress, horizon, logits, None, coverage, CANDIDATES)?;
            }
            (Steering::Ban(mask), _) => {
                for (token, logit) in logits.iter_mut().enumerate() {
                    if mask.get(token / 64).is_none_or(|word| word >> (token % 64) & 1 == 0) {
                        *logit = f32::NEG_INFINITY;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the look-ahead's progress after the prompt.
fn started(prompt: &[Token], steering: Steering<'_>) -> Option<Progress> {
    let Steering::Lookahead(controller, _) = steering else { return None };
    let mut progress = controller.lookahead().start();
    prompt.iter().for_each(|token| controller.lookahead().observe_prompt(&mut progress, *token));
    Some(progress)
}

/// Returns the log probability of a token.
pub(super) fn log_probability(logits: &[f32], token: Token) -> f64 {
    let logit = logits.get(token as usize).copied().map_or(f64::NEG_INFINITY, f64::from);
    logit - log_sum(logits)
}

/// Returns `log Σ e^l`.
fn log_sum(logits: &[f32]) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from((logit - top).exp())).sum();
    f64::from(top) + sum.ln()
}

/// Returns a mask of all tokens of a vocabulary but those whose log weight is below a bound.
pub(super) fn all_but_worst(attribute: &SparseAttribute, below: f64) -> Vec<u64> {
    let vocabulary = attribute.vocabulary();
    let mut mask = vec![u64::MAX; vocabulary.div_ceil(64)];
    for (token, weight) in attribute.weights() {
        let place = *token as usize;
        if f64::from(*weight) < below
            && let Some(word) = mask.get_mut(place / 64)
        {
            *word &= !(1 << (place % 64));
        }
    }
    mask
}

/// A language model that is a hidden Markov model itself, so that a look-ahead in it is exact.
#[cfg(test)]
pub(super) mod exact {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use hmm_control::{Belief, Hmm, LanguageModel, Storage, Token};
    use ndarray::array;

    /// The language model.
    pub struct Exact(pub Hmm);

    impl LanguageModel for Exact {
        type State = Belief;
        type Error = std::convert::Infallible;

        fn vocabulary(&self) -> usize {
            self.0.vocabulary()
        }

        fn end(&self) -> Option<Token> {
            None
        }

        fn start(&self) -> Belief {
            Belief::start(&self.0)
        }

        fn step(&self, state: &mut Belief, tokens: &[Token], logits: &mut [f32]) -> Result<(), Self::Error> {
            tokens.iter().for_each(|token| {
                state.observe(&self.0, *token);
            });
            for (token, logit) in logits.iter_mut().enumerate() {
                *logit = state.log_probability(&self.0, token as Token) as f32;
            }
            Ok(())
        }
    }

    /// State 0 writes token 0 or 1 at random; after 1 comes 3, which is an insult, and after 0 comes 2. So the only way
    /// around an insult is to see it coming one token before.
    pub fn bait() -> Hmm {
        Hmm::new(
            &[0.25; 4],
            array![[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]
                .view(),
            array![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
                .view(),
            Storage::F64,
        )
        .unwrap()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use super::exact::{Exact, bait};
    use super::*;
    use hmm_control::{Attribute, Lookahead};

    fn insults(written: &Written) -> usize {
        written.tokens.iter().filter(|token| **token == 3).count()
    }

    #[test]
    fn an_exact_look_ahead_avoids_what_the_weights_of_tokens_cannot() {
        let exact = Exact(bait());
        let sampler = Sampler::new(1.0).unwrap().top_k(4);
        let writer = Writer { model: &exact, sampler, length: 8 };
        let attribute = Attribute::from_weights(4, [(3, 1e-9_f64.ln())]).unwrap();
        let controller = Controller::new(Lookahead::new(bait(), attribute).unwrap(), 1.0).unwrap();
        let count = |steering| -> usize {
            (0..60).map(|seed| insults(&writer.write(&[2], steering, seed).unwrap())).sum()
        };
        let free = count(Steering::Free);
        assert!((80..160).contains(&free), "{free} of 240");
        assert_eq!(count(Steering::Lookahead(&controller, 0)), free);
        assert_eq!(count(Steering::Lookahead(&controller, 1)), 0);
        // A forbidden token that the model is about to write leaves nothing to write.
        let banned = writer.write(&[2, 1], Steering::Ban(&[0b0111]), 1);
        assert!(matches!(banned, Err(WriteError::Control(ControlError::NothingAllowed))), "{banned:?}");
    }

    #[test]
    fn the_best_of_n_begins_with_the_free_one_and_never_weighs_less() {
        let exact = Exact(bait());
        let writer = Writer { model: &exact, sampler: Sampler::new(1.0).unwrap(), length: 6 };
        let attribute = SparseAttribute::new(4, [(3, -1.0)]).unwrap();
        let mut better = 0;
        for seed in 0..40 {
            let free = writer.write(&[2], Steering::Free, seed).unwrap();
            assert_eq!(writer.write(&[2], Steering::BestOf(1, &attribute), seed).unwrap(), free);
            let best = writer.write(&[2], Steering::BestOf(4, &attribute), seed).unwrap();
            assert!(insults(&best) <= insults(&free));
            better += usize::from(insults(&best) < insults(&free));
            // Each of the three pairs is one choice of two.
            assert!((free.log_probability - 3.0 * 0.5_f64.ln()).abs() < 1e-5);
        }
        assert!(better > 10, "{better}");
    }

    /// A language model that writes what it has read: after `n` tokens of a text it writes token `n`.
    struct Counting;

    impl LanguageModel for Counting {
        type State = Vec<Token>;
        type Error = std::convert::Infallible;

        fn vocabulary(&self) -> usize {
            10
        }

        fn end(&self) -> Option<Token> {
            Some(9)
        }

        fn start(&self) -> Vec<Token> {
            Vec::new()
        }

        fn step(
            &self,
            state: &mut Vec<Token>,
            tokens: &[Token],
            logits: &mut [f32],
        ) -> Result<(), Self::Error> {
            state.extend(tokens);
            assert_eq!(state.first(), Some(&9), "a text begins after the end token");
            logits.fill(f32::NEG_INFINITY);
            if let Some(logit) = logits.get_mut(state.len()) {
                *logit = 0.0;
            }
            Ok(())
        }
    }

    #[test]
    fn a_text_begins_after_the_end_token_and_has_all_its_tokens() {
        let writer = Writer { model: &Counting, sampler: Sampler::new(1.0).unwrap(), length: 3 };
        let written = writer.write(&[1, 1], Steering::Free, 1).unwrap();
        assert_eq!((&written.tokens[..], written.log_probability), (&[3, 4, 5][..], 0.0));
    }

    #[test]
    fn the_mask_forbids_exactly_the_worst() {
        let attribute = SparseAttribute::new(130, [(0, -2.0), (64, -0.5), (129, -0.8)]).unwrap();
        let mask = all_but_worst(&attribute, -0.7);
        let allowed = |token: usize| mask.get(token / 64).unwrap() >> (token % 64) & 1 == 1;
        let forbidden: Vec<usize> = (0..130).filter(|token| !allowed(*token)).collect();
        assert_eq!(forbidden, [0, 129]);
    }
}
