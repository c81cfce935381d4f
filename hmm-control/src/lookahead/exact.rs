//! The look-ahead: for every next token, the expected weight of the whole text.

use super::backward::BackwardChain;
use super::targets::Targets;
use crate::model::{Scaled, multiply};
use crate::{Attribute, AttributeError, Belief, Edge, Hmm, Token};
use std::sync::Arc;

/// The progress of a text: the belief about the hidden state, the state of the automaton, and the weight of the tokens
/// so far. A clone is a fork.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The belief about the hidden state.
    pub belief: Belief,
    /// The automaton's state.
    pub state: usize,
    /// The log weight of the generated tokens so far, without the prompt.
    pub log_weight: f64,
    /// How many tokens were generated so far, even where the belief was replaced meanwhile.
    pub generated: usize,
}

/// The exact look-ahead of one [`Attribute`] under one [`Hmm`].
///
/// It gives for each token `v` the mean weight of the whole text, if `v` comes next and the hidden Markov model writes
/// the rest: `phi(v) = E[weight(text) | text so far, v]` (the paper, section 4.4; TRACE, Yidou-Weng et al.
/// 2025, equation 6, for one state; Ctrl-G, Zhang et al. 2024, section 3, for weights 0 and 1). The answer is exact
/// for the hidden Markov model, which only approximates the language model.
///
/// Costs: construction reads the emissions of the weighted tokens once. A new horizon costs, for each further token, one
/// pass over the transition matrix per automaton state, and 8 bytes per automaton and hidden state. These vectors depend
/// on neither prompt nor position, so that all requests, threads and clones share them. Then each token costs one pass
/// over the emissions (all of them, or those of the candidates) and, in [`Lookahead::observe`], one over the transitions.
///
/// ```
/// use hmm_control::{Attribute, Hmm, Lookahead, Storage};
/// use ndarray::array;
///
/// let hmm = Hmm::new(
///     &[0.5, 0.5],
///     array![[0.9, 0.1], [0.2, 0.8]].view(),
///     array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]].view(),
///     Storage::F64,
/// )?;
/// // Every token 2 halves the weight of a text.
/// let attribute = Attribute::from_weights(3, [(2, 0.5_f64.ln())])?;
/// let lookahead = Lookahead::new(hmm, attribute)?;
/// let mut progress = lookahead.start();
/// lookahead.observe(&mut progress, 0);
/// let mut log_phi = [0.0; 3];
/// lookahead.score_all(&progress, 3, &mut log_phi);
/// assert!(log_phi[0] > log_phi[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lookahead {
    shared: Arc<Shared>,
}

struct Shared {
    hmm: Hmm,
    attribute: Attribute,
    chain: BackwardChain,
}

impl Lookahead {
    /// The look-ahead of an attribute.
    ///
    /// # Errors
    /// When the attribute is over another vocabulary than the model.
    pub fn new(hmm: Hmm, attribute: Attribute) -> Result<Lookahead, AttributeError> {
        if hmm.vocabulary() != attribute.vocabulary() {
            return Err(AttributeError::Vocabulary { left: hmm.vocabulary(), right: attribute.vocabulary() });
        }
        let ones = Scaled::new(vec![1.0; hmm.states()], 0.0);
        let chain = BackwardChain::new(&hmm, &attribute, &ones, 0);
        Ok(Lookahead { shared: Arc::new(Shared { hmm, attribute, chain }) })
    }

    /// The model.
    pub fn hmm(&self) -> &Hmm {
        &self.shared.hmm
    }

    /// The attribute.
    pub fn attribute(&self) -> &Attribute {
        &self.shared.attribute
    }

    /// Computes the vectors for up to `horizon` more tokens now, rather than at their first use.
    pub fn prepare(&self, horizon: usize) {
        self.shared.chain.row(&self.shared.hmm, horizon);
    }

    /// Bytes of the vectors computed so far.
    pub fn bytes(&self) -> usize {
        self.shared.chain.bytes()
    }

    /// The backward vector: by hidden state that emitted the last token, the logarithm of the expected weight of
    /// `remaining` more tokens from a state of the automaton.
    pub fn backward(&self, state: usize, remaining: usize) -> Vec<f64> {
        self.shared.chain.logarithms(self.hmm(), state, remaining)
    }

    /// The progress before the first token.
    pub fn start(&self) -> Progress {
        let state = self.attribute().start();
        Progress { belief: Belief::start(self.hmm()), state, log_weight: 0.0, generated: 0 }
    }

    /// Observes a token of the prompt: it updates the belief, and neither the automaton nor the weight.
    pub fn observe_prompt(&self, progress: &mut Progress, token: Token) {
        progress.belief.observe(self.hmm(), token);
    }

    /// Observes a generated token.
    pub fn observe(&self, progress: &mut Progress, token: Token) {
        self.step(progress, token);
        progress.belief.observe(self.hmm(), token);
    }

    /// Advances the automaton only.
    pub(crate) fn step(&self, progress: &mut Progress, token: Token) {
        let edge = self.attribute().step(progress.state, token);
        progress.state = edge.to;
        progress.log_weight += edge.log_weight;
        progress.generated += 1;
    }

    /// `log E[weight of the whole text | text so far]` with `remaining` more tokens. At most 0; minus infinity where every
    /// continuation has weight 0.
    pub fn expectation(&self, progress: &Progress, remaining: usize) -> f64 {
        let ahead = match self.shared.chain.before_next(self.hmm(), progress.state, remaining) {
            Some(ahead) => {
                let sum: f64 = multiply(progress.belief.predicted(), &ahead.values).iter().sum();
                sum.ln() + ahead.log_scale
            }
            None => self.attribute().log_final(progress.state),
        };
        (progress.log_weight + ahead).min(0.0)
    }

    /// `out[v] = log phi(v)` for every token `v`, with `remaining` tokens after it. At most 0; minus infinity where every
    /// continuation has weight 0. A token that the hidden Markov model considers impossible here is scored as if it were
    /// missing. One pass over the emission matrix.
    pub fn score_all(&self, progress: &Progress, remaining: usize, out: &mut [f64]) {
        let targets = self.targets(progress, remaining, self.attribute().targets(progress.state));
        self.write(progress, &targets, self.attribute().edges(progress.state), out);
    }

    /// The same as [`Lookahead::score_all`], for some tokens only: `out[i]` is for `tokens[i]`.
    pub fn score(&self, progress: &Progress, remaining: usize, tokens: &[Token], out: &mut [f64]) {
        let edges = || tokens.iter().map(|token| self.attribute().step(progress.state, *token));
        let mut reached: Vec<usize> = edges().map(|edge| edge.to).collect();
        reached.sort_unstable();
        reached.dedup();
        let targets = self.targets(progress, remaining, reached);
        self.write(progress, &targets, tokens.iter().copied().zip(edges()), out);
    }

    pub(crate) fn targets(&self, progress: &Progress, remaining: usize, reached: Vec<usize>) -> Targets {
        let row = self.shared.chain.row(self.hmm(), remaining);
        Targets::new(self.hmm(), &progress.belief, &row, reached)
    }

    pub(crate) fn write(
        &self,
        progress: &Progress,
        targets: &Targets,
        edges: impl Iterator<Item = (Token, Edge)>,
        out: &mut [f64],
    ) {
        targets.operands(self.hmm()).write(self.hmm(), progress.log_weight, edges, out);
        out.iter_mut().for_each(|log_phi| *log_phi = log_phi.min(0.0));
    }

    /// The logarithm of an upper bound of `phi(token)` for any belief: the weight so far, times the token's, times the
    /// largest expected weight of the rest over the hidden states.
    pub fn bound(&self, progress: &Progress, remaining: usize, token: Token) -> f64 {
        let edge = self.attribute().step(progress.state, token);
        (progress.log_weight + edge.log_weight + self.most_ahead(edge.to, remaining)).min(0.0)
    }

    /// The logarithm of the largest expected weight of `remaining` tokens over the hidden states, from a state of the
    /// automaton.
    pub(crate) fn most_ahead(&self, state: usize, remaining: usize) -> f64 {
        let row = self.shared.chain.row(self.hmm(), remaining);
        row.get(state).map_or(f64::NEG_INFINITY, |scaled| scaled.log_scale)
    }
}
