//! A language model that is a table, a grammar of pairs, and the enumeration of every text.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a fault in a test shows as a panic; not every user needs all of it"
)]

use hmm_control::particles::ParticleText;
use hmm_control::{Attribute, Ended, Grammar, LanguageModel, MaskWords, Token};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A language model whose next token depends on the last two by random numbers.
#[derive(Clone)]
pub struct Table {
    pub seed: u64,
    pub vocabulary: usize,
    pub end: Option<Token>,
    /// How far the logits lie apart.
    pub spread: f64,
}

impl LanguageModel for Table {
    type State = Vec<Token>;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    fn end(&self) -> Option<Token> {
        self.end
    }

    fn start(&self) -> Vec<Token> {
        Vec::new()
    }

    fn step(&self, state: &mut Vec<Token>, tokens: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        state.extend(tokens);
        let context = state.iter().rev().take(2).fold(1, |sum, token| sum * 31 + u64::from(*token));
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed.wrapping_mul(1_000_003) + context);
        for logit in logits {
            let uniform = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            *logit = (self.spread * (uniform - 0.5)) as f32;
        }
        Ok(())
    }
}

/// A grammar that says which token may follow which.
#[derive(Clone)]
pub struct Pairs {
    /// By the last token, and before the first one at the end: the mask.
    allowed: Vec<[u64; 1]>,
    last: usize,
}

impl Pairs {
    pub fn new(allowed: Vec<u64>) -> Pairs {
        let last = allowed.len() - 1;
        Pairs { allowed: allowed.into_iter().map(|mask| [mask]).collect(), last }
    }

    /// Random pairs, one of four forbidden.
    pub fn random(vocabulary: usize, rng: &mut impl Rng) -> Pairs {
        let mask = |_| rng.next_u64() | rng.next_u64();
        Pairs::new((0..=vocabulary).map(mask).map(|mask| mask | 1 << (vocabulary / 2)).collect())
    }
}

impl Grammar for Pairs {
    fn mask(&self) -> Option<&MaskWords> {
        Some(&self.allowed[self.last])
    }

    fn advance(&mut self, token: Token) {
        self.last = token as usize;
    }
}

/// A text, and the token that ended it.
pub type Text = (Vec<Token>, Option<Token>);

pub fn key(text: &ParticleText) -> Text {
    match text.ended {
        Ended::Token(token) => (text.tokens.clone(), Some(token)),
        _ => (text.tokens.clone(), None),
    }
}

/// What is enumerated.
pub struct Target<'a, M, G> {
    pub model: &'a M,
    pub temperature: f64,
    pub attribute: Option<&'a Attribute>,
    pub grammar: G,
    pub most_tokens: usize,
    pub must_end: bool,
    pub stop: &'a [Token],
}

impl<M: LanguageModel, G: Grammar> Target<'_, M, G> {
    /// `p(x) a(x)` of every text of the grammar where it is not 0.
    pub fn weights(&self) -> BTreeMap<Text, f64> {
        let mut all = BTreeMap::new();
        self.walk(&mut Vec::new(), self.grammar.clone(), 1.0, &mut all);
        all
    }

    fn walk(&self, text: &mut Vec<Token>, grammar: G, weight: f64, all: &mut BTreeMap<Text, f64>) {
        if text.len() == self.most_tokens {
            if !self.must_end {
                self.keep(text, None, weight, all);
            }
            return;
        }
        let mut logits = vec![0.0; self.model.vocabulary()];
        self.model.step(&mut self.model.start(), text, &mut logits).unwrap();
        let scaled: Vec<f64> = logits.iter().map(|logit| f64::from(*logit) / self.temperature).collect();
        let sum: f64 = scaled.iter().map(|logit| logit.exp()).sum();
        for token in 0..self.model.vocabulary() as Token {
            if grammar.mask().is_some_and(|mask| mask[0] >> token & 1 == 0) {
                continue;
            }
            let weight = weight * scaled[token as usize].exp() / sum;
            if self.model.end() == Some(token) || self.stop.contains(&token) {
                self.keep(text, Some(token), weight, all);
                continue;
            }
            text.push(token);
            let mut grammar = grammar.clone();
            grammar.advance(token);
            self.walk(text, grammar, weight, all);
            text.pop();
        }
    }

    fn keep(&self, text: &[Token], end: Option<Token>, weight: f64, all: &mut BTreeMap<Text, f64>) {
        let whole: Vec<Token> = text.iter().copied().chain(end).collect();
        let log_weight = self.attribute.map_or(0.0, |attribute| attribute.log_weight(&whole));
        let weight = weight * log_weight.exp();
        if weight > 0.0 {
            all.insert((text.to_vec(), end), weight);
        }
    }
}

/// A mean over repetitions, with its standard error.
#[derive(Clone, Copy, Default)]
pub struct Mean {
    sum: f64,
    squares: f64,
}

impl Mean {
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }

    /// The mean of `count` values, and its standard error.
    pub fn of(&self, count: usize) -> (f64, f64) {
        let count = count as f64;
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0) / (count - 1.0);
        (mean, variance.sqrt())
    }

    /// How many standard errors the mean of `count` values is away from a number.
    pub fn apart(&self, wanted: f64, count: usize) -> f64 {
        let (mean, error) = self.of(count);
        // Rounding of 32-bit logits is no error of sampling.
        (mean - wanted).abs() / (error + 1e-6 * wanted)
    }
}

/// Half of the sum of the absolute differences, to weights that need not sum to 1.
pub fn total_variation(found: &BTreeMap<Text, f64>, weights: &BTreeMap<Text, f64>) -> f64 {
    let (found_sum, sum): (f64, f64) = (found.values().sum(), weights.values().sum());
    let share = |text: &Text| found.get(text).copied().unwrap_or(0.0) / found_sum;
    let known: f64 = weights.iter().map(|(text, weight)| (share(text) - weight / sum).abs()).sum();
    let others: f64 = found.iter().filter(|(text, _)| !weights.contains_key(*text)).map(|(_, w)| w).sum();
    (known + others / found_sum) / 2.0
}
