//! Logits in, logits out.

use super::error::ControlError;
use crate::{AttributeError, Lookahead, Progress, Token, strengthened};

/// Tokens that may come next, one bit each: token `t` is bit `t % 64` of word `t / 64` (as in the masks of `sirl`).
pub type MaskWords = [u64];

/// How many tokens are still to come after the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Horizon {
    /// Always as many: the attribute of the next stretch of text, whatever its whole length.
    Window(usize),
    /// What is left of a text of this many generated tokens: the attribute of the whole text.
    Length(usize),
}

impl Horizon {
    /// Tokens still to come after the next one, when `generated` are there.
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
/// A token that the language model, the attribute or the mask forbids comes out at minus infinity, so its probability
/// is exactly 0. Shared by all requests; a clone shares the look-ahead.
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
    /// A controller of some strength: 1 follows the look-ahead as it is, 0 only keeps what is forbidden away, more
    /// than 1 trades fluency for the attribute.
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
    /// As for [`Controller::new`].
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

    /// What is added to a logit. At strength 0 the odds of all that is possible are equal, and nothing is added.
    pub(crate) fn added(&self, log_phi: f64) -> f64 {
        if self.strength == 0.0 && log_phi > f64::NEG_INFINITY {
            return 0.0;
        }
        strengthened(log_phi, self.strength)
    }

    /// Adjusts the logits of the whole vocabulary, with `remaining` tokens to come after this one. The mask is applied
    /// last.
    ///
    /// # Errors
    /// [`ControlError::NothingAllowed`] when no token is left; the logits are then all minus infinity. Otherwise when
    /// the logits or the mask do not fit the vocabulary, or a logit is not a number; they are then as they were.
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
        let vocabulary = self.lookahead.hmm().vocabulary();
        if logits.len() != vocabulary {
            return Err(ControlError::Logits { found: logits.len(), vocabulary });
        }
        let needed = vocabulary.div_ceil(64);
        if let Some(found) = mask.map(<[u64]>::len).filter(|found| *found < needed) {
            return Err(ControlError::Mask { found, needed });
        }
        let is_fault = |logit: f32| logit.is_nan() || logit == f32::INFINITY;
        // Without an early end it is one quick pass.
        if !logits.iter().fold(false, |some, logit| some | is_fault(*logit)) {
            return Ok(());
        }
        match logits.iter().enumerate().find(|(_, logit)| is_fault(**logit)) {
            Some((token, &logit)) => Err(ControlError::Logit { token: token as Token, logit }),
            None => Ok(()),
        }
    }
}

pub(crate) fn allows(mask: Option<&MaskWords>, token: usize) -> bool {
    mask.is_none_or(|words| words.get(token / 64).is_some_and(|word| word >> (token % 64) & 1 == 1))
}
