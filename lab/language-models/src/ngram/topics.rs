//! Several corpora as one language model that infers the topic of a text.

use super::counts::History;
use super::error::NgramError;
use super::model::NgramModel;
use hmm_control::{LanguageModel, Token};
use rand::{Rng, RngExt};

/// A limit, since each topic has a table over the vocabulary.
pub(crate) const MOST_TOPICS: usize = 64;

/// One corpus of a [`TopicModel`].
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Its n-grams.
    pub model: NgramModel,
    /// Its prior weight relative to the others; a positive number.
    pub share: f64,
}

/// A mixture of corpora: every text belongs to one of them, which is hidden, and the tokens read so far give its
/// posterior (Bayes' rule, exact). So the next token depends on all tokens read and not only on the last few. The end
/// token begins a new text and resets the posterior.
///
/// ```
/// use hmm_control::LanguageModel;
/// use language_models::ngram::{NgramModel, Topic, TopicModel};
///
/// let (one, other): ([&[u32]; 1], [&[u32]; 1]) = ([&[0, 1, 0, 1, 0, 1]], [&[0, 2, 0, 2, 0, 2]]);
/// let topics = [("one", one), ("other", other)].map(|(name, texts)| {
///     let model = NgramModel::train(3, 2, None, texts)?;
///     Ok(Topic { name: name.to_owned(), model, share: 1.0 })
/// });
/// let model = TopicModel::new(topics.into_iter().collect::<Result<_, language_models::ngram::NgramError>>()?)?;
/// let mut state = model.start();
/// let mut logits = [0.0; 3];
/// model.step(&mut state, &[0, 2, 0], &mut logits)?;
/// assert!(state.topics()[1] > 0.5 && logits[2] > logits[1]);
/// # Ok::<(), language_models::ngram::NgramError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TopicModel {
    topics: Vec<Topic>,
    prior: Vec<f64>,
}

/// The state of a [`TopicModel`] after some tokens. A clone is a fork: some hundred bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicState {
    history: History,
    /// Logarithms, so that a topic that a long text made unlikely can recover.
    log_posterior: Vec<f64>,
    /// The posterior of each topic; sums to 1.
    posterior: Vec<f64>,
    /// The posterior, then the sums over the tokens read.
    features: Vec<f32>,
}

impl TopicState {
    /// The posterior of each topic, in the order of the model's topics; sums to 1.
    pub fn topics(&self) -> &[f64] {
        &self.posterior
    }

    /// The last tokens.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Normalises the topics' log weights, and returns the logarithm of their sum before.
    fn normalise(&mut self) -> f64 {
        let largest = self.log_posterior.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.log_posterior.iter().map(|value| (value - largest).exp()).sum();
        let log_sum = largest + sum.ln();
        self.log_posterior.iter_mut().for_each(|value| *value -= log_sum);
        self.posterior.iter_mut().zip(&self.log_posterior).for_each(|(value, log)| *value = log.exp());
        self.features.iter_mut().zip(&self.posterior).for_each(|(shown, value)| *shown = *value as f32);
        log_sum
    }
}

impl TopicModel {
    /// A mixture of models over one vocabulary.
    ///
    /// # Errors
    /// When there is no topic or more than 64, they disagree on the vocabulary or the end token, or a share is no
    /// positive number.
    pub fn new(topics: Vec<Topic>) -> Result<TopicModel, NgramError> {
        let wrong_number = NgramError::Topics { given: topics.len(), limit: MOST_TOPICS };
        let first = topics.first().filter(|_| topics.len() <= MOST_TOPICS).ok_or(wrong_number)?;
        for topic in &topics {
            if topic.model.vocabulary() != first.model.vocabulary() {
                return Err(NgramError::Mixture {
                    what: "the number of tokens",
                    first: first.model.vocabulary().to_string(),
                    other: topic.model.vocabulary().to_string(),
                });
            }
            if topic.model.end() != first.model.end() {
                let shown = |end: Option<Token>| end.map_or("none".to_owned(), |token| token.to_string());
                return Err(NgramError::Mixture {
                    what: "the token that ends a text",
                    first: shown(first.model.end()),
                    other: shown(topic.model.end()),
                });
            }
            if !topic.share.is_finite() || topic.share <= 0.0 {
                return Err(NgramError::Share { name: topic.name.clone(), share: topic.share.to_string() });
            }
        }
        // Divided first, so that no sum of large shares overflows.
        let largest = topics.iter().map(|topic| topic.share).fold(0.0, f64::max);
        let sum: f64 = topics.iter().map(|topic| topic.share / largest).sum();
        let prior = topics.iter().map(|topic| topic.share / largest / sum).collect();
        Ok(TopicModel { topics, prior })
    }

    /// The topics.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// `p(token | tokens read)`; 0 for a token outside the vocabulary.
    pub fn probability(&self, state: &TopicState, token: Token) -> f64 {
        let each = self.topics.iter().zip(&state.posterior);
        each.map(|(topic, weight)| weight * topic.model.probability(&state.history, token)).sum()
    }

    /// Writes `p(token | tokens read)` for every token.
    pub fn distribution(&self, state: &TopicState, out: &mut [f64]) {
        out.fill(0.0);
        for (topic, weight) in self.topics.iter().zip(&state.posterior) {
            let scale = weight * topic.model.base_scale(&state.history);
            out.iter_mut().zip(topic.model.base()).for_each(|(out, base)| *out += scale * base);
            topic.model.for_each_seen(&state.history, |token, probability| {
                if let Some(out) = out.get_mut(token as usize) {
                    *out += weight * probability;
                }
            });
        }
    }

    /// Reads a token and returns `log p(token | tokens before)`.
    ///
    /// # Errors
    /// When the token is outside the vocabulary; the state is then unchanged.
    pub fn observe(&self, state: &mut TopicState, token: Token) -> Result<f64, NgramError> {
        if token as usize >= self.vocabulary() {
            return Err(NgramError::Token { token, vocabulary: self.vocabulary() });
        }
        for (topic, log_weight) in self.topics.iter().zip(&mut state.log_posterior) {
            *log_weight += topic.model.probability(&state.history, token).ln();
        }
        state.history.push(token);
        if let Some(sums) = state.features.get_mut(self.topics.len()..) {
            add_to_features(sums, token);
        }
        let log_probability = state.normalise();
        if Some(token) == self.end() {
            *state = self.start();
        }
        Ok(log_probability)
    }

    /// Draws the next token exactly from the distribution, without computing all of it: some hundred times faster.
    pub fn sample(&self, state: &TopicState, rng: &mut impl Rng) -> Token {
        let mut rest = rng.random::<f64>();
        let drawn = self.topics.iter().zip(&state.posterior).find(|(_, weight)| {
            rest -= **weight;
            rest < 0.0
        });
        // Rounding may leave a little after the last.
        let topic = drawn.map(|(topic, _)| topic).or(self.topics.last());
        topic.map_or(0, |topic| topic.model.sample(&state.history, rng))
    }

    /// Continues the text by at most `longest` tokens; it stops after the end token.
    pub fn write(&self, state: &TopicState, longest: usize, rng: &mut impl Rng) -> Vec<Token> {
        let mut state = state.clone();
        let mut text = Vec::with_capacity(longest);
        while text.len() < longest {
            let token = self.sample(&state, rng);
            text.push(token);
            if Some(token) == self.end() || self.observe(&mut state, token).is_err() {
                break;
            }
        }
        text
    }

    /// Log weights of tokens for the attribute "does not read like this topic".
    ///
    /// Let `ratio` be the unigram probability of a token in the topic over its mean in the others. Its log weight is
    /// `-strength * max(0, log(ratio) - log(4))`; tokens of weight 1 are left out. The list is empty where there is no
    /// other topic, or no topic of that number.
    pub fn unlike(&self, topic: usize, strength: f64) -> Vec<(Token, f64)> {
        let others = self.topics.len().saturating_sub(1);
        let Some(own) = self.topics.get(topic).filter(|_| others > 0) else { return Vec::new() };
        let mut rest = vec![0.0; self.vocabulary()];
        for (_, other) in self.topics.iter().enumerate().filter(|(number, _)| *number != topic) {
            rest.iter_mut().zip(other.model.base()).for_each(|(rest, p)| *rest += p / others as f64);
        }
        let ratios = own.model.base().iter().zip(rest).map(|(own, rest)| own / rest);
        let weights =
            ratios.enumerate().map(|(token, ratio)| (token as Token, -strength * (ratio.ln() - 4_f64.ln())));
        weights.filter(|(_, weight)| *weight < 0.0).collect()
    }
}

impl LanguageModel for TopicModel {
    type State = TopicState;
    type Error = NgramError;

    fn vocabulary(&self) -> usize {
        self.topics.first().map_or(0, |topic| topic.model.vocabulary())
    }

    fn end(&self) -> Option<Token> {
        self.topics.first().and_then(|topic| topic.model.end())
    }

    fn start(&self) -> TopicState {
        let mut state = TopicState {
            history: History::start(),
            log_posterior: self.prior.iter().map(|share| share.ln()).collect(),
            posterior: vec![0.0; self.topics.len()],
            features: vec![0.0; self.topics.len() + FEATURES],
        };
        state.normalise();
        state
    }

    fn step(&self, state: &mut TopicState, tokens: &[Token], logits: &mut [f32]) -> Result<(), NgramError> {
        if logits.len() != self.vocabulary() {
            return Err(NgramError::Logits { given: logits.len(), vocabulary: self.vocabulary() });
        }
        for &token in tokens {
            self.observe(state, token)?;
        }
        // In 64 bits: four discounts can push the rarest token below the range of 32.
        let mut distribution = vec![0.0; logits.len()];
        self.distribution(state, &mut distribution);
        logits.iter_mut().zip(&distribution).for_each(|(out, value)| *out = value.ln() as f32);
        Ok(())
    }

    fn features<'a>(&self, state: &'a TopicState) -> Option<&'a [f32]> {
        Some(&state.features)
    }
}

/// Length of each of the two sums over the tokens read.
const WIDTH: usize = 32;

/// The decay of each sum per token: the first covers the last few tokens, the second the last few dozen.
const DECAY: [f32; 2] = [0.5, 0.95];

/// How many features describe the tokens read.
const FEATURES: usize = DECAY.len() * WIDTH;

/// Adds a token to the decaying sums: each token has a fixed vector of signs, the same in every program. The scale
/// keeps each feature's variance near 1 however long the text is.
fn add_to_features(sums: &mut [f32], token: Token) {
    let signs = mix(u64::from(token));
    for ((place, sum), decay) in
        sums.iter_mut().enumerate().zip(DECAY.iter().flat_map(|decay| [decay; WIDTH]))
    {
        let sign = if signs >> place & 1 == 1 { 1.0 } else { -1.0 };
        *sum = decay * *sum + (1.0 - decay * decay).sqrt() * sign;
    }
}

/// Spreads a number over 64 bits: the finaliser of the generator SplitMix64 (Steele, Lea and Flood 2014).
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
