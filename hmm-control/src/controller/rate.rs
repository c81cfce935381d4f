//! A measure of how a text goes that does not shrink with its length.

use super::gate::{ClauseGate, ClausePolicy};
use crate::{Lookahead, Progress, Token};

/// The expected attribute per token: the geometric mean weight of a token.
///
/// An expectation over `k` tokens falls like the `k`-th power of something, so that no one threshold fits two
/// horizons or two texts. Its `k`-th root does not. Two rates are offered, both in `[0, 1]`:
///
/// - [`RateMeter::ahead`] = `exp(log E[weight of the next k tokens | text so far] / k)`, what is to come;
/// - [`RateMeter::of_clause`], which a [`ClauseGate`] compares with its threshold: what was just written *and* what is to
///   come, `exp((log weight of the last n tokens + log E[weight of the next k]) / (n + k))`, so that a clause that has
///   said the wrong thing already does not pass because it will be quiet from here on. It is the lower of two:
///   `n = 1`, where one bad token stands out in however long a clause, and all tokens of the clause, where many
///   doubtful ones add up.
///
/// A forbidden token makes a rate exactly 0. After [`RateMeter::relative`] both are divided by what the model's own
/// texts come to from their start, so that 1 stands for a text like any other.
///
/// Where the attribute asks for something at the *end* (a final weight other than 1), a rate is for a text that ends
/// after those `k` tokens.
///
/// ```
/// use hmm_control::{Attribute, Hmm, Lookahead, RateMeter, Storage};
/// use ndarray::array;
///
/// // One hidden state: a token is worth 0.8 * 1 + 0.2 * 0.5 on average, wherever it stands.
/// let hmm = Hmm::new(&[1.0], array![[1.0]].view(), array![[0.8, 0.2]].view(), Storage::F64)?;
/// let lookahead = Lookahead::new(hmm, Attribute::from_weights(2, [(1, 0.5_f64.ln())])?)?;
/// let start = lookahead.start();
/// for window in [1, 8, 64] {
///     let meter = RateMeter::new(lookahead.clone(), window);
///     assert!((meter.ahead(&start) - 0.9).abs() < 1e-9);
///     assert!(meter.of_text(&start, [0, 1]) < meter.of_text(&start, [0, 0]));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        self.per_token(self.lookahead.expectation(now, self.window) - now.log_weight, 0)
    }

    /// The rate of a clause that began at `since` and stands at `now`, with what is to come. `last`: the log weight of
    /// the last token.
    pub fn of_clause(&self, since: &Progress, last: f64, now: &Progress) -> f64 {
        let ahead = self.lookahead.expectation(now, self.window);
        let of_token = self.per_token(ahead - (now.log_weight - last), 1);
        self.per_token(ahead - since.log_weight, written(since, now)).min(of_token)
    }

    /// The rate of a clause after which the text ends: nothing is to come, which counts as tokens of weight 1, so that
    /// the rate compares with those of the same clause before. Exactly 0 where the text may not end here.
    pub fn at_end(&self, since: &Progress, now: &Progress) -> f64 {
        self.per_token(self.lookahead.expectation(now, 0) - since.log_weight, written(since, now))
    }

    /// The log weight of `written` tokens and of the window after them, as a rate.
    fn per_token(&self, log_weight: f64, written: usize) -> f64 {
        // What weighs nothing may come as the difference of two minus infinities.
        if log_weight.is_nan() || log_weight == f64::NEG_INFINITY {
            return 0.0;
        }
        (log_weight / (written + self.window) as f64 - self.log_usual).exp()
    }

    /// The lowest rate of a text that is read from `since` on, as one clause; that of what is to come where it has
    /// no tokens.
    pub fn of_text(&self, since: &Progress, text: impl IntoIterator<Item = Token>) -> f64 {
        let (mut now, mut lowest) = (since.clone(), f64::INFINITY);
        for token in text {
            let before = now.log_weight;
            self.lookahead.observe(&mut now, token);
            lowest = lowest.min(self.of_clause(since, now.log_weight - before, &now));
        }
        if lowest == f64::INFINITY { self.ahead(&now) } else { lowest }
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
            let before = now.log_weight;
            self.lookahead.observe(&mut now, token);
            bytes.clear();
            read_token(token, &mut bytes);
            // Everything passes: only the place of the boundaries counts.
            let _ = gate.push(&bytes, &now, |since| {
                let rate = self.of_clause(since, now.log_weight - before, &now);
                lowest = lowest.min(rate);
                rate
            });
        }
        lowest.min(self.at_end(gate.boundary(), &now))
    }
}

fn written(since: &Progress, now: &Progress) -> usize {
    now.generated.saturating_sub(since.generated)
}
