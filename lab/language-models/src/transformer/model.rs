//! The model: from tokens to logits.

use super::attention::{Cache, attend};
use super::config::Config;
use super::error::{LoadError, StepError};
use super::files::{read_config, read_tensors, read_tensors_from};
use super::kernel::{gelu, multiply_transposed, silu};
use super::rope::Rotary;
use super::weights::{Layer, NamedTensors, Weights};
use hmm_control::{Lane, LanguageModel, Token};
use ndarray::{Array2, ArrayView2, Axis, Slice};
use std::path::Path;

/// A language model in plain Rust, in f32, on one thread.
///
/// It is meant for models of some million parameters, which it runs at about memory bandwidth; it keeps four bytes per
/// parameter. [`LanguageModel::step_batch`] reads the weights once for all of its lanes.
///
/// ```no_run
/// use hmm_control::LanguageModel;
/// use language_models::transformer::{TransformerModel, Tokenizer};
/// # use std::path::Path;
///
/// let folder = Path::new("models/agent");
/// let (model, tokenizer) = (TransformerModel::load(folder)?, Tokenizer::load(folder)?);
/// let mut logits = vec![0.0; model.vocabulary()];
/// let mut state = model.start();
/// model.step(&mut state, &tokenizer.encode("The page says")?, &mut logits)?;
/// let fork = state.clone(); // shares the keys and values
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct TransformerModel {
    config: Config,
    weights: Weights,
    rotary: Option<Rotary>,
}

/// The state of a text. A clone is a fork and costs a few pointers: pages of keys and values are shared, and the last
/// one is copied when it is next written.
#[derive(Clone)]
pub struct TransformerState {
    cache: Cache,
    hidden: Vec<f32>,
}

impl TransformerState {
    /// How many tokens were read.
    pub fn tokens(&self) -> usize {
        self.cache.length()
    }
}

impl TransformerModel {
    /// Loads a Hugging Face folder: `config.json`, and `model.safetensors` or several files with their index.
    ///
    /// # Errors
    /// When a file or a tensor is missing, the family is not supported, or a shape is wrong.
    pub fn load(folder: &Path) -> Result<TransformerModel, LoadError> {
        let config = read_config(folder)?;
        let mut named = NamedTensors::default();
        read_tensors(folder, &config, |name, view| named.insert(name, view))?;
        TransformerModel::of(config, named)
    }

    /// A model from the bytes of its safetensors file, one built into a program, say.
    ///
    /// # Errors
    /// As for [`TransformerModel::load`].
    pub fn from_bytes(config: Config, safetensors: &[u8]) -> Result<TransformerModel, LoadError> {
        let mut named = NamedTensors::default();
        let path = Path::new("the weights");
        read_tensors_from(path, safetensors, &config, |name, view| named.insert(name, view))?;
        TransformerModel::of(config, named)
    }

    fn of(config: Config, named: NamedTensors) -> Result<TransformerModel, LoadError> {
        let weights = named.into_weights(&config)?;
        let rotary = || Rotary::new(&config.rope, config.head_width, config.positions);
        let rotary = weights.positions.is_none().then(rotary);
        Ok(TransformerModel { config, weights, rotary })
    }

    /// Its sizes and settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn check(&self, lane: &Lane<'_, TransformerState>) -> Result<(), StepError> {
        let (vocabulary, positions) = (self.config.vocabulary, self.config.positions);
        if lane.logits.len() != vocabulary {
            return Err(StepError::Logits { found: lane.logits.len(), vocabulary });
        }
        if let Some(&token) = lane.tokens.iter().find(|token| **token as usize >= vocabulary) {
            return Err(StepError::Token { token, vocabulary });
        }
        let tokens = lane.state.tokens() + lane.tokens.len();
        match tokens {
            0 => Err(StepError::NoTokens),
            _ if tokens > positions => Err(StepError::TooLong { tokens, positions }),
            _ => Ok(()),
        }
    }

    /// Reads the tokens of every lane and updates their hidden states.
    fn read(&self, lanes: &mut [Lane<'_, TransformerState>]) {
        let mut spans = Vec::new();
        let mut embedded = Vec::new();
        for lane in lanes.iter_mut().filter(|lane| !lane.tokens.is_empty()) {
            let past = lane.state.tokens();
            let first = embedded.len() / self.config.width;
            lane.state.cache.extend(&self.config, lane.tokens.len());
            self.embed(lane.tokens, past, &mut embedded);
            spans.push(Span { cache: &mut lane.state.cache, first, count: lane.tokens.len(), past });
        }
        let width = self.config.width;
        let Ok(mut rows) = Array2::from_shape_vec((embedded.len() / width, width), embedded) else { return };
        for (number, layer) in self.weights.layers.iter().enumerate() {
            let attended = self.attention(number, layer, rows.view(), &mut spans);
            rows += &layer.output.apply(attended.view());
            rows += &feed_forward(layer, layer.before_inner.apply(rows.view()).view());
        }
        let ends: Vec<usize> = spans.iter().map(|span| span.first + span.count - 1).collect();
        let hidden = self.weights.last.apply(rows.select(Axis(0), &ends).view());
        let states = lanes.iter_mut().filter(|lane| !lane.tokens.is_empty());
        for (lane, hidden) in states.zip(hidden.rows()) {
            lane.state.hidden.clear();
            lane.state.hidden.extend(hidden);
        }
    }

    fn embed(&self, tokens: &[Token], past: usize, rows: &mut Vec<f32>) {
        let table = self.weights.tokens.as_slice().unwrap_or_default();
        let places = self.weights.positions.as_ref().and_then(|places| places.as_slice());
        let width = self.config.width;
        let row = |table: &[f32], number: usize| {
            table.get(number * width..(number + 1) * width).map(<[f32]>::to_vec).unwrap_or_default()
        };
        for (token, position) in tokens.iter().zip(past..) {
            let mut sum = row(table, *token as usize);
            if let Some(places) = places {
                sum.iter_mut().zip(row(places, position)).for_each(|(sum, place)| *sum += place);
            }
            rows.extend(sum);
        }
    }

    /// The attention of each row over its whole text, one query head after the other.
    fn attention(
        &self,
        number: usize,
        layer: &Layer,
        rows: ArrayView2<'_, f32>,
        spans: &mut [Span<'_>],
    ) -> Array2<f32> {
        let rows = layer.before_attention.apply(rows);
        let mut queries = layer.queries.apply(rows.view());
        let mut keys = layer.keys.apply(rows.view());
        let values = layer.values.apply(rows.view());
        let mut attended = Array2::zeros(queries.raw_dim());
        for span in spans {
            let ours = Slice::from(span.first..span.first + span.count);
            let mut queries = queries.slice_axis_mut(Axis(0), ours);
            let mut keys = keys.slice_axis_mut(Axis(0), ours);
            let values = values.slice_axis(Axis(0), ours);
            let places = (span.past..).zip(queries.rows_mut()).zip(keys.rows_mut()).zip(values.rows());
            for (((position, mut query), mut key), value) in places {
                let (Some(query), Some(key)) = (query.as_slice_mut(), key.as_slice_mut()) else { continue };
                if let Some(rotary) = &self.rotary {
                    rotary.rotate(position, query);
                    rotary.rotate(position, key);
                }
                span.cache.write(&self.config, number, position, key, value.to_slice().unwrap_or_default());
            }
            let attended = attended.slice_axis_mut(Axis(0), ours);
            attend(&self.config, number, span.cache, span.past, queries.view(), attended);
        }
        attended
    }

    /// The logits that follow every lane's hidden state.
    fn write_logits(&self, lanes: &mut [Lane<'_, TransformerState>]) {
        let hidden: Vec<f32> = lanes.iter().flat_map(|lane| lane.state.hidden.iter().copied()).collect();
        let Ok(hidden) = Array2::from_shape_vec((lanes.len(), self.config.width), hidden) else { return };
        let head = self.weights.head.as_ref().unwrap_or(&self.weights.tokens);
        let mut logits = Array2::zeros((lanes.len(), self.config.vocabulary));
        multiply_transposed(hidden.view(), head.view(), logits.view_mut());
        for (lane, logits) in lanes.iter_mut().zip(logits.rows()) {
            lane.logits.iter_mut().zip(logits).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The rows of one lane, and where their keys and values go.
struct Span<'a> {
    cache: &'a mut Cache,
    first: usize,
    count: usize,
    past: usize,
}

fn feed_forward(layer: &Layer, rows: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut wide = layer.widen.apply(rows);
    match &layer.gate {
        None => wide.mapv_inplace(gelu),
        Some(gate) => wide.zip_mut_with(&gate.apply(rows), |wide, gate| *wide *= silu(*gate)),
    }
    layer.narrow.apply(wide.view())
}

impl LanguageModel for TransformerModel {
    type State = TransformerState;
    type Error = StepError;

    fn vocabulary(&self) -> usize {
        self.config.vocabulary
    }

    fn end(&self) -> Option<Token> {
        self.config.ends.first().copied()
    }

    fn start(&self) -> TransformerState {
        TransformerState { cache: Cache::default(), hidden: Vec::new() }
    }

    fn step(
        &self,
        state: &mut TransformerState,
        tokens: &[Token],
        logits: &mut [f32],
    ) -> Result<(), StepError> {
        self.step_batch(&mut [Lane { state, tokens, logits }])
    }

    fn step_batch(&self, lanes: &mut [Lane<'_, TransformerState>]) -> Result<(), StepError> {
        lanes.iter().try_for_each(|lane| self.check(lane))?;
        self.read(lanes);
        self.write_logits(lanes);
        Ok(())
    }

    fn features<'a>(&self, state: &'a TransformerState) -> Option<&'a [f32]> {
        (!state.hidden.is_empty()).then_some(&state.hidden)
    }
}
