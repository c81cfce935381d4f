//! Direct preference optimisation: a loss that makes preferred texts more likely than rejected ones.

use tch::{TchError, Tensor};

/// The log probabilities of two answers to each input, `[pairs]` each, summed over the tokens of an answer, in nats.
#[derive(Debug)]
pub struct Pairs<'a> {
    /// Those of the preferred answers.
    pub preferred: &'a Tensor,
    /// Those of the rejected answers.
    pub rejected: &'a Tensor,
}

/// The mean loss of direct preference optimisation over pairs, a scalar (Rafailov and others, "Direct Preference
/// Optimization", 2023, equation 7):
///
/// `-log sigmoid(beta * ((preferred - rejected) - (reference preferred - reference rejected)))`
///
/// `model` is being trained and has gradients; `reference` is the frozen model from which training began. The larger `beta` (above
/// 0), the sooner a pair counts as learnt, and the closer the model stays to the reference: the loss trades the preference
/// against that distance, which is its only restraint.
///
/// # Errors
/// When libtorch fails, as where the shapes differ.
///
/// ```
/// use lm_torch::preference::{Pairs, loss};
/// use lm_torch::tch::Tensor;
///
/// let (preferred, rejected) = (Tensor::from_slice(&[-3.0]), Tensor::from_slice(&[-2.0]));
/// let same = Pairs { preferred: &preferred, rejected: &rejected };
/// // A model that is its own reference has learnt nothing: log 2.
/// let untrained = loss(&same, &same, 0.1)?.double_value(&[]);
/// assert!((untrained - 2.0_f64.ln()).abs() < 1e-9);
/// # Ok::<(), lm_torch::tch::TchError>(())
/// ```
pub fn loss(model: &Pairs<'_>, reference: &Pairs<'_>, beta: f64) -> Result<Tensor, TchError> {
    let gap = model.preferred.f_sub(model.rejected)?;
    let before = reference.preferred.f_sub(reference.rejected)?;
    gap.f_sub(&before)?.f_mul_scalar(beta)?.f_log_sigmoid()?.f_neg()?.f_mean(None)
}
