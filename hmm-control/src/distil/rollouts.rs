//! Texts drawn from a language model, or from a hidden Markov model.

use super::{MISSING, Sequences};
use crate::{Hmm, Lane, LanguageModel, Token};
use ndarray::Array2;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The settings of drawing texts from a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollouts<'a> {
    /// Number of sequences.
    pub count: usize,
    /// The longest sequence, in tokens; it ends after the end token.
    pub longest: usize,
    /// Sequences per batch.
    pub lanes: usize,
    /// The prompts of the sequences, in rotation; where there is none, the end token precedes the text, as in training
    /// data.
    pub prompts: &'a [Vec<Token>],
    /// True if a prompt is a part of its sequence (and counts towards `longest`).
    pub keep_prompts: bool,
}

/// Why no text can be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError<E: std::error::Error + 'static> {
    /// The language model failed.
    #[error("the language model failed")]
    Model(#[source] E),
    /// There is neither a prompt nor an end token to begin with.
    #[error("the language model has no end token to begin a text with; give prompts of at least one token")]
    NoStart,
    /// Logits without a finite maximum.
    #[error("rollout {sequence}, token {place}: the logits hold no finite largest number")]
    Logits {
        /// The sequence, counted from 0.
        sequence: usize,
        /// The drawn token, counted from 0.
        place: usize,
    },
    /// A missing token, which cannot be read.
    #[error("sequence {sequence}, place {place}: a language model cannot read a missing token")]
    Missing {
        /// The sequence, counted from 0.
        sequence: usize,
        /// The place in it.
        place: usize,
    },
}

/// An unfinished text.
struct Text<S> {
    number: usize,
    state: S,
    rng: ChaCha8Rng,
    /// The tokens that the model has not read yet.
    unread: Vec<Token>,
    tokens: Vec<Token>,
    drawn: usize,
    done: bool,
}

/// Draws sequences at temperature 1, the language model's own distribution.
///
/// Every sequence has its own random generator, so that the result does not depend on the number of lanes (as far as the
/// language model's logits do not).
///
/// # Errors
/// When the language model fails, gives no usable logits, or there is neither a prompt nor an end token.
pub fn sample_rollouts<M: LanguageModel>(
    model: &M,
    rollouts: &Rollouts<'_>,
    rng: &mut impl Rng,
) -> Result<Sequences, DrawError<M::Error>> {
    let first: Vec<Token> = model.end().into_iter().collect();
    let mut sequences = Sequences::new();
    let mut logits = vec![0.0; rollouts.lanes.max(1) * model.vocabulary()];
    let numbers: Vec<usize> = (0..rollouts.count).collect();
    for batch in numbers.chunks(rollouts.lanes.max(1)) {
        let mut texts = Vec::with_capacity(batch.len());
        for &number in batch {
            let prompt =
                number.checked_rem(rollouts.prompts.len()).and_then(|which| rollouts.prompts.get(which));
            let prompt = prompt.filter(|prompt| !prompt.is_empty());
            let unread = prompt.unwrap_or(&first).clone();
            if unread.is_empty() {
                return Err(DrawError::NoStart);
            }
            let mut tokens = prompt.filter(|_| rollouts.keep_prompts).cloned().unwrap_or_default();
            tokens.truncate(rollouts.longest);
            let rng = ChaCha8Rng::seed_from_u64(rng.random());
            let done = tokens.len() >= rollouts.longest;
            texts.push(Text { number, state: model.start(), rng, unread, tokens, drawn: 0, done });
        }
        while texts.iter().any(|text| !text.done) {
            advance(model, rollouts.longest, &mut texts, &mut logits)?;
        }
        texts.iter().for_each(|text| sequences.push(&text.tokens));
    }
    Ok(sequences)
}

/// Draws one more token for every unfinished text.
fn advance<M: LanguageModel>(
    model: &M,
    longest: usize,
    texts: &mut [Text<M::State>],
    logits: &mut [f32],
) -> Result<(), DrawError<M::Error>> {
    let open = texts.iter_mut().filter(|text| !text.done);
    let mut lanes: Vec<Lane<'_, M::State>> = open
        .zip(logits.chunks_exact_mut(model.vocabulary()))
        .map(|(text, logits)| Lane { state: &mut text.state, tokens: &text.unread, logits })
        .collect();
    model.step_batch(&mut lanes).map_err(DrawError::Model)?;
    drop(lanes);
    let open = texts.iter_mut().filter(|text| !text.done);
    for (text, logits) in open.zip(logits.chunks_exact(model.vocabulary())) {
        let Some(token) = draw(logits, &mut text.rng) else {
            return Err(DrawError::Logits { sequence: text.number, place: text.drawn });
        };
        text.unread.clear();
        text.unread.push(token);
        text.tokens.push(token);
        text.drawn += 1;
        text.done = text.tokens.len() >= longest || Some(token) == model.end();
    }
    Ok(())
}

/// Draws a token from the softmax of the logits.
fn draw(logits: &[f32], rng: &mut impl Rng) -> Option<Token> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !largest.is_finite() || logits.iter().any(|logit| logit.is_nan()) {
        return None;
    }
    let sums: Vec<f64> = logits
        .iter()
        .scan(0.0, |sum, logit| {
            *sum += f64::from(logit - largest).exp();
            Some(*sum)
        })
        .collect();
    Some(pick(&sums, rng) as Token)
}

/// The language model's [`LanguageModel::features`] after every token of the sequences, a row for each in the order of
/// [`Sequences::tokens`]; none where the runtime does not expose them. The texts begin after the end token.
///
/// # Errors
/// When the language model fails, or a token is missing.
pub fn read_features<M: LanguageModel>(
    model: &M,
    sequences: &Sequences,
) -> Result<Option<Array2<f32>>, DrawError<M::Error>> {
    let mut logits = vec![0.0; model.vocabulary()];
    let mut features: Vec<f32> = Vec::new();
    let mut width = 0;
    for (number, sequence) in sequences.iter().enumerate() {
        let mut state = model.start();
        if let Some(end) = model.end() {
            model.step(&mut state, &[end], &mut logits).map_err(DrawError::Model)?;
        }
        for (place, &token) in sequence.iter().enumerate() {
            if token == MISSING {
                return Err(DrawError::Missing { sequence: number, place });
            }
            model.step(&mut state, &[token], &mut logits).map_err(DrawError::Model)?;
            let Some(vector) = model.features(&state) else { return Ok(None) };
            width = vector.len();
            features.extend_from_slice(vector);
        }
    }
    Ok(Array2::from_shape_vec((sequences.tokens().len(), width), features).ok())
}

/// Draws sequences from a hidden Markov model. Stores running sums of all its distributions: 8 bytes per parameter.
///
/// ```
/// use hmm_control::distil::HmmSampler;
/// use hmm_control::{Hmm, Storage};
/// use ndarray::array;
/// use rand::SeedableRng;
///
/// let hmm = Hmm::new(&[1.0], array![[1.0]].view(), array![[0.0, 1.0]].view(), Storage::F64)?;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// assert_eq!(HmmSampler::new(&hmm).draw(3, None, &mut rng), [1, 1, 1]);
/// # Ok::<(), hmm_control::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct HmmSampler {
    initial: Vec<f64>,
    transition: Vec<Vec<f64>>,
    emission: Vec<Vec<f64>>,
}

impl HmmSampler {
    /// Prepares to draw from a model.
    pub fn new(hmm: &Hmm) -> HmmSampler {
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
        HmmSampler {
            initial: hmm.initial().iter().scan(0.0, running).collect(),
            transition: columns(hmm.transition()),
            emission: columns(hmm.emission()),
        }
    }

    /// A text of at most `longest` tokens; it stops after the end token, where there is one.
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

/// Draws an index with the probability of its step in the running sums.
fn pick(sums: &[f64], rng: &mut impl Rng) -> usize {
    let total = sums.last().copied().unwrap_or(0.0);
    let point = rng.random::<f64>() * total;
    // The last index with a step, in case rounding puts the point on the total.
    let last = sums.partition_point(|sum| *sum < total);
    sums.partition_point(|sum| *sum <= point).min(last)
}
