//! The naive method: a step as TRACE does it, in our own code.
//!
//! The logarithms of the emissions are stored by state, in `f32`. For every token they are exponentiated twice, each
//! time into a new matrix: once for the probability of each token, once for the probability times the value of the
//! rest. The transition is computed twice too: for the scores, and again for the update of the belief.

use hmm_control::Hmm;
use ndarray::{Array1, Array2};

pub struct Naive {
    transition: Array2<f32>,
    /// By state and token.
    log_emission: Array2<f32>,
}

impl Naive {
    pub fn new(hmm: &Hmm) -> Naive {
        let (states, vocabulary) = (hmm.states(), hmm.vocabulary());
        let mut row = vec![0.0; states];
        let mut transition = Array2::zeros((states, states));
        for to in 0..states {
            hmm.transition().read_row(to, &mut row);
            transition.column_mut(to).iter_mut().zip(&row).for_each(|(value, given)| *value = *given as f32);
        }
        let mut log_emission = Array2::zeros((states, vocabulary));
        for token in 0..vocabulary {
            hmm.emission().read_row(token, &mut row);
            let column = log_emission.column_mut(token);
            column.into_iter().zip(&row).for_each(|(value, given)| *value = given.ln() as f32);
        }
        Naive { transition, log_emission }
    }

    /// The bytes of the parameters that a step reads.
    pub fn bytes(&self) -> f64 {
        4.0 * (2 * self.log_emission.len() + 2 * self.transition.len()) as f64
    }

    /// The scores of every token after a belief.
    pub fn step(&self, posterior: &[f32], backward: &[f32]) -> Array1<f32> {
        let predicted = product(posterior, &self.transition);
        let whole = product(predicted.as_slice().unwrap(), &self.log_emission.mapv(f32::exp));
        let weighted: Vec<f32> = predicted.iter().zip(backward).map(|(a, b)| a * b).collect();
        let part = product(&weighted, &self.log_emission.mapv(f32::exp));
        std::hint::black_box(product(posterior, &self.transition));
        (part / whole).mapv(f32::ln)
    }
}

/// Computes `vector * matrix` row by row, at the speed of the memory, so that the method is compared and not its
/// products.
fn product(vector: &[f32], matrix: &Array2<f32>) -> Array1<f32> {
    let mut sum = Array1::zeros(matrix.ncols());
    vector.iter().zip(matrix.rows()).for_each(|(factor, row)| sum.scaled_add(*factor, &row));
    sum
}
