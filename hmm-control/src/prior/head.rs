//! The head, and its file.

use super::error::PriorError;
use crate::{Belief, Hmm};
use ndarray::{Array1, Array2, ArrayView1};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::HashMap;

/// A softmax of a linear map from a language model's features to the hidden states.
///
/// A call costs `states * features` multiply-adds: at 4096 states and 1280 features a third of one forward step. It is
/// immutable; 4 bytes per number.
///
/// ```
/// use hmm_control::prior::Prior;
/// use ndarray::array;
///
/// // Two states, told apart by the first of three features.
/// let prior = Prior::new(array![[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]], array![0.0, 0.0])?;
/// let distribution = prior.distribution(&[1.0, 0.3, -0.7])?;
/// assert!(distribution[0] > 0.98);
/// # Ok::<(), hmm_control::prior::PriorError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    weights: Array2<f32>,
    bias: Array1<f32>,
}

impl Prior {
    /// A head from its weights, `[state, feature]`, and one bias per state.
    ///
    /// # Errors
    /// When there is not one bias per row, there are no states or features, or a number is not finite.
    pub fn new(weights: Array2<f32>, bias: Array1<f32>) -> Result<Prior, PriorError> {
        if weights.nrows() != bias.len() || bias.is_empty() {
            return Err(PriorError::States { found: bias.len(), wanted: weights.nrows() });
        }
        if weights.ncols() == 0 {
            return Err(PriorError::Features { found: 0, wanted: 1 });
        }
        check_finite(weights.iter().chain(&bias))?;
        Ok(Prior { weights, bias })
    }

    /// Number of hidden states.
    pub fn states(&self) -> usize {
        self.bias.len()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.weights.ncols()
    }

    /// The weights, `[state, feature]`.
    pub fn weights(&self) -> &Array2<f32> {
        &self.weights
    }

    /// The bias, one per state.
    pub fn bias(&self) -> &Array1<f32> {
        &self.bias
    }

    /// `p(hidden state of the next token | features)`, computed in 64 bits; sums to 1.
    ///
    /// # Errors
    /// When there are more or fewer features than the head has, or one is not finite.
    pub fn distribution(&self, features: &[f32]) -> Result<Vec<f64>, PriorError> {
        if features.len() != self.features() {
            return Err(PriorError::Features { found: features.len(), wanted: self.features() });
        }
        check_finite(features.iter())?;
        let dot = |row: ArrayView1<'_, f32>| -> f64 {
            row.iter().zip(features).map(|(weight, feature)| f64::from(*weight) * f64::from(*feature)).sum()
        };
        let logits: Vec<f64> = self
            .weights
            .rows()
            .into_iter()
            .zip(&self.bias)
            .map(|(row, b)| dot(row) + f64::from(*b))
            .collect();
        let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut distribution: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
        let sum: f64 = distribution.iter().sum();
        distribution.iter_mut().for_each(|weight| *weight /= sum);
        Ok(distribution)
    }

    /// The belief about the next token's state from the features alone; filtering continues from here. It replaces the
    /// filter's evidence of the tokens before, and saves the cost of filtering the prompt.
    ///
    /// # Errors
    /// When the head is for another number of states, or the features do not fit it.
    pub fn belief(&self, hmm: &Hmm, features: &[f32]) -> Result<Belief, PriorError> {
        let states = PriorError::States { found: self.states(), wanted: hmm.states() };
        Belief::from_prior(hmm, self.distribution(features)?).map_err(|_| states)
    }
}

/// Checks features, or a head's numbers.
pub(super) fn check_finite<'a>(mut values: impl Iterator<Item = &'a f32>) -> Result<(), PriorError> {
    let mut place = 0;
    let found = values.find(|value| {
        place += 1;
        !value.is_finite()
    });
    match found {
        Some(value) => Err(PriorError::NotFinite { place: place - 1, value: *value }),
        None => Ok(()),
    }
}

/// The only entry of the file's metadata; its value is the version. There is only one, because the order of several
/// changes from run to run.
const FORMAT: &str = "portcullis-prior";
const VERSION: &str = "1";

impl Prior {
    /// The head as the bytes of a safetensors file: `weights`, `[state, feature]`, and `bias`, `[state]`, both in 32 bits.
    /// It round-trips to the bit.
    ///
    /// # Errors
    /// When the format refuses it, as for a head without numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PriorError> {
        let bytes = |values: &mut dyn Iterator<Item = &f32>| -> Vec<u8> {
            values.flat_map(|value| value.to_le_bytes()).collect()
        };
        let weights = bytes(&mut self.weights().iter());
        let bias = bytes(&mut self.bias().iter());
        let unusable = |error: safetensors::SafeTensorError| PriorError::File { problem: error.to_string() };
        let shape = vec![self.states(), self.features()];
        let tensors = [
            ("weights", TensorView::new(Dtype::F32, shape, &weights).map_err(unusable)?),
            ("bias", TensorView::new(Dtype::F32, vec![self.states()], &bias).map_err(unusable)?),
        ];
        let about = HashMap::from([(FORMAT.to_owned(), VERSION.to_owned())]);
        serialize(tensors, Some(about)).map_err(unusable)
    }

    /// A head from the bytes of [`Prior::to_bytes`].
    ///
    /// # Errors
    /// When they are another file or another version, a tensor is missing or has another shape or type, or a number is
    /// not finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Prior, PriorError> {
        let unreadable = |problem: String| PriorError::File { problem };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| unreadable(error.to_string()))?;
        let version = header.metadata().as_ref().and_then(|about| about.get(FORMAT));
        match version.map(String::as_str) {
            Some(VERSION) => {}
            Some(found) => {
                let problem = format!("it has version {found}; this library reads version {VERSION}");
                return Err(unreadable(problem));
            }
            None => return Err(unreadable(format!("its metadata has no entry {FORMAT:?}"))),
        }
        let file = SafeTensors::deserialize(bytes).map_err(|error| unreadable(error.to_string()))?;
        let (shape, weights) = read(&file, "weights", 2)?;
        let (_, bias) = read(&file, "bias", 1)?;
        let (rows, columns) = (shape.first().copied().unwrap_or(0), shape.get(1).copied().unwrap_or(0));
        let weights = Array2::from_shape_vec((rows, columns), weights)
            .map_err(|error| unreadable(error.to_string()))?;
        Prior::new(weights, Array1::from_vec(bias))
    }
}

fn read(
    file: &SafeTensors<'_>,
    tensor: &'static str,
    dimensions: usize,
) -> Result<(Vec<usize>, Vec<f32>), PriorError> {
    let wanted = if dimensions == 2 { "a matrix of 32-bit floats" } else { "a vector of 32-bit floats" };
    let view = file.tensor(tensor).map_err(|_| PriorError::Tensor {
        tensor,
        found: "missing".to_owned(),
        wanted,
    })?;
    if view.dtype() != Dtype::F32 || view.shape().len() != dimensions {
        let found = format!("{:?} of shape {:?}", view.dtype(), view.shape());
        return Err(PriorError::Tensor { tensor, found, wanted });
    }
    let numbers = view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    Ok((view.shape().to_vec(), numbers.collect()))
}
