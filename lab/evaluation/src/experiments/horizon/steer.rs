//! Writes an answer under a look-ahead, with the same candidates and random numbers for every steering method. A cache
//! holds the language model's steps.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hmm_control::prior::Prior;
use hmm_control::{LanguageModel, Lookahead, RolloutLookahead, Token};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use super::{HorizonError, LONGEST, failed};

/// The least probability of a candidate.
const LEAST: f64 = 0.001;
/// The most candidates.
const MOST: usize = 20;

/// The weighting of the candidates.
#[derive(Clone, Copy)]
pub enum Steering<'a> {
    /// The language model alone.
    Free,
    /// The hidden Markov model with this horizon; the prior sets its state before every token.
    Hidden {
        /// The look-ahead.
        lookahead: &'a Lookahead,
        /// The context-aware prior.
        prior: Option<&'a Prior>,
        /// The number of tokens after the next one.
        horizon: usize,
    },
    /// Rollouts of the language model itself.
    Rolled {
        /// The estimator.
        rollouts: &'a RolloutLookahead,
        /// The number of tokens after the next one.
        horizon: usize,
        /// The random generator of its rollouts.
        seed: u64,
    },
}

/// A written answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The tokens, including the one that ended it.
    pub tokens: Vec<Token>,
    /// Their log probability under the language model.
    pub log_probability: f64,
    /// The duration of the look-ahead, without the language model's own steps.
    pub looked: Duration,
}

/// Random numbers in `[0, 1)`, one a token.
pub fn points(seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..LONGEST).map(|_| (rng.next_u64() >> 11) as f64 * (-53.0_f64).exp2()).collect()
}

/// The token at a point of the cumulative weights; `None` if there is no weight.
pub fn draw(weights: impl Iterator<Item = (Token, f64)> + Clone, point: f64) -> Option<Token> {
    let sum: f64 = weights.clone().map(|(_, weight)| weight).sum();
    let mut rest = point * sum;
    let mut last = None;
    for (token, weight) in weights.filter(|(_, weight)| *weight > 0.0) {
        rest -= weight;
        last = Some(token);
        if rest < 0.0 {
            break;
        }
    }
    last
}

/// The candidates after a text, the most likely first, with their log probabilities.
pub fn candidates<S>(node: &Node<S>) -> Vec<(Token, f64)> {
    let all = (0..).zip(node.log_probabilities.iter().map(|log| f64::from(*log)));
    let mut kept: Vec<(Token, f64)> = all.filter(|(_, log)| *log >= LEAST.ln()).collect();
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    kept.truncate(MOST);
    kept
}

/// Writes an answer.
///
/// # Errors
/// The model's error.
pub fn write<M: LanguageModel>(
    tree: &mut Tree<'_, M>,
    steering: Steering<'_>,
    points: &[f64],
) -> Result<Written, HorizonError> {
    let model = tree.model();
    let mut written = Written { tokens: Vec::new(), log_probability: 0.0, looked: Duration::ZERO };
    let mut progress =
        if let Steering::Hidden { lookahead, .. } = steering { Some(lookahead.start()) } else { None };
    let mut standing =
        if let Steering::Rolled { rollouts, .. } = steering { Some(rollouts.start()) } else { None };
    for point in points {
        let node = tree.at(&written.tokens)?;
        let choice = candidates(node);
        let tokens: Vec<Token> = choice.iter().map(|(token, _)| *token).collect();
        let mut log_phi = vec![0.0; tokens.len()];
        let began = Instant::now();
        match (steering, &mut progress, standing) {
            (Steering::Hidden { lookahead, prior, horizon }, Some(progress), _) => {
                if let Some(prior) = prior {
                    progress.belief = prior.belief(lookahead.hmm(), &node.features).map_err(failed)?;
                }
                if tokens.len() > 1 {
                    lookahead.score(progress, horizon, &tokens, &mut log_phi);
                }
            }
            (Steering::Rolled { rollouts, horizon, seed }, _, Some(standing)) if tokens.len() > 1 => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(written.tokens.len() as u64));
                let found = rollouts.score(model, &node.state, standing, horizon, &tokens, &mut rng);
                let found = found.map_err(failed)?;
                log_phi.iter_mut().zip(found).for_each(|(log_phi, found)| *log_phi = found.mean.ln());
            }
            _ => {}
        }
        let largest = log_phi.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weigh =
            |((token, log), log_phi): (&(Token, f64), &f64)| (*token, (log + log_phi - largest).exp());
        let token = draw(choice.iter().zip(&log_phi).map(weigh), *point);
        let token = token.ok_or_else(|| failed("no candidate is left"))?;
        if let (Steering::Hidden { lookahead, .. }, Some(progress)) = (steering, &mut progress) {
            lookahead.observe(progress, token);
        }
        if let (Steering::Rolled { rollouts, .. }, Some(standing)) = (steering, &mut standing) {
            rollouts.observe(standing, token);
        }
        written.looked += began.elapsed();
        let log = node.log_probabilities.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
        written.log_probability += f64::from(log);
        written.tokens.push(token);
        if model.end() == Some(token) {
            break;
        }
    }
    Ok(written)
}

/// The texts that were written after one prompt. Steering methods share the model's steps as long as they agree.
pub struct Tree<'a, M: LanguageModel> {
    model: &'a M,
    nodes: HashMap<Vec<Token>, Node<M::State>>,
    /// The number of the model's steps after the prompt, and their duration.
    pub steps: (u32, Duration),
}

/// The model's state after a text.
pub struct Node<S> {
    /// The text.
    pub state: S,
    /// The log probability of every next token.
    pub log_probabilities: Vec<f32>,
    /// The model's features.
    pub features: Vec<f32>,
}

impl<'a, M: LanguageModel> Tree<'a, M> {
    /// Reads the prompt.
    ///
    /// # Errors
    /// The model's error.
    pub fn new(model: &'a M, prompt: &[Token]) -> Result<Tree<'a, M>, HorizonError> {
        let root = read(model, model.start(), prompt)?;
        let steps = (0, Duration::ZERO);
        Ok(Tree { model, nodes: HashMap::from([(Vec::new(), root)]), steps })
    }

    /// The language model.
    pub fn model(&self) -> &'a M {
        self.model
    }

    /// The node of a text. Its prefixes have to be in the cache.
    ///
    /// # Errors
    /// The model's error, or a prefix that is not in the cache.
    pub fn at(&mut self, text: &[Token]) -> Result<&Node<M::State>, HorizonError> {
        if let (false, Some((last, before))) = (self.nodes.contains_key(text), text.split_last()) {
            let before =
                self.nodes.get(before).ok_or_else(|| failed("a text was asked for before its beginning"))?;
            let began = Instant::now();
            let node = read(self.model, before.state.clone(), &[*last])?;
            self.steps = (self.steps.0 + 1, self.steps.1 + began.elapsed());
            self.nodes.insert(text.to_vec(), node);
        }
        self.nodes.get(text).ok_or_else(|| failed("a text was asked for before its beginning"))
    }
}

fn read<M: LanguageModel>(
    model: &M,
    mut state: M::State,
    tokens: &[Token],
) -> Result<Node<M::State>, HorizonError> {
    let mut log_probabilities = vec![0.0; model.vocabulary()];
    model.step(&mut state, tokens, &mut log_probabilities).map_err(failed)?;
    let largest = log_probabilities.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = log_probabilities.iter().map(|logit| f64::from(logit - largest).exp()).sum();
    let norm = f64::from(largest) + sum.ln();
    log_probabilities.iter_mut().for_each(|logit| *logit = (f64::from(*logit) - norm) as f32);
    let features = model.features(&state).unwrap_or_default().to_vec();
    Ok(Node { state, log_probabilities, features })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_falls_where_its_weight_is() {
        let weights = [(7, 1.0), (8, 0.0), (9, 3.0)];
        let at = |point| draw(weights.into_iter(), point);
        assert_eq!([at(0.0), at(0.2499), at(0.2501), at(0.999_999)], [Some(7), Some(7), Some(9), Some(9)]);
        assert_eq!(draw([(1, 0.0)].into_iter(), 0.5), None);
    }

    #[test]
    fn points_are_spread_and_repeat() {
        let mean = points(3).iter().sum::<f64>() / LONGEST as f64;
        assert!((0.35..0.65).contains(&mean), "{mean}");
        assert_eq!(points(3), points(3));
        assert_ne!(points(3), points(4));
    }
}
