//! The n-grams of one corpus.

use super::counts::{self, Discounts, History, LONGEST, Level, START};
use super::error::NgramError;
use hmm_control::Token;
use rand::{Rng, RngExt};

/// Larger than any published vocabulary, and small enough for a table with an entry for each token.
const LARGEST_VOCABULARY: usize = 1 << 20;

/// A language model of n-grams with interpolated modified Kneser-Ney smoothing (Chen and Goodman 1999).
///
/// The probability of a token after a context is its discounted share of the tokens that followed the context, plus
/// the discounted mass times its probability after the context without its earliest token; below the empty context
/// lies the uniform distribution. Every token of the vocabulary has a probability above 0, and they sum to 1.
///
/// Memory: 8 bytes per distinct n-gram, 16 per distinct context, and 16 per token of the vocabulary.
///
/// ```
/// use language_models::ngram::{History, NgramModel};
///
/// let texts: [&[u32]; 2] = [&[0, 1, 2, 0, 1], &[0, 1, 1, 2]];
/// let model = NgramModel::train(4, 3, Some(3), texts)?;
/// let mut distribution = [0.0; 4];
/// model.distribution(&History::of(&[0]), &mut distribution);
/// assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// assert!(distribution[1] > 0.5);
/// # Ok::<(), language_models::ngram::NgramError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NgramModel {
    end: Option<Token>,
    /// By length of the context, the empty one first.
    levels: Vec<DiscountedLevel>,
    /// Probability of every token in the empty context.
    base: Vec<f64>,
    /// `base` summed up, for drawing.
    cumulative: Vec<f64>,
}

/// A level with the discounts and sums that follow from its counts.
#[derive(Debug, Clone, PartialEq)]
struct DiscountedLevel {
    level: Level,
    discounts: Discounts,
    /// Sum of the counts of each node.
    totals: Vec<f64>,
    /// The share of its mass that each node leaves to the shorter context.
    backoff: Vec<f64>,
}

impl DiscountedLevel {
    fn new(level: Level) -> DiscountedLevel {
        let discounts = Discounts::estimate(&level.counts);
        let mut totals = Vec::with_capacity(level.nodes());
        let mut backoff = Vec::with_capacity(level.nodes());
        for node in 0..level.nodes() {
            let (mut total, mut taken) = (0.0, 0.0);
            for (_, count) in level.continuations(node) {
                total += f64::from(count);
                taken += discounts.of(count);
            }
            totals.push(total);
            backoff.push(taken / total);
        }
        DiscountedLevel { level, discounts, totals, backoff }
    }

    fn total(&self, node: usize) -> f64 {
        self.totals.get(node).copied().unwrap_or(1.0)
    }

    fn backoff(&self, node: usize) -> f64 {
        self.backoff.get(node).copied().unwrap_or(1.0)
    }

    fn share(&self, count: u32) -> f64 {
        f64::from(count) - self.discounts.of(count)
    }
}

/// The contexts that a history ends with, the empty one first.
#[derive(Clone, Copy)]
struct Path {
    nodes: [usize; LONGEST],
    length: usize,
}

impl NgramModel {
    /// Learns from texts. With an end token, every text ends with it (it is added where it is missing, and within a
    /// text it begins a new one), and the model may predict it.
    ///
    /// Takes about a second per million tokens, and 40 bytes per token while it runs.
    ///
    /// # Errors
    /// When the vocabulary or the order cannot be used, a token is outside the vocabulary, or there is no token.
    pub fn train<'a>(
        vocabulary: usize,
        order: usize,
        end: Option<Token>,
        texts: impl IntoIterator<Item = &'a [Token]>,
    ) -> Result<NgramModel, NgramError> {
        if !(1..=LONGEST).contains(&order) {
            return Err(NgramError::Order { given: order, longest: LONGEST });
        }
        check_vocabulary(vocabulary, end)?;
        let mut stream = Vec::new();
        for text in texts {
            if let Some(&token) = text.iter().find(|token| **token as usize >= vocabulary) {
                return Err(NgramError::Token { token, vocabulary });
            }
            for part in text.split_inclusive(|token| Some(*token) == end) {
                stream.push(START);
                stream.extend_from_slice(part);
                if part.last().copied() != end {
                    stream.extend(end);
                }
            }
        }
        if stream.len() >= START as usize {
            return Err(NgramError::TooLong { limit: START as usize });
        }
        if stream.iter().all(|token| *token == START) {
            return Err(NgramError::NoText);
        }
        Ok(NgramModel::from_levels(vocabulary, end, counts::count(&stream, order)))
    }

    /// A model from counts whose first level has one node.
    pub(crate) fn from_levels(vocabulary: usize, end: Option<Token>, levels: Vec<Level>) -> NgramModel {
        let levels: Vec<DiscountedLevel> = levels.into_iter().map(DiscountedLevel::new).collect();
        let even = levels.first().map_or(1.0, |root| root.backoff(0)) / vocabulary as f64;
        let mut base = vec![even; vocabulary];
        if let Some(root) = levels.first() {
            for (token, count) in root.level.continuations(0) {
                if let Some(value) = base.get_mut(token as usize) {
                    *value += root.share(count) / root.total(0);
                }
            }
        }
        let sum = base.iter().scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        });
        let cumulative = sum.collect();
        NgramModel { end, levels, base, cumulative }
    }

    pub(crate) fn levels(&self) -> impl Iterator<Item = &Level> {
        self.levels.iter().map(|discounted| &discounted.level)
    }

    /// Size of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.base.len()
    }

    /// The longest n-gram that was counted, in tokens.
    pub fn order(&self) -> usize {
        self.levels.len()
    }

    /// The token that ends a text, where there is one.
    pub fn end(&self) -> Option<Token> {
        self.end
    }

    /// How many distinct n-grams of each length were seen, single tokens first.
    pub fn distinct(&self) -> Vec<usize> {
        self.levels().map(|level| level.tokens.len()).collect()
    }

    /// `p(token | history)`; 0 for a token outside the vocabulary.
    pub fn probability(&self, history: &History, token: Token) -> f64 {
        let Some(&base) = self.base.get(token as usize) else { return 0.0 };
        self.steps(&self.path(history)).skip(1).fold(base, |lower, (discounted, node)| {
            let count = discounted.level.count(node, token);
            discounted.share(count) / discounted.total(node) + discounted.backoff(node) * lower
        })
    }

    /// Writes `p(token | history)` for every token. One pass over the vocabulary, and over what followed the contexts
    /// that the history ends with.
    pub fn distribution(&self, history: &History, out: &mut [f64]) {
        let scale = self.base_scale(history);
        out.iter_mut().zip(&self.base).for_each(|(out, base)| *out = scale * base);
        self.for_each_seen(history, |token, probability| {
            if let Some(out) = out.get_mut(token as usize) {
                *out += probability;
            }
        });
    }

    /// The mass that the longer contexts leave to the empty one.
    pub(crate) fn base_scale(&self, history: &History) -> f64 {
        self.steps(&self.path(history)).skip(1).map(|(discounted, node)| discounted.backoff(node)).product()
    }

    /// Probability of every token in the empty context.
    pub(crate) fn base(&self) -> &[f64] {
        &self.base
    }

    /// Calls `each` with the probability that every context but the empty one adds to a token that followed it.
    pub(crate) fn for_each_seen(&self, history: &History, mut each: impl FnMut(Token, f64)) {
        let mut scale = 1.0;
        for (discounted, node) in self.steps(&self.path(history)).skip(1).rev() {
            let factor = scale / discounted.total(node);
            for (token, count) in discounted.level.continuations(node) {
                each(token, factor * discounted.share(count));
            }
            scale *= discounted.backoff(node);
        }
    }

    /// Draws a token exactly from the distribution, without computing all of it.
    pub fn sample(&self, history: &History, rng: &mut impl Rng) -> Token {
        for (discounted, node) in self.steps(&self.path(history)).skip(1).rev() {
            let mut rest = rng.random::<f64>() * discounted.total(node);
            for (token, count) in discounted.level.continuations(node) {
                rest -= discounted.share(count);
                if rest < 0.0 {
                    return token;
                }
            }
        }
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let point = rng.random::<f64>() * total;
        let place = self.cumulative.partition_point(|sum| *sum <= point);
        place.min(self.base.len().saturating_sub(1)) as Token
    }

    fn path(&self, history: &History) -> Path {
        let mut path = Path { nodes: [0; LONGEST], length: 1 };
        let mut node = 0;
        for ((pair, token), slot) in
            self.levels.windows(2).zip(history.back()).zip(path.nodes.iter_mut().skip(1))
        {
            let [here, next] = pair else { break };
            let Some(child) = here.level.child(&next.level, node, *token) else { break };
            node = child;
            *slot = child;
            path.length += 1;
        }
        path
    }

    fn steps(
        &self,
        path: &Path,
    ) -> impl DoubleEndedIterator<Item = (&DiscountedLevel, usize)> + ExactSizeIterator + use<'_> {
        self.levels.iter().zip(path.nodes).take(path.length)
    }
}

/// Checks the size of the vocabulary, and that the end token is in it.
pub(crate) fn check_vocabulary(vocabulary: usize, end: Option<Token>) -> Result<(), NgramError> {
    if !(1..=LARGEST_VOCABULARY).contains(&vocabulary) {
        return Err(NgramError::Vocabulary { given: vocabulary, limit: LARGEST_VOCABULARY });
    }
    match end {
        Some(token) if token as usize >= vocabulary => Err(NgramError::Token { token, vocabulary }),
        _ => Ok(()),
    }
}
