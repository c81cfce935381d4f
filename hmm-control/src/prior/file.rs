//! The head as a safetensors file: `weights`, `[state, feature]`, and `bias`, `[state]`, both in 32 bits.

use super::error::PriorError;
use super::head::Prior;
use ndarray::{Array1, Array2};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::HashMap;

/// The one entry of the file's metadata; its value is the version. One, because the order in which several are
/// written changes from run to run.
const FORMAT: &str = "portcullis-prior";
const VERSION: &str = "1";

impl Prior {
    /// The head as the bytes of a safetensors file; read back it is the same to the bit.
    ///
    /// # Errors
    /// When the format cannot hold it, which takes a head without numbers.
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

    /// A head from such bytes.
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
