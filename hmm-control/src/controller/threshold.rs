//! Thresholds from texts that are known to be good.

/// Why a threshold cannot be chosen.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A rate of false alarms that no finite number of texts could show, or that is none.
    #[error("a rate of false alarms of {given} is not between 0 and 1")]
    FalseAlarms {
        /// What was given.
        given: f64,
    },
    /// Too few texts to say anything about so rare a case.
    #[error("{texts} texts cannot show a rate of false alarms this low: at least {needed} are needed")]
    TooFew {
        /// Texts that were given.
        texts: usize,
        /// Texts that would do.
        needed: usize,
    },
    /// A score that is not a number.
    #[error("the score of text {text} (counted from 0) is not a number")]
    Score {
        /// Which text.
        text: usize,
    },
}

/// A threshold with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// What passes is at least this.
    pub value: f64,
    /// A good text is stopped with at most this probability.
    pub false_alarms: f64,
    /// How many good texts it was chosen by.
    pub texts: usize,
}

impl Threshold {
    /// Picks the highest threshold that stops a good text with probability at most `false_alarms`.
    ///
    /// `good`: one score for each text of the kind that will be written and is known to be good, higher being better:
    /// the lowest that the gate would have seen ([`crate::RateMeter::lowest`], or the lowest score of a
    /// [`crate::Scorer`] over its windows), because a text is stopped when any clause of it is. With `n` texts the
    /// value is the `k`-th lowest, `k = floor(false_alarms * (n + 1))`: a new text that is exchangeable with them falls
    /// below it with probability at most `k / (n + 1)`, whatever the distribution (split conformal prediction). That is on
    /// average over calibrations; texts of another kind than the reference void it.
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
