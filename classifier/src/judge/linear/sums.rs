//! Running sums of weights over a text; the sum of any window is a difference of two.

use std::ops::Range;

use crate::judge::features::{FeatureSink, Features, Reach};

/// A token: its span, its own weight, and the sums over all tokens up to it.
#[derive(Clone, Copy, Default)]
pub(super) struct Token {
    start: usize,
    /// The end, in bytes.
    end: usize,
    /// The weight that it adds as the first token of a window.
    first: i32,
    /// The sums over the tokens up to and including this one: of features of one token, of two, of three.
    sums: [i64; 3],
    counts: [u32; 3],
}

impl Token {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) struct Sums {
    tokens: Vec<Token>,
}

struct Adding<'a> {
    weights: &'a [i8],
    /// The first token is empty: it has the sums of no tokens.
    tokens: Vec<Token>,
}

impl FeatureSink for Adding<'_> {
    fn token(&mut self, span: Range<usize>) {
        let before = self.tokens.last().copied().unwrap_or_default();
        self.tokens.push(Token { start: span.start, end: span.end, first: 0, ..before });
    }

    fn feature(&mut self, reach: Reach, bucket: u32) {
        let weight = self.weights.get(bucket as usize).copied().map_or(0, i32::from);
        let Some(token) = self.tokens.last_mut() else { return };
        let place = match reach {
            Reach::First => {
                token.first = weight;
                return;
            }
            Reach::One => 0,
            Reach::Two => 1,
            Reach::Three => 2,
        };
        if let (Some(sum), Some(count)) = (token.sums.get_mut(place), token.counts.get_mut(place)) {
            *sum += i64::from(weight);
            *count = count.saturating_add(1);
        }
    }
}

impl Sums {
    pub(super) fn new(features: &Features, weights: &[i8], text: &str) -> Sums {
        let mut adding = Adding { weights, tokens: Vec::with_capacity(text.len() / 4 + 2) };
        adding.tokens.push(Token::default());
        features.visit(text, &mut adding);
        Sums { tokens: adding.tokens }
    }

    /// Returns the tokens without the empty one at the head.
    pub(super) fn tokens(&self) -> &[Token] {
        self.tokens.get(1..).unwrap_or_default()
    }

    /// Returns the sum of the weights of the tokens in a part of the text, and the number of their features.
    pub(super) fn window(&self, part: Range<usize>) -> (i64, u32) {
        let tokens = self.tokens();
        let from = tokens.partition_point(|token| token.start < part.start);
        let to = tokens.partition_point(|token| token.end <= part.end);
        self.run(from..to)
    }

    /// Returns the same for a run of tokens.
    pub(super) fn run(&self, run: Range<usize>) -> (i64, u32) {
        if run.is_empty() {
            return (0, 0);
        }
        let (Some(last), Some(first)) = (self.tokens.get(run.end), self.tokens.get(run.start + 1)) else {
            return (0, 0);
        };
        let (mut sum, mut count) = (i64::from(first.first), 1);
        // A feature that reaches back before the window does not belong to it.
        for reach in 0..3 {
            let Some(before) = self.tokens.get((run.start + reach).min(run.end)) else { continue };
            let part = |token: &Token| {
                (
                    token.sums.get(reach).copied().unwrap_or_default(),
                    token.counts.get(reach).copied().unwrap_or_default(),
                )
            };
            let ((all, all_count), (less, less_count)) = (part(last), part(before));
            sum += all - less;
            count += all_count.wrapping_sub(less_count);
        }
        (sum, count)
    }
}
