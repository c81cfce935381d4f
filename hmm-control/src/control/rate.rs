//! Rates, which do not shrink with the length of a text, and thresholds for them.

use super::gate::{ClauseGate, ClausePolicy};
use crate::{Lookahead, Progress, Token};

/// The expected attribute per token: the geometric mean weight of a token.
///
/// An expectation over `k` tokens falls like a `k`-th power, so that one threshold does not fit two horizons or two texts.
/// Its `k`-th root does not fall. There are two rates, both in `[0, 1]`:
///
/// - [`RateMeter::ahead`] = `exp(log E[weight of the next k tokens | text so far] / k)`, for the tokens to come;
/// - [`RateMeter::of_clause`], which a [`ClauseGate`] compares with its threshold, for the tokens just written *and* those
///   to come: `exp((log weight of the last n tokens + log E[weight of the next k]) / (n + k))`. So a clause with a bad
///   token does not pass because a harmless continuation follows. It is the lower of two: `n = 1`, where one bad token
///   shows in a clause of any length, and all tokens of the clause, where many doubtful ones add up.
///
/// A forbidden token makes a rate exactly 0. After [`RateMeter::relative`] both are divided by the rate of the model's own
/// texts from their start, so that an average text has rate 1.
///
/// Where the attribute has a condition on the *end* (a final weight other than 1), a rate is for a text that ends after
/// those `k` tokens.
///
/// ```
/// use hmm_control::{Attribute, Hmm, Lookahead, RateMeter, Storage};
/// use ndarray::array;
///
/// // One hidden state: a token has the mean weight 0.8 * 1 + 0.2 * 0.5 at every position.
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
    /// The logarithm of the divisor of a rate.
    log_usual: f64,
}

impl RateMeter {
    /// A meter that looks `window` tokens ahead (0 counts as 1). Computes the look-ahead's vectors for that many.
    pub fn new(lookahead: Lookahead, window: usize) -> RateMeter {
        let window = window.max(1);
        lookahead.prepare(window - 1);
        RateMeter { lookahead, window, log_usual: 0.0 }
    }

    /// A meter that divides by the unconditional value, the rate ahead of an empty text; unchanged where that is 0.
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

    /// The rate of a clause from `since` to `now`, with the tokens to come. `last` is the log weight of the last token.
    pub fn of_clause(&self, since: &Progress, last: f64, now: &Progress) -> f64 {
        let ahead = self.lookahead.expectation(now, self.window);
        let of_token = self.per_token(ahead - (now.log_weight - last), 1);
        self.per_token(ahead - since.log_weight, written(since, now)).min(of_token)
    }

    /// The rate of a clause that ends the text. The missing tokens count with weight 1, so that the rate compares with
    /// those of the same clause before. Exactly 0 where the text may not end here.
    pub fn at_end(&self, since: &Progress, now: &Progress) -> f64 {
        self.per_token(self.lookahead.expectation(now, 0) - since.log_weight, written(since, now))
    }

    /// The log weight of `written` tokens and of the window after them, as a rate.
    fn per_token(&self, log_weight: f64, written: usize) -> f64 {
        // A weight of 0 may arrive as the difference of two minus infinities.
        if log_weight.is_nan() || log_weight == f64::NEG_INFINITY {
            return 0.0;
        }
        (log_weight / (written + self.window) as f64 - self.log_usual).exp()
    }

    /// The lowest rate of a text from `since` on, as one clause; the rate ahead where the text has no tokens.
    pub fn of_text(&self, since: &Progress, text: impl IntoIterator<Item = Token>) -> f64 {
        let (mut now, mut lowest) = (since.clone(), f64::INFINITY);
        for token in text {
            let before = now.log_weight;
            self.lookahead.observe(&mut now, token);
            lowest = lowest.min(self.of_clause(since, now.log_weight - before, &now));
        }
        if lowest == f64::INFINITY { self.ahead(&now) } else { lowest }
    }

    /// The lowest rate that a gate would see while this text is written: the score of a reference text for
    /// [`crate::Threshold::calibrate`].
    ///
    /// The prompt only updates the belief. `read_token` appends a token's text; `longest` is the policy's.
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
            // Everything passes: only the positions of the boundaries matter.
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

/// Why a threshold cannot be calibrated.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// A rate of false alarms that is not between 0 and 1.
    #[error("a rate of false alarms of {given} is not between 0 and 1")]
    FalseAlarms {
        /// The given rate.
        given: f64,
    },
    /// Too few texts for so low a rate.
    #[error("{texts} texts cannot show a rate of false alarms this low: at least {needed} are needed")]
    TooFew {
        /// Texts that were given.
        texts: usize,
        /// Texts that are needed.
        needed: usize,
    },
    /// A score that is not a number.
    #[error("the score of text {text} (counted from 0) is not a number")]
    Score {
        /// The text, counted from 0.
        text: usize,
    },
}

/// A threshold with its calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The lowest score that passes.
    pub value: f64,
    /// A good text is stopped with at most this probability.
    pub false_alarms: f64,
    /// How many good texts it was chosen by.
    pub texts: usize,
}

impl Threshold {
    /// Picks the highest threshold that stops a good text with probability at most `false_alarms`.
    ///
    /// `good` has one score for each reference text that is known to be good, higher being better: the lowest that the gate
    /// would have seen ([`crate::RateMeter::lowest`], or the lowest score of a [`crate::Scorer`] over its windows), because
    /// a text is stopped when any of its clauses is. With `n` texts the
    /// value is the `k`-th lowest, `k = floor(false_alarms * (n + 1))`: a new text that is exchangeable with them falls
    /// below it with probability at most `k / (n + 1)`, for any distribution (split conformal prediction). The guarantee is
    /// on average over calibrations, and does not hold for texts of another kind than the reference.
    ///
    /// # Errors
    /// When the rate is not between 0 and 1, a score is not a number, or there are fewer than `1 / false_alarms - 1`
    /// texts.
    ///
    /// ```
    /// use hmm_control::Threshold;
    ///
    /// let lowest_rates: Vec<f64> = (0..99).map(|text| 0.9 + f64::from(text) * 0.001).collect();
    /// let threshold = Threshold::calibrate(&lowest_rates, 0.05)?;
    /// assert_eq!(threshold.value, lowest_rates[4]);
    /// assert_eq!(threshold.texts, 99);
    /// # Ok::<(), hmm_control::CalibrationError>(())
    /// ```
    pub fn calibrate(good: &[f64], false_alarms: f64) -> Result<Threshold, CalibrationError> {
        if !(false_alarms > 0.0 && false_alarms < 1.0) {
            return Err(CalibrationError::FalseAlarms { given: false_alarms });
        }
        if let Some(text) = good.iter().position(|score| score.is_nan()) {
            return Err(CalibrationError::Score { text });
        }
        let mut sorted = good.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = (false_alarms * (good.len() + 1) as f64).floor() as usize;
        match rank.checked_sub(1).and_then(|place| sorted.get(place)) {
            Some(&value) => Ok(Threshold { value, false_alarms, texts: good.len() }),
            None => {
                let needed = (1.0 / false_alarms).ceil() as usize - 1;
                Err(CalibrationError::TooFew { texts: good.len(), needed })
            }
        }
    }
}
