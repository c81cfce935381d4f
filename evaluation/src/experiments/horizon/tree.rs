//! What the language model says after each text, asked once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hmm_control::{LanguageModel, Token};

use super::{HorizonError, failed};

/// The texts that were written after one prompt. Ways of steering that agree so far share the model's steps.
pub struct Tree<'a, M: LanguageModel> {
    model: &'a M,
    nodes: HashMap<Vec<Token>, Node<M::State>>,
    /// Steps of the model behind the prompt, and how long they took.
    pub steps: (u32, Duration),
}

/// Where the model stands after a text.
pub struct Node<S> {
    /// What it has read.
    pub state: S,
    /// Of every token that may come next, the logarithm of its probability.
    pub log_probabilities: Vec<f32>,
    /// The model's features.
    pub features: Vec<f32>,
}

impl<'a, M: LanguageModel> Tree<'a, M> {
    /// The prompt is read.
    ///
    /// # Errors
    /// What the model says.
    pub fn new(model: &'a M, prompt: &[Token]) -> Result<Tree<'a, M>, HorizonError> {
        let root = read(model, model.start(), prompt)?;
        let steps = (0, Duration::ZERO);
        Ok(Tree { model, nodes: HashMap::from([(Vec::new(), root)]), steps })
    }

    /// The language model.
    pub fn model(&self) -> &'a M {
        self.model
    }

    /// The node of a text, whose own beginning was asked for before.
    ///
    /// # Errors
    /// What the model says, or that the beginning was not.
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
