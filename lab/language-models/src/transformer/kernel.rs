//! Products, norms and activations on rows of f32.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};

/// Fewer rows than this are multiplied by dot products: reading the weights takes most of the time then, and packing
/// them for a matrix product would double it.
const FEW: usize = 4;

/// A linear layer: `rows * weight' + bias`.
pub struct Linear {
    /// A row for each output.
    pub weight: Array2<f32>,
    pub bias: Option<Array1<f32>>,
}

impl Linear {
    pub fn apply(&self, rows: ArrayView2<'_, f32>) -> Array2<f32> {
        let mut out = Array2::zeros((rows.nrows(), self.weight.nrows()));
        multiply_transposed(rows, self.weight.view(), out.view_mut());
        if let Some(bias) = &self.bias {
            out += bias;
        }
        out
    }
}

/// `out = rows * other'`. The rows of both are contiguous.
pub fn multiply_transposed(
    rows: ArrayView2<'_, f32>,
    other: ArrayView2<'_, f32>,
    mut out: ArrayViewMut2<'_, f32>,
) {
    if rows.nrows() >= FEW {
        general_mat_mul(1.0, &rows, &other.t(), 0.0, &mut out);
        return;
    }
    for (row, mut out) in rows.rows().into_iter().zip(out.rows_mut()) {
        let row = row.to_slice().unwrap_or_default();
        for (weights, out) in other.rows().into_iter().zip(out.iter_mut()) {
            *out = dot(row, weights.to_slice().unwrap_or_default());
        }
    }
}

/// `out += rows * other`. The rows of both are contiguous.
pub fn multiply_add(rows: ArrayView2<'_, f32>, other: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    if rows.nrows() >= FEW {
        general_mat_mul(1.0, &rows, &other, 1.0, &mut out);
        return;
    }
    for (row, mut out) in rows.rows().into_iter().zip(out.rows_mut()) {
        for (share, other) in row.iter().zip(other.rows()) {
            out.scaled_add(*share, &other);
        }
    }
}

/// Sixteen independent sums, so that the compiler keeps them in vector registers.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<16>(), other.as_chunks::<16>());
    let mut sums = [0.0_f32; 16];
    for (one, other) in one.iter().zip(other) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

/// A layer norm where it has a shift, else a root-mean-square norm.
pub struct Norm {
    pub gain: Array1<f32>,
    pub shift: Option<Array1<f32>>,
    pub epsilon: f64,
}

impl Norm {
    pub fn apply(&self, rows: ArrayView2<'_, f32>) -> Array2<f32> {
        let mut out = rows.to_owned();
        for mut row in out.axis_iter_mut(Axis(0)) {
            let count = row.len() as f64;
            if self.shift.is_some() {
                let mean = row.iter().map(|number| f64::from(*number)).sum::<f64>() / count;
                row -= mean as f32;
            }
            let square = row.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>() / count;
            row *= (1.0 / (square + self.epsilon).sqrt()) as f32;
            row *= &self.gain;
            if let Some(shift) = &self.shift {
                row += shift;
            }
        }
        out
    }
}

/// GELU by its `tanh` approximation (Hendrycks and Gimpel, arXiv:1606.08415).
pub fn gelu(number: f32) -> f32 {
    let root = (2.0 / std::f32::consts::PI).sqrt();
    0.5 * number * (1.0 + (root * (number + 0.044_715 * number.powi(3))).tanh())
}

/// `x * sigmoid(x)`.
pub fn silu(number: f32) -> f32 {
    number / (1.0 + (-number).exp())
}

/// Softmax over the first `seen` scores of a row; the others become 0.
pub fn softmax(row: &mut [f32], seen: usize) {
    let (seen, unseen) = row.split_at_mut(seen.min(row.len()));
    unseen.fill(0.0);
    let most = seen.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in seen.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    seen.iter_mut().for_each(|score| *score /= sum);
}
