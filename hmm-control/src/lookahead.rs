//! Look-ahead: the expected attribute of every continuation, at every token.

use crate::chain::{Chain, Scaled};
use crate::hmm::multiply;
use crate::targets::Targets;
use crate::{Attribute, AttributeError, Belief, Edge, Hmm, Token};
use std::sync::Arc;

/// How far a text has come: what is believed of the hidden state, where the automaton stands, and what the tokens so
/// far weigh. A clone is a fork.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is believed of the hidden state.
    pub belief: Belief,
    /// The automaton's state.
    pub state: usize,
    /// The log weight of the generated tokens so far; the prompt's do not count.
    pub log_weight: f64,
    /// How many tokens were generated so far, whatever the belief was replaced with meanwhile.
    pub generated: usize,
}

/// The exact look-ahead of one [`Attribute`] under one [`Hmm`].
///
/// It answers for each token `v` what the whole text will weigh on average, if `v` comes next and the hidden Markov
/// model writes the rest: `phi(v) = E[weight(text) | text so far, v]` (the paper, section 4.4; TRACE, Yidou-Weng et al.
/// 2025, equation 6, for one state; Ctrl-G, Zhang et al. 2024, section 3, for weights 0 and 1). The answer is exact
/// for the model, and the model only stands for the language model: what it cannot represent is not foreseen.
///
/// Costs: making one reads the emissions of the weighted tokens once. A horizon that was not asked for before costs
/// one pass over the transition matrix for each automaton state and each token further, and 8 bytes per automaton and
/// hidden state are kept for each; these vectors depend on neither prompt nor position, so all requests and threads
/// share them (a clone shares too). Then each token costs one pass over the emissions (all of them, or those of the
/// candidates) and, in [`Lookahead::observe`], one over the transitions.
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
/// // A text is worth one half for every token 2 in it.
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
    chain: Chain,
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
        let chain = Chain::new(&hmm, &attribute, &ones, 0);
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

    /// Makes the vectors for up to `horizon` more tokens now, rather than when they are first asked for.
    pub fn prepare(&self, horizon: usize) {
        self.shared.chain.row(&self.shared.hmm, horizon);
    }

    /// Bytes that the vectors made so far take.
    pub fn bytes(&self) -> usize {
        self.shared.chain.bytes()
    }

    /// The backward vector: by hidden state that emitted the last token, the logarithm of what `remaining` more tokens
    /// are expected to weigh from a state of the automaton on.
    pub fn backward(&self, state: usize, remaining: usize) -> Vec<f64> {
        self.shared.chain.logarithms(self.hmm(), state, remaining)
    }

    /// Before the first token.
    pub fn start(&self) -> Progress {
        let state = self.attribute().start();
        Progress { belief: Belief::start(self.hmm()), state, log_weight: 0.0, generated: 0 }
    }

    /// Takes in a token of the prompt: it tells of the hidden state, but is neither weighed nor seen by the automaton.
    pub fn observe_prompt(&self, progress: &mut Progress, token: Token) {
        progress.belief.observe(self.hmm(), token);
    }

    /// Takes in a generated token.
    pub fn observe(&self, progress: &mut Progress, token: Token) {
        self.step(progress, token);
        progress.belief.observe(self.hmm(), token);
    }

    /// Moves the automaton only.
    pub(crate) fn step(&self, progress: &mut Progress, token: Token) {
        let edge = self.attribute().step(progress.state, token);
        progress.state = edge.to;
        progress.log_weight += edge.log_weight;
        progress.generated += 1;
    }

    /// `log E[weight of the whole text | text so far]` with `remaining` tokens still to come. At most 0; minus infinity
    /// where every continuation weighs nothing.
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

    /// `out[v] = log phi(v)` for every token `v`, with `remaining` tokens to come after it. At most 0; minus infinity
    /// where nothing that follows has weight. A token that the hidden Markov model holds impossible here tells it
    /// nothing of the hidden state, and is scored as one that was not seen. One pass over the emission matrix.
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

    /// The logarithm of a bound that `phi(token)` cannot exceed, whatever is believed of the hidden state: the weight so
    /// far, times the token's, times the most that any hidden state promises for the rest.
    pub fn bound(&self, progress: &Progress, remaining: usize, token: Token) -> f64 {
        let edge = self.attribute().step(progress.state, token);
        (progress.log_weight + edge.log_weight + self.most_ahead(edge.to, remaining)).min(0.0)
    }

    /// The most that any hidden state promises for `remaining` tokens from a state of the automaton on, as a logarithm.
    pub(crate) fn most_ahead(&self, state: usize, remaining: usize) -> f64 {
        let row = self.shared.chain.row(self.hmm(), remaining);
        row.get(state).map_or(f64::NEG_INFINITY, |scaled| scaled.log_scale)
    }
}
