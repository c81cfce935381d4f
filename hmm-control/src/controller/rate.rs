//! A measure of how a text goes that does not shrink with its length.

use super::gate::{ClauseGate, ClausePolicy};
use crate::{Lookahead, Progress, Token};

/// The expected attribute per token: the geometric mean weight of a token.
///
/// An expectation over `k` tokens falls like the `k`-th power of something, so that no one threshold fits two
/// horizons or two texts. Its `k`-th root does not. Two rates are offered, both in `[0, 1]`:
///
/// - [`RateMeter::ahead`] = `exp(log E[weight of the next k tokens | text so far] / k)`, what is to come;
/// - [`RateMeter::of_clause`], which a [`ClauseGate`] compares with its threshold: the same over the `n` tokens of the clause so
///   far *and* the `k` to come, `exp((log weight of the n + log E[weight of the next k]) / (n + k))`, so that a clause that
///   has said the wrong thing already does not pass because it will be quiet from here on.
///
/// A forbidden token makes a rate exactly 0. After [`RateMeter::relative`] both are divided by what the model's own
/// texts come to from their start, so that 1 stands for a text like any other.
///
/// Where the attribute asks for something at the *end* (a final weight other than 1), a rate is for a text that ends
/// after those `k` tokens.
#[derive(Clone)]
pub struct RateMeter {
    lookahead: Lookahead,
    window: usize,
    /// `log` of what a rate is divided by.
    log_usual: f64,
}

impl RateMeter {
    /// A meter that looks `window` tokens ahead (0 counts as 1). Makes the look-ahead's vectors for that many.
    pub fn new(lookahead: Lookahead, window: usize) -> RateMeter {
        let window = window.max(1);
        lookahead.prepare(window - 1);
        RateMeter { lookahead, window, log_usual: 0.0 }
    }

    /// A meter that divides by the unconditional value: the rate ahead of a text that has not begun. As it is where
    /// that is 0.
    #[must_use]
    pub fn relative(self) -> RateMeter {
        let log_usual = self.lookahead.expectation(&self.lookahead.start(), self.window) / self.window as f64;
        if log_usual == f64::NEG_INFINITY { self } else { RateMeter { log_usual, ..self } }
    }

    /// The look-ahead.
    pub fn lookahead(&self) -> &Lookahead {
        &self.lookahead
    }

    /// The rate of the tokens to come. Costs one pass over the hidden states.
    pub fn ahead(&self, now: &Progress) -> f64 {
        self.rate(now, now, self.window)
    }

    /// The rate of a clause that began at `since` and stands at `now`, with what is to come.
    pub fn of_clause(&self, since: &Progress, now: &Progress) -> f64 {
        self.rate(since, now, self.window)
    }

    /// The rate of a clause after which the text ends: nothing is to come, which counts as tokens of weight 1, so that
    /// the rate compares with those of the same clause before. Exactly 0 where the text may not end here.
    pub fn at_end(&self, since: &Progress, now: &Progress) -> f64 {
        self.rate(since, now, 0)
    }

    fn rate(&self, since: &Progress, now: &Progress, remaining: usize) -> f64 {
        let log_weight = self.lookahead.expectation(now, remaining);
        if log_weight == f64::NEG_INFINITY {
            return 0.0;
        }
        let tokens = now.belief.tokens().saturating_sub(since.belief.tokens()) + self.window;
        ((log_weight - since.log_weight) / tokens as f64 - self.log_usual).exp()
    }

    /// The lowest rate that a gate would see while this text is written: what a reference text is scored by for
    /// [`crate::Threshold::calibrate`].
    ///
    /// The prompt only tells of the hidden state. `read_token` appends a token's text; `longest` is the policy's.
    pub fn lowest(
        &self,
        prompt: &[Token],
        text: &[Token],
        mut read_token: impl FnMut(Token, &mut Vec<u8>),
        longest: usize,
    ) -> f64 {
        let mut now = self.lookahead.start();
        prompt.iter().for_each(|token| self.lookahead.observe_prompt(&mut now, *token));
        let policy = ClausePolicy { longest, ..ClausePolicy::new(f64::NEG_INFINITY, "") };
        let mut gate = ClauseGate::new(policy, now.clone());
        let (mut lowest, mut bytes) = (f64::INFINITY, Vec::new());
        for &token in text {
            self.lookahead.observe(&mut now, token);
            bytes.clear();
            read_token(token, &mut bytes);
            // Everything passes: only the place of the boundaries counts.
            let _ = gate.push(&bytes, &now, |since| {
                let rate = self.of_clause(since, &now);
                lowest = lowest.min(rate);
                rate
            });
        }
        lowest.min(self.at_end(gate.boundary(), &now))
    }
}
