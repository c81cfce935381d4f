//! Control whose look-ahead is computed on a device of libtorch.

use crate::error::{LoadError, StepError};
use crate::model::{check_device, numbers};
use hmm_control::{Certificate, Controller, Coverage, Lookahead, MaskWords, Place, Token};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tch::{Device, Kind, TchError, Tensor};

/// Rows of a matrix that are converted at a time.
const CHUNK: usize = 1024;

/// Bytes of backward vectors that stay on the device; later ones are copied again for each call.
const STORED_BYTES: usize = 1 << 30;

/// A [`Controller`] whose scores libtorch computes, on a GPU for instance.
///
/// It holds the model's matrices in 32 bits on the device, `4 h (h + V)` bytes, and the belief of each text stays there. The backward
/// vectors come from the controller's [`Lookahead`], once for each horizon. A step sends the candidates to the device and reads their scores
/// back. On a CPU it needs twice the memory of 16 bits and `hmm_control`'s own kernels are faster; it is made for the device
/// of the language model.
///
/// Scores differ from [`Lookahead::score`] by rounding alone, as long as a token's share of the emissions of the likely states does not
/// underflow 32 bits. `lab/lm-torch/tests/control.rs` compares them on the CPU, and on a GPU where there is one; none was at hand so far.
///
/// ```
/// use hmm_control::{Attribute, Controller, Coverage, Hmm, Lookahead, Storage};
/// use lm_torch::tch::Device;
/// use lm_torch::TorchController;
/// use ndarray::array;
///
/// let hmm = Hmm::new(
///     &[0.5, 0.5],
///     array![[0.9, 0.1], [0.2, 0.8]].view(),
///     array![[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]].view(),
///     Storage::F32,
/// )?;
/// let attribute = Attribute::from_weights(3, [(2, 0.5_f64.ln())])?;
/// let controller = Controller::new(Lookahead::new(hmm, attribute)?, 1.0)?;
///
/// let controller = TorchController::new(controller, Device::cuda_if_available())?;
/// let mut progress = controller.start()?;
/// controller.observe(&mut progress, 0)?;
/// let mut logits = [0.0_f32; 3];
/// controller.adjust_candidates(&progress, 4, &mut logits, None, Coverage::TopK(2), 2)?;
/// assert!(logits[0] > logits[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TorchController {
    controller: Controller,
    device: Device,
    /// `A`, `[to, from]`.
    transition: Tensor,
    /// `B`, `[token, state]`, each row divided by its largest number. A score is a quotient of two products with the same row.
    emission: Tensor,
    /// By automaton state and tokens that remain.
    ahead: RefCell<BTreeMap<(usize, usize), Ahead>>,
}

/// A backward vector, `[state]`, divided by its largest number, whose logarithm is `log_scale`.
struct Ahead {
    values: Tensor,
    log_scale: f64,
}

/// The progress of one text; its belief lies on the device. The counterpart of [`hmm_control::Progress`], without the
/// likelihood.
pub struct TorchProgress {
    /// `p(state of the next token | tokens so far)`, `[state]`.
    predicted: Tensor,
    state: usize,
    log_weight: f64,
}

impl TorchProgress {
    /// Where the automaton stands, with `remaining` tokens after the next.
    pub fn place(&self, remaining: usize) -> Place {
        Place { state: self.state, log_weight: self.log_weight, remaining }
    }

    /// `p(state of the next token | tokens so far)`, by hidden state.
    ///
    /// # Errors
    /// When the device fails.
    pub fn predicted(&self) -> Result<Vec<f32>, StepError> {
        Ok(numbers(&self.predicted)?)
    }

    /// A copy that continues on its own. The belief is shared until one of the two observes a token.
    pub fn fork(&self) -> TorchProgress {
        TorchProgress { predicted: self.predicted.shallow_clone(), ..*self }
    }
}

impl TorchController {
    /// Copies a model to a device.
    ///
    /// # Errors
    /// When there is no such device, or its memory does not suffice.
    pub fn new(controller: Controller, device: Device) -> Result<TorchController, LoadError> {
        check_device(device)?;
        let hmm = controller.lookahead().hmm();
        let transition =
            matrix(hmm.states(), hmm.states(), device, |row, values| hmm.read_transition(row, values))?;
        let emission = matrix(hmm.vocabulary(), hmm.states(), device, |row, values| {
            hmm.read_emission(row as Token, values);
            divide(values);
        })?;
        Ok(TorchController { controller, device, transition, emission, ahead: RefCell::default() })
    }

    /// The controller, with the look-ahead whose scores are computed.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    fn lookahead(&self) -> &Lookahead {
        self.controller.lookahead()
    }

    /// The progress before the first token.
    ///
    /// # Errors
    /// When the device fails.
    pub fn start(&self) -> Result<TorchProgress, StepError> {
        let initial: Vec<f32> = self.lookahead().hmm().initial().iter().map(|value| *value as f32).collect();
        let predicted = Tensor::f_from_slice(&initial)?.f_to_device(self.device)?;
        Ok(TorchProgress { predicted, state: self.lookahead().attribute().start(), log_weight: 0.0 })
    }

    /// Observes a token of the prompt: it updates the belief, and neither the automaton nor the weight. A token that no state
    /// emits, or outside the vocabulary, counts as missing.
    ///
    /// # Errors
    /// When the device fails; the progress is then unchanged.
    pub fn observe_prompt(&self, progress: &mut TorchProgress, token: Token) -> Result<(), StepError> {
        let _no_gradients = tch::no_grad_guard();
        let predicted = &progress.predicted;
        let seen = match (token as usize) < self.lookahead().hmm().vocabulary() {
            true => {
                let joint = self.emission.f_select(0, i64::from(token))?.f_mul(predicted)?;
                let evidence = joint.f_sum(Kind::Float)?;
                let seen = evidence.f_gt(0.0)?;
                joint.f_div(&evidence)?.f_where_self(&seen, predicted)?
            }
            false => predicted.shallow_clone(),
        };
        let moved = self.transition.f_mv(&seen)?;
        progress.predicted = moved.f_div(&moved.f_sum(Kind::Float)?)?;
        Ok(())
    }

    /// Observes a generated token.
    ///
    /// # Errors
    /// When the device fails; the progress is then unchanged.
    pub fn observe(&self, progress: &mut TorchProgress, token: Token) -> Result<(), StepError> {
        self.observe_prompt(progress, token)?;
        let edge = self.lookahead().attribute().step(progress.state, token);
        progress.state = edge.to;
        progress.log_weight += edge.log_weight;
        Ok(())
    }

    /// Adjusts the logits of as few tokens as suffice for `coverage`: see [`Controller::adjust_candidates`].
    ///
    /// # Errors
    /// The same as [`Controller::adjust_candidates`], and when the device fails; the logits are then unchanged.
    pub fn adjust_candidates(
        &self,
        progress: &TorchProgress,
        remaining: usize,
        logits: &mut [f32],
        mask: Option<&MaskWords>,
        coverage: Coverage,
        first: usize,
    ) -> Result<Certificate, StepError> {
        let place = Place { state: progress.state, log_weight: progress.log_weight, remaining };
        self.controller.adjust_candidates_by(place, logits, mask, coverage, first, |tokens, out| {
            self.score(progress, remaining, tokens, out)
        })
    }

    /// `out[i] = log phi(tokens[i])`, with `remaining` tokens after it: see [`Lookahead::score`]. A token outside the
    /// vocabulary has minus infinity.
    ///
    /// # Errors
    /// When the device fails.
    pub fn score(
        &self,
        progress: &TorchProgress,
        remaining: usize,
        tokens: &[Token],
        out: &mut [f64],
    ) -> Result<(), StepError> {
        let vocabulary = self.lookahead().hmm().vocabulary();
        // A row outside the matrix would end a program on a GPU, where nothing can catch it.
        let row = |token: &Token| if (*token as usize) < vocabulary { i64::from(*token) } else { 0 };
        let rows: Vec<i64> = tokens.iter().map(row).collect();
        let rows = Tensor::f_from_slice(&rows)?.f_to_device(self.device)?;
        self.write(progress, remaining, &self.emission.f_index_select(0, &rows)?, tokens, out)?;
        let outside = tokens.iter().zip(out).filter(|(token, _)| **token as usize >= vocabulary);
        outside.for_each(|(_, out)| *out = f64::NEG_INFINITY);
        Ok(())
    }

    /// `out[v] = log phi(v)` for every token `v`, with `remaining` tokens after it: see [`Lookahead::score_all`].
    ///
    /// # Errors
    /// When the device fails.
    pub fn score_all(
        &self,
        progress: &TorchProgress,
        remaining: usize,
        out: &mut [f64],
    ) -> Result<(), StepError> {
        let tokens: Vec<Token> = (0..self.lookahead().hmm().vocabulary() as Token).collect();
        self.write(progress, remaining, &self.emission, &tokens, out)
    }

    /// Scores the tokens whose emissions are given, row by row.
    fn write(
        &self,
        progress: &TorchProgress,
        remaining: usize,
        emission: &Tensor,
        tokens: &[Token],
        out: &mut [f64],
    ) -> Result<(), StepError> {
        let _no_gradients = tch::no_grad_guard();
        let attribute = self.lookahead().attribute();
        let edges: Vec<_> = tokens.iter().map(|token| attribute.step(progress.state, *token)).collect();
        let mut reached: Vec<usize> = edges.iter().map(|edge| edge.to).collect();
        reached.sort_unstable();
        reached.dedup();

        let mut vectors = vec![progress.predicted.shallow_clone()];
        let mut log_scales = Vec::new();
        for state in &reached {
            let (values, log_scale) = self.ahead(*state, remaining)?;
            vectors.push(progress.predicted.f_mul(&values)?);
            log_scales.push(log_scale);
        }
        let vectors = Tensor::f_stack(&vectors, 0)?;
        // The last row is the sum of each vector: what remains to expect after a token that no state emits.
        let unseen = vectors.f_sum_dim_intlist(-1_i64, false, Kind::Float)?.f_unsqueeze(0)?;
        let products = Tensor::f_cat(&[emission.f_mm(&vectors.f_tr()?)?, unseen], 0)?;
        let products = numbers(&products)?;
        let mut rows = products.chunks_exact(reached.len() + 1);
        let unseen = rows.next_back().unwrap_or_default();

        for ((edge, products), out) in edges.iter().zip(rows).zip(out) {
            let part = |row: &[f32], place: usize| row.get(place + 1).copied().map_or(0.0, f64::from);
            let whole = products.first().copied().map_or(0.0, f64::from);
            let ahead = reached.binary_search(&edge.to).ok().and_then(|place| {
                let share = if whole > 0.0 { part(products, place) / whole } else { part(unseen, place) };
                Some(share.ln() + log_scales.get(place)?)
            });
            *out = (progress.log_weight + edge.log_weight + ahead.unwrap_or(f64::NEG_INFINITY)).min(0.0);
        }
        Ok(())
    }

    /// The backward vector of a state of the automaton, and its scale.
    fn ahead(&self, state: usize, remaining: usize) -> Result<(Tensor, f64), TchError> {
        if let Some(ahead) = self.ahead.borrow().get(&(state, remaining)) {
            return Ok((ahead.values.shallow_clone(), ahead.log_scale));
        }
        let logarithms = self.lookahead().backward(state, remaining);
        let log_scale = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let relative =
            |log: &f64| if log_scale > f64::NEG_INFINITY { (log - log_scale).exp() as f32 } else { 0.0 };
        let values: Vec<f32> = logarithms.iter().map(relative).collect();
        let values = Tensor::f_from_slice(&values)?.f_to_device(self.device)?;
        let mut stored = self.ahead.borrow_mut();
        if (stored.len() + 1) * logarithms.len() * size_of::<f32>() <= STORED_BYTES {
            stored.insert((state, remaining), Ahead { values: values.shallow_clone(), log_scale });
        }
        Ok((values, log_scale))
    }
}

/// A matrix of `f32` on a device, some rows at a time.
fn matrix(
    rows: usize,
    columns: usize,
    device: Device,
    read: impl Fn(usize, &mut [f64]),
) -> Result<Tensor, TchError> {
    let matrix = Tensor::f_empty([rows as i64, columns as i64], (Kind::Float, device))?;
    let mut row = vec![0.0; columns];
    for first in (0..rows).step_by(CHUNK) {
        let last = rows.min(first + CHUNK);
        let mut values: Vec<f32> = Vec::with_capacity((last - first) * columns);
        for number in first..last {
            read(number, &mut row);
            values.extend(row.iter().map(|value| *value as f32));
        }
        let chunk = Tensor::f_from_slice(&values)?.f_view([-1, columns as i64])?;
        matrix.f_narrow(0, first as i64, (last - first) as i64)?.f_copy_(&chunk)?;
    }
    Ok(matrix)
}

/// Divides by the largest number. A row of zeros stays one.
fn divide(values: &mut [f64]) {
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        values.iter_mut().for_each(|value| *value /= largest);
    }
}
