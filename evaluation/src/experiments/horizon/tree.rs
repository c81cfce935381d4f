//! A cache of the language model's steps after each text.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hmm_control::{LanguageModel, Token};

use super::{HorizonError, failed};

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
