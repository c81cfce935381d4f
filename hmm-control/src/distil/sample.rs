//! Drawing texts from a hidden Markov model.

use crate::{Hmm, Token};
use rand::{Rng, RngExt};

/// Draws sequences from a model. Holds running sums of all its distributions: 8 bytes a parameter.
///
/// ```
/// use hmm_control::distil::Sampler;
/// use hmm_control::{Hmm, Storage};
/// use ndarray::array;
/// use rand::SeedableRng;
///
/// let hmm = Hmm::new(&[1.0], array![[1.0]].view(), array![[0.0, 1.0]].view(), Storage::F64)?;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// assert_eq!(Sampler::new(&hmm).draw(3, None, &mut rng), [1, 1, 1]);
/// # Ok::<(), hmm_control::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sampler {
    initial: Vec<f64>,
    transition: Vec<Vec<f64>>,
    emission: Vec<Vec<f64>>,
}

impl Sampler {
    /// Prepares to draw from a model.
    pub fn new(hmm: &Hmm) -> Sampler {
        let states = hmm.states();
        let mut row = vec![0.0; states];
        let mut columns = |matrix: &crate::Matrix| {
            let mut columns = vec![Vec::with_capacity(matrix.rows()); states];
            let mut sums = vec![0.0; states];
            for number in 0..matrix.rows() {
                matrix.read_row(number, &mut row);
                for ((column, sum), value) in columns.iter_mut().zip(&mut sums).zip(&row) {
                    *sum += value;
                    column.push(*sum);
                }
            }
            columns
        };
        let running = |sum: &mut f64, value: &f64| {
            *sum += value;
            Some(*sum)
        };
        Sampler {
            initial: hmm.initial().iter().scan(0.0, running).collect(),
            transition: columns(hmm.transition()),
            emission: columns(hmm.emission()),
        }
    }

    /// A text of at most `longest` tokens; it stops behind the end token, where there is one.
    pub fn draw(&self, longest: usize, end: Option<Token>, rng: &mut impl Rng) -> Vec<Token> {
        let mut text = Vec::new();
        let mut state = pick(&self.initial, rng);
        while text.len() < longest && (end.is_none() || text.last().copied() != end) {
            text.push(pick(self.emission.get(state).map_or(&[], Vec::as_slice), rng) as Token);
            state = pick(self.transition.get(state).map_or(&[], Vec::as_slice), rng);
        }
        text
    }
}

/// A place, as likely as its step in the running sums.
pub(super) fn pick(sums: &[f64], rng: &mut impl Rng) -> usize {
    let total = sums.last().copied().unwrap_or(0.0);
    let point = rng.random::<f64>() * total;
    // The last place that has a step at all, should rounding put the point on the total.
    let last = sums.partition_point(|sum| *sum < total);
    sums.partition_point(|sum| *sum <= point).min(last)
}
