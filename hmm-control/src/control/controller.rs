//! The controller: it adds the look-ahead, at some strength, to a language model's logits.

use crate::{AttributeError, Lookahead, Progress, Token};

/// Tokens that may come next, one bit each: token `t` is bit `t % 64` of word `t / 64` (as in the masks of `sirl`).
pub type MaskWords = [u64];

/// How many tokens follow the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Horizon {
    /// Always this many: the attribute of the next window of text, for any length of the whole.
    Window(usize),
    /// The rest of a text of this many generated tokens: the attribute of the whole text.
    Length(usize),
}

impl Horizon {
    /// How many tokens follow the next one, after `generated` tokens.
    pub fn remaining(self, generated: usize) -> usize {
        match self {
            Horizon::Window(tokens) => tokens,
            Horizon::Length(tokens) => tokens.saturating_sub(generated.saturating_add(1)),
        }
    }
}

/// Adds the look-ahead to a language model's logits (the paper, section 4.4): `l(v) + log phi_a(v)`, with
/// `phi_a = sigmoid(a * logit(phi))` for a strength `a`, all in log space.
///
/// A token that the language model, the attribute or the mask forbids gets minus infinity, so that its probability is
/// exactly 0. One controller serves all requests; a clone shares the look-ahead.
///
/// ```
/// use hmm_control::{Attribute, Controller, Hmm, Lookahead, Storage};
/// use ndarray::array;
///
/// let hmm = Hmm::new(
///     &[0.5, 0.5],
///     array![[0.9, 0.1], [0.2, 0.8]].view(),
///     array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]].view(),
///     Storage::F64,
/// )?;
/// let attribute = Attribute::from_weights(3, [(2, 0.5_f64.ln())])?;
/// let controller = Controller::new(Lookahead::new(hmm, attribute)?, 1.0)?;
///
/// let mut logits = [0.0_f32; 3];
/// let only_0_and_2 = [0b101];
/// controller.adjust(&controller.lookahead().start(), 4, &mut logits, Some(&only_0_and_2))?;
/// assert!(logits[0] > logits[2]);
/// assert_eq!(logits[1], f32::NEG_INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Controller {
    lookahead: Lookahead,
    strength: f64,
}

impl Controller {
    /// A controller of some strength: 1 uses the look-ahead as it is, 0 only removes forbidden tokens, and more than 1
    /// trades fluency for the attribute.
    ///
    /// # Errors
    /// When the strength is negative or not a finite number.
    pub fn new(lookahead: Lookahead, strength: f64) -> Result<Controller, AttributeError> {
        if !strength.is_finite() || strength < 0.0 {
            return Err(AttributeError::Strength { given: strength });
        }
        Ok(Controller { lookahead, strength })
    }

    /// The same controller at another strength.
    ///
    /// # Errors
    /// The same as [`Controller::new`].
    pub fn with_strength(&self, strength: f64) -> Result<Controller, AttributeError> {
        Controller::new(self.lookahead.clone(), strength)
    }

    /// The look-ahead.
    pub fn lookahead(&self) -> &Lookahead {
        &self.lookahead
    }

    /// The strength.
    pub fn strength(&self) -> f64 {
        self.strength
    }

    /// The term added to a logit. At strength 0 nothing is added to a possible token.
    pub(crate) fn added(&self, log_phi: f64) -> f64 {
        if self.strength == 0.0 && log_phi > f64::NEG_INFINITY {
            return 0.0;
        }
        strengthened(log_phi, self.strength)
    }

    /// Adjusts the logits of the whole vocabulary, with `remaining` tokens after this one. The mask is applied last.
    ///
    /// # Errors
    /// [`ControlError::NothingAllowed`] when no token remains; the logits are then all minus infinity. Other errors when
    /// the logits or the mask do not fit the vocabulary, or a logit is not a number; the logits are then unchanged.
    pub fn adjust(
        &self,
        progress: &Progress,
        remaining: usize,
        logits: &mut [f32],
        mask: Option<&MaskWords>,
    ) -> Result<(), ControlError> {
        self.check(logits, mask)?;
        let mut log_phi = vec![f64::NEG_INFINITY; logits.len()];
        self.lookahead.score_all(progress, remaining, &mut log_phi);
        let mut some = false;
        for ((token, logit), log_phi) in logits.iter_mut().enumerate().zip(log_phi) {
            *logit = (f64::from(*logit) + self.added(log_phi)) as f32;
            if !allows(mask, token) {
                *logit = f32::NEG_INFINITY;
            }
            some |= *logit > f32::NEG_INFINITY;
        }
        if some { Ok(()) } else { Err(ControlError::NothingAllowed) }
    }

    pub(crate) fn check(&self, logits: &[f32], mask: Option<&MaskWords>) -> Result<(), ControlError> {
        check(self.lookahead.hmm().vocabulary(), logits, mask)
    }
}

/// Checks that logits and mask fit a vocabulary, and that no logit is a fault.
pub(crate) fn check(vocabulary: usize, logits: &[f32], mask: Option<&MaskWords>) -> Result<(), ControlError> {
    if logits.len() != vocabulary {
        return Err(ControlError::Logits { found: logits.len(), vocabulary });
    }
    let needed = vocabulary.div_ceil(64);
    if let Some(found) = mask.map(<[u64]>::len).filter(|found| *found < needed) {
        return Err(ControlError::Mask { found, needed });
    }
    let is_fault = |logit: f32| logit.is_nan() || logit == f32::INFINITY;
    // A pass without an early exit is vectorised.
    if !logits.iter().fold(false, |some, logit| some | is_fault(*logit)) {
        return Ok(());
    }
    match logits.iter().enumerate().find(|(_, logit)| is_fault(**logit)) {
        Some((token, &logit)) => Err(ControlError::Logit { token: token as Token, logit }),
        None => Ok(()),
    }
}

pub(crate) fn allows(mask: Option<&MaskWords>, token: usize) -> bool {
    mask.is_none_or(|words| words.get(token / 64).is_some_and(|word| word >> (token % 64) & 1 == 1))
}

/// Why the next token cannot be controlled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// No token remains. This is not a fault: the text has to be rewound, or to stop.
    #[error(
        "no token is left to choose: whatever the language model and the grammar allow here breaks the attribute"
    )]
    NothingAllowed,
    /// Another number of logits than the vocabulary has tokens.
    #[error("{found} logits were given, but the vocabulary has {vocabulary} tokens")]
    Logits {
        /// How many were given.
        found: usize,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
    /// A logit that is not a number, or plus infinity.
    #[error("the logit of token {token} is {logit}: the language model's numbers have overflowed")]
    Logit {
        /// The token.
        token: Token,
        /// Its logit.
        logit: f32,
    },
    /// A mask with fewer bits than there are tokens.
    #[error("the mask has {found} words of 64 bits, but {needed} are needed for the vocabulary")]
    Mask {
        /// Words that were given.
        found: usize,
        /// Words that the vocabulary needs.
        needed: usize,
    },
    /// A setting out of its range.
    #[error("{name} is {given}, but has to be {wanted}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The given value.
        given: f64,
        /// The valid values.
        wanted: &'static str,
    },
}

/// `log sigmoid(strength * logit(phi))` of `log_phi = log phi`, in log space: `logit(phi) = log phi - log(1 - phi)`
/// (TRACE, Yidou-Weng et al. 2025, section 3.4, without its floors).
///
/// Strength 1 returns `log_phi`, 0 makes all probabilities one half, and more than 1 drives them apart. Zero and one stay
/// exactly zero and one at any strength above 0, so that a forbidden token stays forbidden. A `log_phi` above 0, which
/// only rounding can make, counts as 0.
///
/// ```
/// let log_phi = 0.9_f64.ln();
/// assert!((hmm_control::strengthened(log_phi, 1.0) - log_phi).abs() < 1e-12);
/// assert_eq!(hmm_control::strengthened(f64::NEG_INFINITY, 2.0), f64::NEG_INFINITY);
/// ```
pub fn strengthened(log_phi: f64, strength: f64) -> f64 {
    if strength == 1.0 || log_phi == f64::NEG_INFINITY {
        return log_phi.min(0.0);
    }
    if log_phi >= 0.0 {
        return 0.0;
    }
    // log(1 - phi), in the form that is exact at each end.
    let log_rest =
        if log_phi > -std::f64::consts::LN_2 { (-log_phi.exp_m1()).ln() } else { (-log_phi.exp()).ln_1p() };
    let odds = strength * (log_phi - log_rest);
    // log sigmoid, in the form that does not overflow.
    if odds > 0.0 { -(-odds).exp().ln_1p() } else { odds - odds.exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_one_is_the_identity_and_both_ends_are_fixed() {
        for log_phi in [-1e-300, -1e-12, -0.1, -1.0, -50.0, -700.0, -1e6] {
            assert_eq!(strengthened(log_phi, 1.0), log_phi);
            let near = strengthened(log_phi, 1.0 + 1e-9);
            assert!((near - log_phi).abs() <= 1e-6 * log_phi.abs().max(1e-6), "{log_phi} {near}");
            assert!(strengthened(log_phi, 0.5) <= 0.0);
        }
        assert_eq!(strengthened(f64::NEG_INFINITY, 0.5), f64::NEG_INFINITY);
        assert_eq!(strengthened(0.0, 3.0), 0.0);
        assert_eq!(strengthened(1e-9, 1.0), 0.0);
    }

    #[test]
    fn strength_is_the_power_of_the_odds() {
        for phi in [0.001_f64, 0.3, 0.5, 0.7, 0.999] {
            for strength in [0.5, 2.0, 3.7] {
                let odds = (phi / (1.0 - phi)).powf(strength);
                let wanted = (odds / (1.0 + odds)).ln();
                assert!((strengthened(phi.ln(), strength) - wanted).abs() < 1e-10 * wanted.abs().max(1.0));
            }
        }
    }
}
