//! The parameters in training, and the floats that they are computed in.

use super::DistilError;
use crate::{Hmm, Matrix, ModelError, Storage, Token};
use ndarray::{Array2, LinalgScalar};
use safetensors::Dtype;
use std::fmt::Debug;
use std::ops::{AddAssign, MulAssign};

/// A hidden Markov model's parameters during training. `T` is `f32` for speed.
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
    /// The parameters of a model, for further training.
    pub fn from_hmm(hmm: &Hmm) -> Parameters<T> {
        let (states, vocabulary) = (hmm.states(), hmm.vocabulary());
        let mut transition = Array2::from_elem((states, states), T::zero());
        let mut row = vec![0.0; states];
        // Normalised as in the model, whose storage may have rounded them.
        for (to, mut column) in transition.columns_mut().into_iter().enumerate() {
            hmm.read_transition(to, &mut row);
            column.iter_mut().zip(&row).for_each(|(target, value)| *target = T::from_f64(*value));
        }
        let mut emission = Array2::from_elem((vocabulary, states), T::zero());
        for (token, mut target) in emission.rows_mut().into_iter().enumerate() {
            hmm.read_emission(token as Token, &mut row);
            target.iter_mut().zip(&row).for_each(|(target, value)| *target = T::from_f64(*value));
        }
        let initial = hmm.initial().iter().map(|value| T::from_f64(*value)).collect();
        Parameters { initial, transition, emission }
    }

    /// Checks that there is at least one state and one token, and that the shapes agree.
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

    /// Number of hidden states, `h`.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Size of the vocabulary, `V`.
    pub fn vocabulary(&self) -> usize {
        self.emission.nrows()
    }

    /// The number of rows of `h` numbers: the first states, then the transitions from each state, then the emissions of each token.
    /// [`super::Statistics`] have the same ones.
    pub fn rows(&self) -> usize {
        1 + self.states() + self.vocabulary()
    }

    pub(super) fn place(&self, row: usize) -> Option<Place> {
        Place::of(row, self.states(), self.vocabulary())
    }

    pub(super) fn row(&self, row: usize) -> Option<&[T]> {
        match self.place(row)? {
            Place::Initial => Some(&self.initial),
            Place::Transition(state) => self.transition.row(state).to_slice(),
            Place::Emission(token) => self.emission.row(token as usize).to_slice(),
        }
    }

    pub(super) fn row_mut(&mut self, row: usize) -> Option<&mut [T]> {
        match self.place(row)? {
            Place::Initial => Some(&mut self.initial),
            Place::Transition(state) => self.transition.row_mut(state).into_slice(),
            Place::Emission(token) => self.emission.row_mut(token as usize).into_slice(),
        }
    }

    /// The model, its matrices in the given storages.
    ///
    /// # Errors
    /// When the numbers are not probabilities, or a storage rounds a distribution too far from 1.
    pub fn to_hmm(&self, transition: Storage, emission: Storage) -> Result<Hmm, ModelError> {
        // Rounded to `T`, a distribution sums to 1 only nearly; a storage of 64 bits checks it more strictly.
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

/// The subject of a row of parameters or of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The first states.
    Initial,
    /// The transitions from this state.
    Transition(usize),
    /// The emissions of this token.
    Emission(Token),
}

impl Place {
    pub(super) fn of(row: usize, states: usize, vocabulary: usize) -> Option<Place> {
        let Some(row) = row.checked_sub(1) else { return Some(Place::Initial) };
        match row.checked_sub(states) {
            None => Some(Place::Transition(row)),
            Some(token) => (token < vocabulary).then_some(Place::Emission(token as Token)),
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The float type of the training: `f32` for speed, `f64` for checks of the mathematics.
pub trait Real:
    sealed::Sealed + LinalgScalar + PartialOrd + AddAssign + MulAssign + Default + Debug + Send + Sync
{
    /// The underflow threshold: smaller numbers count as 0, so that a quotient of two probabilities never overflows (1e-30
    /// for `f32`, 1e-280 for `f64`).
    const SMALLEST: Self;
    /// The type's name in a file.
    const DTYPE: Dtype;

    /// Rounds; a number below [`Real::SMALLEST`] becomes 0.
    fn from_f64(value: f64) -> Self;

    /// Widens.
    fn to_f64(self) -> f64;

    /// Appends the little-endian bytes.
    fn write(self, bytes: &mut Vec<u8>);

    /// Reads little-endian bytes, as many as the type has.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! real {
    ($float:ty, $smallest:expr, $dtype:expr) => {
        impl Real for $float {
            const SMALLEST: $float = $smallest;
            const DTYPE: Dtype = $dtype;

            fn from_f64(value: f64) -> $float {
                let value = value as $float;
                if value < $smallest { 0.0 } else { value }
            }

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Option<$float> {
                bytes.try_into().ok().map(<$float>::from_le_bytes)
            }
        }
    };
}

real!(f32, 1e-30, Dtype::F32);
real!(f64, 1e-280, Dtype::F64);

/// The sum, in sixteen partial sums so that the compiler can vectorise it; the order is always the same.
pub(super) fn sum<T: Real>(values: &[T]) -> T {
    let mut partial = [T::zero(); 16];
    let mut chunks = values.chunks_exact(16);
    for chunk in &mut chunks {
        partial.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += *value);
    }
    let rest = chunks.remainder().iter().fold(T::zero(), |sum, value| sum + *value);
    partial.iter().fold(rest, |sum, value| sum + *value)
}

/// The sum of products, in the same order as [`sum`].
pub(super) fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    let mut partial = [T::zero(); 16];
    let mut chunks = left.chunks_exact(16);
    let mut others = right.chunks_exact(16);
    for (left, right) in (&mut chunks).zip(&mut others) {
        partial.iter_mut().zip(left.iter().zip(right)).for_each(|(sum, (a, b))| *sum += *a * *b);
    }
    let rest = chunks.remainder().iter().zip(others.remainder());
    let rest = rest.fold(T::zero(), |sum, (a, b)| sum + *a * *b);
    partial.iter().fold(rest, |sum, value| sum + *value)
}
