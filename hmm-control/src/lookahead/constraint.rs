//! Hard constraints: the probability that the text is completed as an automaton requires.

use super::backward::{BackwardChain, tails};
use super::targets::Targets;
use crate::kernel::{Operand, Pair};
use crate::model::{Scaled, multiply};
use crate::{Attribute, AttributeError, Belief, Edge, Hmm, Token};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The probability that a text is completed as required: between `shortest` and `longest` generated tokens that an
/// automaton accepts, then a fixed ending (Ctrl-G, Zhang et al. 2024, section 3).
///
/// The automaton is an [`Attribute`], usually of weights 0 and 1; others are weighed exactly too. The ending has the
/// tokens of a suffix and the token that ends a text, or nothing. An ending whose last token repeats for ever (the end
/// token) makes the lengths exclude each other, so that the answer is a probability. Without one the answer is the
/// expected *number* of lengths at which the text fits, which is bounded by the number of lengths and not by 1.
///
/// The exact answer costs as much as a [`crate::Lookahead`]: two products for each token, for any number of states, since
/// each token leads to one state. Set-up is one pass over the transitions for each state and each token of `longest`. The
/// vectors are stored (8 bytes for each automaton state, hidden state and length) and shared by clones.
///
/// ```
/// use hmm_control::{Attribute, Constraint, Hmm, Storage};
/// use ndarray::array;
///
/// let hmm = Hmm::new(
///     &[1.0, 0.0],
///     array![[0.5, 0.5], [0.0, 1.0]].view(),
///     array![[0.6, 0.4, 0.0], [0.0, 0.0, 1.0]].view(),
///     Storage::F64,
/// )?;
/// // One to three tokens other than token 1, then token 2, which ends a text.
/// let automaton = Attribute::from_weights(3, [(1, f64::NEG_INFINITY), (2, f64::NEG_INFINITY)])?;
/// let constraint = Constraint::new(hmm, automaton, 1..=3, &[2])?;
/// let completion = constraint.start();
/// let mut log_phi = [0.0; 3];
/// constraint.score_all(&completion, &mut log_phi);
/// assert!(log_phi[0] < 0.0 && log_phi[1] == f64::NEG_INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Constraint {
    shared: Arc<Shared>,
}

struct Shared {
    hmm: Hmm,
    automaton: Attribute,
    lengths: RangeInclusive<usize>,
    ending: Vec<Token>,
    /// Entry `i`: the probability of the ending's tokens from `i` on, by hidden state that emitted the last token.
    tails: Vec<Scaled>,
    chain: BackwardChain,
}

/// The most tokens of a constrained text before its ending.
const LONGEST: usize = 1 << 16;

/// The progress of a constrained text. A clone is a fork.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    belief: Belief,
    state: usize,
    generated: usize,
    log_weight: f64,
    /// The partial matches of the ending at the end of the text: how many of its tokens matched, and the log weight of the
    /// text before them.
    begun: Vec<(usize, f64)>,
}

impl Completion {
    /// The belief about the hidden state.
    pub fn belief(&self) -> &Belief {
        &self.belief
    }

    /// Tokens generated so far, the ending's included.
    pub fn generated(&self) -> usize {
        self.generated
    }
}

impl Constraint {
    /// A constraint on the generated tokens: `lengths` of them that the automaton accepts, then `ending`.
    ///
    /// # Errors
    /// When the automaton is over another vocabulary, a token of the ending is outside it, or no length is allowed, or one
    /// of more than 65,536 tokens.
    pub fn new(
        hmm: Hmm,
        automaton: Attribute,
        lengths: RangeInclusive<usize>,
        ending: &[Token],
    ) -> Result<Constraint, AttributeError> {
        let vocabulary = hmm.vocabulary();
        if vocabulary != automaton.vocabulary() {
            return Err(AttributeError::Vocabulary { left: vocabulary, right: automaton.vocabulary() });
        }
        if let Some(&token) = ending.iter().find(|token| **token as usize >= vocabulary) {
            return Err(AttributeError::Token { token, vocabulary });
        }
        if lengths.is_empty() || *lengths.end() > LONGEST {
            return Err(AttributeError::Lengths { shortest: *lengths.start(), longest: *lengths.end() });
        }
        let tails = tails(&hmm, ending);
        let whole = tails.first().cloned().unwrap_or_else(|| Scaled::new(vec![1.0; hmm.states()], 0.0));
        let window = lengths.end() - lengths.start();
        let chain = BackwardChain::new(&hmm, &automaton, &whole, window);
        let ending = ending.to_vec();
        Ok(Constraint { shared: Arc::new(Shared { hmm, automaton, lengths, ending, tails, chain }) })
    }

    /// The model.
    pub fn hmm(&self) -> &Hmm {
        &self.shared.hmm
    }

    /// The automaton.
    pub fn automaton(&self) -> &Attribute {
        &self.shared.automaton
    }

    /// Computes all vectors now, rather than at their first use.
    pub fn prepare(&self) {
        self.shared.chain.row(&self.shared.hmm, *self.shared.lengths.end());
    }

    /// The backward vector: by hidden state that emitted the last token, the log probability that the text is completed as
    /// required from a state of the automaton, with at most `left` tokens before the ending.
    pub fn backward(&self, state: usize, left: usize) -> Vec<f64> {
        self.shared.chain.logarithms(self.hmm(), state, left)
    }

    /// The progress before the first token.
    pub fn start(&self) -> Completion {
        let state = self.automaton().start();
        let mut start = Completion {
            belief: Belief::start(self.hmm()),
            state,
            generated: 0,
            log_weight: 0.0,
            begun: Vec::new(),
        };
        self.begin_ending(&mut start);
        start
    }

    /// Observes a token of the prompt: it updates the belief only.
    pub fn observe_prompt(&self, completion: &mut Completion, token: Token) {
        completion.belief.observe(self.hmm(), token);
    }

    /// Observes a generated token.
    pub fn observe(&self, completion: &mut Completion, token: Token) {
        completion.begun.retain_mut(|(matched, _)| {
            let fits = self.shared.ending.get(*matched) == Some(&token);
            *matched += 1;
            fits
        });
        let edge = self.automaton().step(completion.state, token);
        completion.state = edge.to;
        completion.log_weight += edge.log_weight;
        completion.generated += 1;
        completion.belief.observe(self.hmm(), token);
        self.begin_ending(completion);
    }

    /// True if the tokens so far are a completed text.
    pub fn is_complete(&self, completion: &Completion) -> bool {
        completion.begun.iter().any(|(matched, _)| *matched == self.shared.ending.len())
    }

    /// Starts a match of the ending, where the text may end here.
    fn begin_ending(&self, completion: &mut Completion) {
        let log_weight = completion.log_weight + self.automaton().log_final(completion.state);
        if self.shared.lengths.contains(&completion.generated) && log_weight > f64::NEG_INFINITY {
            completion.begun.push((0, log_weight));
        }
    }

    /// `out[v] = log p(the text is completed as required | text so far, v)` for every token; minus infinity where it is
    /// impossible. One pass over the emission matrix.
    pub fn score_all(&self, completion: &Completion, out: &mut [f64]) {
        let reached = self.automaton().targets(completion.state);
        self.write(completion, reached, self.automaton().edges(completion.state), out);
    }

    /// The same as [`Constraint::score_all`], for some tokens only: `out[i]` is for `tokens[i]`.
    pub fn score(&self, completion: &Completion, tokens: &[Token], out: &mut [f64]) {
        let edges = || tokens.iter().map(|token| self.automaton().step(completion.state, *token));
        let mut reached: Vec<usize> = edges().map(|edge| edge.to).collect();
        reached.sort_unstable();
        reached.dedup();
        self.write(completion, reached, tokens.iter().copied().zip(edges()), out);
    }

    fn write(
        &self,
        completion: &Completion,
        reached: Vec<usize>,
        edges: impl Iterator<Item = (Token, Edge)> + Clone,
        out: &mut [f64],
    ) {
        let shared = &*self.shared;
        let left = shared.lengths.end().checked_sub(completion.generated + 1);
        let row = left.map(|left| shared.chain.row(&shared.hmm, left)).unwrap_or_default();
        let targets = Targets::new(&shared.hmm, &completion.belief, &row, reached);
        targets.operands(&shared.hmm).write(&shared.hmm, completion.log_weight, edges.clone(), out);
        for (matched, log_weight) in &completion.begun {
            if let (Some(token), Some(tail)) = (shared.ending.get(*matched), shared.tails.get(matched + 1)) {
                let added = log_weight + self.continued(&targets, *token, tail);
                let places = edges.clone().zip(out.iter_mut()).filter(|((given, _), _)| given == token);
                places.for_each(|(_, out)| *out = log_sum(&[*out, added]));
            }
        }
    }

    /// The log probability of a tail of the ending after a token.
    fn continued(&self, targets: &Targets, token: Token, tail: &Scaled) -> f64 {
        let emission = self.hmm().emission();
        let target = targets.target(tail);
        let (whole, part) = (&targets.predicted, &target.vector);
        let (whole, part) = (Operand::new(emission.storage(), whole), Operand::new(emission.storage(), part));
        let row = (Pair { row: token as usize, second: 0 }, ());
        let mut worth = f64::NEG_INFINITY;
        emission.pairs(
            std::iter::once(row),
            &whole,
            |_| Some(&part),
            |(), products| {
                worth = target.log_worth(products);
            },
        );
        worth
    }

    /// `log p(the text is completed as required | text so far)`; 0 once it is complete.
    pub fn expectation(&self, completion: &Completion) -> f64 {
        if self.is_complete(completion) {
            return 0.0;
        }
        let shared = &*self.shared;
        let predicted = completion.belief.predicted();
        let worth =
            |scaled: &Scaled| multiply(predicted, &scaled.values).iter().sum::<f64>().ln() + scaled.log_scale;
        let left = shared.lengths.end().saturating_sub(completion.generated);
        let ahead = shared.chain.before_next(&shared.hmm, completion.state, left);
        let mut terms: Vec<f64> = ahead.iter().map(|ahead| completion.log_weight + worth(ahead)).collect();
        let mut emission = vec![0.0; shared.hmm.states()];
        for (matched, log_weight) in &completion.begun {
            if let (Some(token), Some(tail)) = (shared.ending.get(*matched), shared.tails.get(matched + 1)) {
                shared.hmm.read_emission(*token, &mut emission);
                let values = multiply(&emission, &tail.values);
                terms.push(log_weight + worth(&Scaled { values, log_scale: tail.log_scale }));
            }
        }
        log_sum(&terms)
    }
}

/// The logarithm of the sum of `e^term`; minus infinity adds nothing.
fn log_sum(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}
