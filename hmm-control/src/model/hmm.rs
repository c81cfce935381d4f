//! The hidden Markov model.

use super::error::ModelError;
use super::matrix::Matrix;
use super::products::{Batch, Precision};
use super::vector::multiply;
use crate::{Storage, Token};
use ndarray::ArrayView2;
use std::sync::Arc;

/// A hidden Markov model over tokens: `h` hidden states, a vocabulary of `V` tokens.
///
/// `initial[z]` is the probability that the first token is emitted by state `z`, `A[z][z']` that `z'` follows `z`,
/// and `B[z][v]` that `z` emits token `v`. The parameters are stored in the order in which a decode step reads them:
/// `A` by the state it goes to, `B` by token, so that one token's probabilities are contiguous.
///
/// Immutable; a clone shares the numbers, so one model serves all requests and threads.
///
/// ```
/// use hmm_control::{Belief, Hmm, Storage};
/// use ndarray::array;
///
/// let hmm = Hmm::new(
///     &[0.5, 0.5],
///     array![[0.9, 0.1], [0.2, 0.8]].view(),
///     array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]].view(),
///     Storage::F64,
/// )?;
/// let mut belief = Belief::start(&hmm);
/// let log_probability = belief.observe(&hmm, 2);
/// assert!((log_probability.exp() - 0.45).abs() < 1e-12);
/// # Ok::<(), hmm_control::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Hmm {
    initial: Arc<[f64]>,
    /// Row: the state a transition goes to. Column: the state it comes from.
    transition: Matrix,
    /// Row: token. Column: state.
    emission: Matrix,
    transition_norms: Arc<[f64]>,
    emission_norms: Arc<[f64]>,
    /// The sum of each state's emissions after normalisation: 1 up to the last digits, where numbers are used as given.
    emission_totals: Arc<[f64]>,
}

impl Hmm {
    /// A model from `A` as `[from, to]` and `B` as `[state, token]`, both in one storage.
    ///
    /// # Errors
    /// When shapes disagree, a number is no probability, or a distribution does not sum to 1.
    pub fn new(
        initial: &[f64],
        transition: ArrayView2<'_, f64>,
        emission: ArrayView2<'_, f64>,
        storage: Storage,
    ) -> Result<Hmm, ModelError> {
        let states = initial.len();
        expect_shape("transition", transition.dim(), (states, states))?;
        expect_shape("emission", emission.dim(), (states, emission.ncols()))?;
        let by_target = Matrix::from_rows(states, states, storage, |to, values| {
            values.iter_mut().zip(transition.column(to)).for_each(|(value, given)| *value = *given);
        });
        let by_token = Matrix::from_rows(emission.ncols(), states, storage, |token, values| {
            values.iter_mut().zip(emission.column(token)).for_each(|(value, given)| *value = *given);
        });
        check_distributions("transition", transition.rows().into_iter().map(|row| row.to_vec()))?;
        check_distributions("emission", emission.rows().into_iter().map(|row| row.to_vec()))?;
        Hmm::from_parts(initial.to_vec(), by_target, by_token)
    }

    /// A model from parts in its own layout: `transition` by the state it goes to (`h x h`), `emission` by
    /// token (`V x h`). Reads both once, to check that they are distributions.
    ///
    /// # Errors
    /// When shapes disagree, a number is no probability, or a distribution does not sum to 1 as nearly as its
    /// storage can hold.
    pub fn from_parts(initial: Vec<f64>, transition: Matrix, emission: Matrix) -> Result<Hmm, ModelError> {
        let states = initial.len();
        if states == 0 {
            return Err(ModelError::Empty { part: "initial" });
        }
        if emission.rows() == 0 {
            return Err(ModelError::Empty { part: "emission" });
        }
        expect_shape("transition", (transition.rows(), transition.columns()), (states, states))?;
        expect_shape("emission", (emission.rows(), emission.columns()), (emission.rows(), states))?;
        // The initial distribution is always in 64 bits, but may come from a file of 32.
        check_distribution("initial", 0, &initial, Storage::F32.tolerance())?;
        let transition_norms = norms("transition", &transition)?.norms;
        let Norms { norms: emission_norms, totals: emission_totals } = norms("emission", &emission)?;
        let initial = initial.into();
        Ok(Hmm { initial, transition, emission, transition_norms, emission_norms, emission_totals })
    }

    /// Number of hidden states, `h`.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Size of the vocabulary, `V`.
    pub fn vocabulary(&self) -> usize {
        self.emission.rows()
    }

    /// The distribution of the first state.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// The transition matrix; row: the state it goes to.
    pub fn transition(&self) -> &Matrix {
        &self.transition
    }

    /// The emission matrix; row: token.
    pub fn emission(&self) -> &Matrix {
        &self.emission
    }

    /// The same model with its matrices in other storages.
    ///
    /// # Errors
    /// When the rounding takes a distribution further from 1 than the storage allows; this needs a distribution over
    /// very many states or tokens of nearly equal weight.
    pub fn to_storage(&self, transition: Storage, emission: Storage) -> Result<Hmm, ModelError> {
        let initial = self.initial.to_vec();
        Hmm::from_parts(initial, self.transition.to_storage(transition), self.emission.to_storage(emission))
    }

    /// `out[z] = B[z][token]`; a token outside the vocabulary is emitted by no state.
    pub fn read_emission(&self, token: Token, out: &mut [f64]) {
        self.emission.read_row(token as usize, out);
        self.normalise_emission(out);
    }

    /// `out[z] = A[z][to]`, by the state that the transition comes from; a state outside the model is never reached.
    pub fn read_transition(&self, to: usize, out: &mut [f64]) {
        self.transition.read_row(to, out);
        out.iter_mut().zip(&*self.transition_norms).for_each(|(value, norm)| *value *= norm);
    }

    /// `out = A^T distribution`: the distribution of the next hidden state.
    pub(crate) fn advance(&self, distribution: &[f64], out: &mut [f64]) {
        let scaled: Vec<f64> = multiply(distribution, &self.transition_norms);
        self.transition.product(&scaled, out);
    }

    /// The same as [`Hmm::advance`] for many distributions, in one pass over the transition matrix.
    pub(crate) fn advance_all(&self, distributions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let scaled: Vec<Vec<f64>> =
            distributions.iter().map(|given| multiply(given, &self.transition_norms)).collect();
        let vectors: Vec<&[f64]> = scaled.iter().map(Vec::as_slice).collect();
        let batch = Batch::new(self.transition.storage(), Precision::Full, &vectors, self.states());
        let mut moved = vec![vec![0.0; self.states()]; distributions.len()];
        self.transition.products(0..self.states(), &batch, |row, products| {
            for (out, product) in moved.iter_mut().zip(products) {
                if let Some(out) = out.get_mut(row) {
                    *out = *product;
                }
            }
        });
        moved
    }

    /// `out = A values`: the expectation of `values` at the state that follows.
    pub(crate) fn retreat(&self, values: &[f64], out: &mut [f64]) {
        self.transition.transposed_product(values, out);
        out.iter_mut().zip(&*self.transition_norms).for_each(|(value, norm)| *value *= norm);
    }

    pub(crate) fn emission_totals(&self) -> &[f64] {
        &self.emission_totals
    }

    /// Normalises a sum over stored emissions, state by state.
    pub(crate) fn normalise_emission(&self, by_state: &mut [f64]) {
        by_state.iter_mut().zip(&*self.emission_norms).for_each(|(value, norm)| *value *= norm);
    }
}

pub(crate) fn expect_shape(
    part: &'static str,
    found: (usize, usize),
    wanted: (usize, usize),
) -> Result<(), ModelError> {
    if found == wanted {
        return Ok(());
    }
    let (found_rows, found_columns) = found;
    let (rows, columns) = wanted;
    Err(ModelError::Shape { part, found_rows, found_columns, rows, columns })
}

pub(crate) fn check_distribution(
    part: &'static str,
    state: usize,
    values: &[f64],
    tolerance: f64,
) -> Result<(), ModelError> {
    // Written so that a NaN is refused.
    if let Some(&value) = values.iter().find(|value| !(0.0..=1.0 + tolerance).contains(*value)) {
        return Err(ModelError::NotAProbability { part, state, value });
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > tolerance {
        return Err(ModelError::NotNormalised { part, state, sum, tolerance });
    }
    Ok(())
}

/// Checks the given numbers before a storage rounds them.
fn check_distributions(part: &'static str, rows: impl Iterator<Item = Vec<f64>>) -> Result<(), ModelError> {
    for (state, row) in rows.enumerate() {
        check_distribution(part, state, &row, Storage::F32.tolerance())?;
    }
    Ok(())
}

impl std::fmt::Debug for Hmm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Hmm({} states; transition {:?}; emission {:?})",
            self.states(),
            self.transition,
            self.emission
        )
    }
}

struct Norms {
    norms: Arc<[f64]>,
    totals: Arc<[f64]>,
}

/// Checks that every column is a distribution, in one pass over the rows. Returns the factor that makes each sum to 1
/// (it undoes the storage's rounding; numbers that were not rounded are used as they are), and the sum after it.
fn norms(part: &'static str, matrix: &Matrix) -> Result<Norms, ModelError> {
    let tolerance = matrix.storage().tolerance();
    let mut sums = vec![0.0; matrix.columns()];
    let mut row = vec![0.0; matrix.columns()];
    for number in 0..matrix.rows() {
        matrix.read_row(number, &mut row);
        for (state, (sum, value)) in sums.iter_mut().zip(&row).enumerate() {
            if !(0.0..=1.0 + tolerance).contains(value) {
                return Err(ModelError::NotAProbability { part, state, value: *value });
            }
            *sum += value;
        }
    }
    if let Some((state, &sum)) = sums.iter().enumerate().find(|(_, sum)| (*sum - 1.0).abs() > tolerance) {
        return Err(ModelError::NotNormalised { part, state, sum, tolerance });
    }
    let rounded = !matches!(matrix.storage(), Storage::F64 | Storage::F32);
    let counts_as_given = |sum: f64| !rounded && (sum - 1.0).abs() <= Storage::F64.tolerance();
    let norms: Arc<[f64]> =
        sums.iter().map(|sum| if counts_as_given(*sum) { 1.0 } else { sum.recip() }).collect();
    let totals = multiply(&sums, &norms).into();
    Ok(Norms { norms, totals })
}
