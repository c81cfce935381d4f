//! The sums over sequences that belong to no state.

use super::bytes::wrong;
use super::statistics::MOST_POSITIONS;
use super::{DistilError, Likelihood};

/// Fractional bits of the log likelihood.
const LOG_POINT: i32 = 60;

/// The most sequences that a sum may name.
const MOST_SEQUENCES: u64 = 1 << 48;

/// The numbers of sequences, positions and tokens that were counted, and their log likelihood.
///
/// The log likelihood is a fixed-point number (in steps of 2^-60), so that totals add up to *the same bits* in any order.
///
/// ```
/// use hmm_control::distil::Totals;
///
/// let mut all = Totals::default();
/// let message = Totals::default().to_words();
/// all.merge(&Totals::from_words(message)?)?;
/// assert_eq!(all.tokens(), 0);
/// # Ok::<(), hmm_control::distil::DistilError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub(super) sequences: u64,
    pub(super) positions: u64,
    pub(super) tokens: u64,
    pub(super) impossible: u64,
    /// In steps of `2^-LOG_POINT`.
    pub(super) log_likelihood: i128,
}

impl Totals {
    /// Sequences counted.
    pub fn sequences(&self) -> u64 {
        self.sequences
    }

    /// Positions counted, with missing tokens.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Tokens that were present and that some state emits.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Tokens that no state emits at their position; they were counted as missing.
    pub fn impossible(&self) -> u64 {
        self.impossible
    }

    /// `log p(all tokens)` in nats; minus infinity if a token was impossible.
    pub fn log_likelihood(&self) -> f64 {
        if self.impossible > 0 {
            f64::NEG_INFINITY
        } else {
            self.log_likelihood as f64 / 2_f64.powi(LOG_POINT)
        }
    }

    /// The log likelihood per token, in nats; NaN where there is none.
    pub fn log_likelihood_per_token(&self) -> f64 {
        self.log_likelihood() / self.tokens as f64
    }

    /// The likelihood.
    pub fn likelihood(&self) -> Likelihood {
        Likelihood { log: self.log_likelihood(), tokens: self.tokens, impossible: self.impossible }
    }

    /// Adds other totals.
    ///
    /// # Errors
    /// When they are too many in all; nothing is then added.
    pub fn merge(&mut self, other: &Totals) -> Result<(), DistilError> {
        self.reserve(other.positions)?;
        self.sequences += other.sequences;
        self.positions += other.positions;
        self.tokens += other.tokens;
        self.impossible += other.impossible;
        self.log_likelihood += other.log_likelihood;
        Ok(())
    }

    /// The totals as numbers, for a message to another process.
    pub fn to_words(&self) -> [u64; 6] {
        let [low, high] = [self.log_likelihood as u64, (self.log_likelihood >> 64) as u64];
        [self.sequences, self.positions, self.tokens, self.impossible, low, high]
    }

    /// Reads the numbers of [`Totals::to_words`].
    ///
    /// # Errors
    /// When no sequences have such totals.
    pub fn from_words(words: [u64; 6]) -> Result<Totals, DistilError> {
        let [sequences, positions, tokens, impossible, low, high] = words;
        let log_likelihood = i128::from(high as i64) << 64 | i128::from(low);
        let totals = Totals { sequences, positions, tokens, impossible, log_likelihood };
        totals.check()?;
        Ok(totals)
    }

    /// Checks that so many more positions fit.
    pub(super) fn reserve(&self, positions: u64) -> Result<(), DistilError> {
        if self.positions.saturating_add(positions) <= MOST_POSITIONS {
            return Ok(());
        }
        Err(DistilError::TooManyPositions { limit: MOST_POSITIONS })
    }

    /// Checks numbers from elsewhere, so that sums of them cannot overflow.
    pub(super) fn check(&self) -> Result<(), DistilError> {
        Totals::default().reserve(self.positions)?;
        let counted = self.tokens.checked_add(self.impossible);
        if counted.is_none_or(|counted| counted > self.positions) || self.sequences > MOST_SEQUENCES {
            return Err(wrong("the header", "it counts more tokens than places, or too many sequences"));
        }
        // The logarithm of a float probability is at least -745.
        if self.log_likelihood.unsigned_abs() > u128::from(self.positions) << (LOG_POINT + 10) {
            return Err(wrong("the log likelihood", "so many places cannot give it"));
        }
        Ok(())
    }

    pub(super) fn add_log_likelihood(&mut self, value: f64) {
        self.log_likelihood += (value * 2_f64.powi(LOG_POINT)) as i128;
    }
}
