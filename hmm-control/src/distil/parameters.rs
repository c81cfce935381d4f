//! The parameters in training.

use super::{DistilError, Real};
use crate::{Hmm, Matrix, ModelError, Storage};
use ndarray::Array2;

/// A hidden Markov model's parameters as training reads and writes them. `T` is `f32` for speed.
///
/// Memory: `(h + h * h + V * h) * size_of::<T>()` bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters<T> {
    /// The distribution of the first state; `h` numbers.
    pub initial: Vec<T>,
    /// `[from, to]`, `h x h`; each row sums to 1.
    pub transition: Array2<T>,
    /// `[token, state]`, `V x h`; each column sums to 1.
    pub emission: Array2<T>,
}

impl<T: Real> Parameters<T> {
    /// The parameters of a model, to train it further.
    pub fn from_hmm(hmm: &Hmm) -> Parameters<T> {
        let (states, vocabulary) = (hmm.states(), hmm.vocabulary());
        let mut transition = Array2::from_elem((states, states), T::zero());
        let mut row = vec![0.0; states];
        // As the model is used: what its storage rounded is normalised.
        for (to, mut column) in transition.columns_mut().into_iter().enumerate() {
            hmm.transition().read_row(to, &mut row);
            hmm.normalise_transition(&mut row);
            column.iter_mut().zip(&row).for_each(|(target, value)| *target = T::from_f64(*value));
        }
        let mut emission = Array2::from_elem((vocabulary, states), T::zero());
        for (token, mut target) in emission.rows_mut().into_iter().enumerate() {
            hmm.emission().read_row(token, &mut row);
            hmm.normalise_emission(&mut row);
            target.iter_mut().zip(&row).for_each(|(target, value)| *target = T::from_f64(*value));
        }
        let initial = hmm.initial().iter().map(|value| T::from_f64(*value)).collect();
        Parameters { initial, transition, emission }
    }

    /// Whether these are parameters at all: at least one state and one token, and shapes that agree.
    pub(super) fn check(&self) -> Result<(), DistilError> {
        let (states, vocabulary) = (self.states(), self.vocabulary());
        let agree = self.transition.dim() == (states, states) && self.emission.ncols() == states;
        let laid_out = self.transition.is_standard_layout() && self.emission.is_standard_layout();
        if states > 0 && vocabulary > 0 && agree && laid_out {
            return Ok(());
        }
        let (transition, emission) = (self.transition.dim(), self.emission.dim());
        Err(DistilError::Setting {
            name: "the first parameters",
            given: format!(
                "{states} initial, {transition:?} transition, {emission:?} emission probabilities"
            ),
            wanted: "h, h x h and V x h numbers, row by row, with at least one state and one token",
        })
    }

    /// Hidden states, `h`.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Tokens, `V`.
    pub fn vocabulary(&self) -> usize {
        self.emission.nrows()
    }

    /// The model, its matrices in the given storages.
    ///
    /// # Errors
    /// When the numbers are no probabilities, or a storage rounds a distribution too far from 1.
    pub fn to_hmm(&self, transition: Storage, emission: Storage) -> Result<Hmm, ModelError> {
        // Rounded to `T`, a distribution sums to 1 only nearly; a storage of 64 bits holds it to more.
        let total: f64 = self.initial.iter().map(|value| value.to_f64()).sum();
        let initial = self.initial.iter().map(|value| value.to_f64() / total).collect();
        let rows: Vec<f64> = self
            .transition
            .rows()
            .into_iter()
            .map(|row| row.iter().map(|value| value.to_f64()).sum())
            .collect();
        let mut columns = vec![0.0; self.states()];
        for row in self.emission.rows() {
            columns.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.to_f64());
        }
        let transition = Matrix::from_rows(self.states(), self.states(), transition, |to, out| {
            let column = self.transition.column(to);
            out.iter_mut().zip(column.iter().zip(&rows)).for_each(|(out, (v, sum))| *out = v.to_f64() / sum);
        });
        let emission = Matrix::from_rows(self.vocabulary(), self.states(), emission, |token, out| {
            let row = self.emission.row(token);
            out.iter_mut().zip(row.iter().zip(&columns)).for_each(|(out, (v, sum))| *out = v.to_f64() / sum);
        });
        Hmm::from_parts(initial, transition, emission)
    }
}
