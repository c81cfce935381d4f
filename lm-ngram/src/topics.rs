//! Several corpora as one language model that notices what a text is about.

use crate::ngram::NgramModel;
use crate::{History, NgramError, features};
use hmm_control::{LanguageModel, Token};
use rand::{Rng, RngExt};

/// Each has a table over the vocabulary.
pub(crate) const MOST_TOPICS: usize = 64;

/// One corpus of a [`TopicModel`].
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// What it is called.
    pub name: String,
    /// Its n-grams.
    pub model: NgramModel,
    /// Its share of the texts before anything is read, relative to the others; a positive number.
    pub share: f64,
}

/// A mixture of corpora: every text is about one of them, which is not told, and what has been read says how
/// likely each is (Bayes' rule, exact). So the next token depends on all that was read and not only on the last few
/// tokens. The end token begins a new text, about which nothing is known yet.
///
/// ```
/// use hmm_control::LanguageModel;
/// use lm_ngram::{NgramModel, Topic, TopicModel};
///
/// let (one, other): ([&[u32]; 1], [&[u32]; 1]) = ([&[0, 1, 0, 1, 0, 1]], [&[0, 2, 0, 2, 0, 2]]);
/// let topics = [("one", one), ("other", other)].map(|(name, texts)| {
///     let model = NgramModel::train(3, 2, None, texts)?;
///     Ok(Topic { name: name.to_owned(), model, share: 1.0 })
/// });
/// let model = TopicModel::new(topics.into_iter().collect::<Result<_, lm_ngram::NgramError>>()?)?;
/// let mut state = model.start();
/// let mut logits = [0.0; 3];
/// model.step(&mut state, &[0, 2, 0], &mut logits)?;
/// assert!(state.topics()[1] > 0.5 && logits[2] > logits[1]);
/// # Ok::<(), lm_ngram::NgramError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TopicModel {
    topics: Vec<Topic>,
    prior: Vec<f64>,
}

/// What has been read. A clone is a fork, and going back to one a rewind: some hundred bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    history: History,
    /// Logarithms, so that a topic that a long text spoke against can come back.
    log_posterior: Vec<f64>,
    /// How likely each topic is; sums to 1.
    posterior: Vec<f64>,
    /// The same, then the sums over the tokens read.
    features: Vec<f32>,
}

impl Reading {
    /// How likely each topic is given what was read, in the order of the model's; sums to 1.
    pub fn topics(&self) -> &[f64] {
        &self.posterior
    }

    /// The last tokens.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Makes the topics' log weights sum to 1, and returns the logarithm of what they summed to.
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

    /// `p(token | what was read)`; 0 for a token outside the vocabulary.
    pub fn probability(&self, reading: &Reading, token: Token) -> f64 {
        let each = self.topics.iter().zip(&reading.posterior);
        each.map(|(topic, weight)| weight * topic.model.probability(&reading.history, token)).sum()
    }

    /// Writes `p(token | what was read)` for every token.
    pub fn distribution(&self, reading: &Reading, out: &mut [f64]) {
        out.fill(0.0);
        for (topic, weight) in self.topics.iter().zip(&reading.posterior) {
            let scale = weight * topic.model.base_scale(&reading.history);
            out.iter_mut().zip(topic.model.base()).for_each(|(out, base)| *out += scale * base);
            topic.model.for_each_seen(&reading.history, |token, probability| {
                if let Some(out) = out.get_mut(token as usize) {
                    *out += weight * probability;
                }
            });
        }
    }

    /// Takes a token in and returns `log p(token | what was read before)`.
    ///
    /// # Errors
    /// When the token is outside the vocabulary; nothing is taken in then.
    pub fn observe(&self, reading: &mut Reading, token: Token) -> Result<f64, NgramError> {
        if token as usize >= self.vocabulary() {
            return Err(NgramError::Token { token, vocabulary: self.vocabulary() });
        }
        for (topic, log_weight) in self.topics.iter().zip(&mut reading.log_posterior) {
            *log_weight += topic.model.probability(&reading.history, token).ln();
        }
        reading.history.push(token);
        if let Some(sums) = reading.features.get_mut(self.topics.len()..) {
            features::take_in(sums, token);
        }
        let log_probability = reading.normalise();
        if Some(token) == self.end() {
            *reading = self.start();
        }
        Ok(log_probability)
    }

    /// Draws the next token, exactly from the distribution but without writing it out: some hundred times faster.
    pub fn sample(&self, reading: &Reading, rng: &mut impl Rng) -> Token {
        let mut rest = rng.random::<f64>();
        let drawn = self.topics.iter().zip(&reading.posterior).find(|(_, weight)| {
            rest -= **weight;
            rest < 0.0
        });
        // Rounding may leave a little after the last.
        let topic = drawn.map(|(topic, _)| topic).or(self.topics.last());
        topic.map_or(0, |topic| topic.model.sample(&reading.history, rng))
    }
}

impl TopicModel {
    /// Goes on writing: at most `longest` tokens; it stops behind the token that ends a text.
    pub fn write(&self, reading: &Reading, longest: usize, rng: &mut impl Rng) -> Vec<Token> {
        let mut reading = reading.clone();
        let mut text = Vec::with_capacity(longest);
        while text.len() < longest {
            let token = self.sample(&reading, rng);
            text.push(token);
            if Some(token) == self.end() || self.observe(&mut reading, token).is_err() {
                break;
            }
        }
        text
    }

    /// Weights of tokens for an attribute: "does not read like this topic".
    ///
    /// A token that is some times likelier in the topic than in the mean of the others, by itself, has the log weight
    /// `-strength * max(0, log(times) - log(4))`; one that is not much likelier weighs 1 and is left out. Empty where
    /// there is no other topic, or none of that number.
    pub fn unlike(&self, topic: usize, strength: f64) -> Vec<(Token, f64)> {
        let others = self.topics.len().saturating_sub(1);
        let Some(own) = self.topics.get(topic).filter(|_| others > 0) else { return Vec::new() };
        let mut rest = vec![0.0; self.vocabulary()];
        for (_, other) in self.topics.iter().enumerate().filter(|(number, _)| *number != topic) {
            rest.iter_mut().zip(other.model.base()).for_each(|(rest, p)| *rest += p / others as f64);
        }
        let times = own.model.base().iter().zip(rest).map(|(own, rest)| own / rest);
        let weights =
            times.enumerate().map(|(token, times)| (token as Token, -strength * (times.ln() - 4_f64.ln())));
        weights.filter(|(_, weight)| *weight < 0.0).collect()
    }
}

impl LanguageModel for TopicModel {
    type State = Reading;
    type Error = NgramError;

    fn vocabulary(&self) -> usize {
        self.topics.first().map_or(0, |topic| topic.model.vocabulary())
    }

    fn end(&self) -> Option<Token> {
        self.topics.first().and_then(|topic| topic.model.end())
    }

    fn start(&self) -> Reading {
        let mut reading = Reading {
            history: History::start(),
            log_posterior: self.prior.iter().map(|share| share.ln()).collect(),
            posterior: vec![0.0; self.topics.len()],
            features: vec![0.0; self.topics.len() + features::LENGTH],
        };
        reading.normalise();
        reading
    }

    fn step(&self, state: &mut Reading, tokens: &[Token], logits: &mut [f32]) -> Result<(), NgramError> {
        if logits.len() != self.vocabulary() {
            return Err(NgramError::Room { given: logits.len(), vocabulary: self.vocabulary() });
        }
        for &token in tokens {
            self.observe(state, token)?;
        }
        // In 64 bits: what four discounts leave of the rarest token can be below the range of 32.
        let mut distribution = vec![0.0; logits.len()];
        self.distribution(state, &mut distribution);
        logits.iter_mut().zip(&distribution).for_each(|(out, value)| *out = value.ln() as f32);
        Ok(())
    }

    fn features<'a>(&self, state: &'a Reading) -> Option<&'a [f32]> {
        Some(&state.features)
    }
}
