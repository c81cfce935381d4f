//! The model: from tokens to logits.

use crate::cache::{Cache, LayerCache};
use crate::error::{LoadError, StepError};
use crate::forward::{Heads, Rotary, attention, hidden_states};
use crate::weights::{NamedTensors, Weights};
use hmm_control::{Lane, LanguageModel, Token};
use language_models::transformer::{Config, StepError as InputError, read_config, read_tensors};
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;
use tch::{Cuda, Device, Kind, TchError, Tensor};

/// A language model on libtorch.
///
/// One model serves any number of texts; [`LanguageModel::step_batch`] reads the weights once for all of its lanes. The
/// number of threads is libtorch's own setting for the whole program, [`tch::set_num_threads`].
pub struct TorchModel {
    config: Config,
    weights: Weights,
    rotary: Option<Rotary>,
    device: Device,
    kind: Kind,
}

/// The state of a text. A clone is a fork: it shares keys and values until both continue; then the second copies those
/// of the common part, once.
#[derive(Clone)]
pub struct TorchState {
    cache: Cache,
    hidden: Vec<f32>,
}

impl TorchState {
    /// How many tokens were read.
    pub fn tokens(&self) -> usize {
        self.cache.length()
    }
}

impl TorchModel {
    /// Loads a Hugging Face folder: `config.json`, and `model.safetensors` or several files with their index. The
    /// numbers are kept as `kind`: [`Kind::Float`], [`Kind::BFloat16`] (half the memory; logits differ in the second
    /// or third digit) or [`Kind::Half`].
    ///
    /// # Errors
    /// When a file or a tensor is missing, the family is not supported, a shape is wrong, or the device is missing.
    pub fn load(folder: &Path, device: Device, kind: Kind) -> Result<TorchModel, LoadError> {
        check_device(device)?;
        let config = read_config(folder)?;
        let mut named = NamedTensors::new();
        read_tensors(folder, &config, |name, view| {
            named.insert(name.to_owned(), on_device(view, device, kind)?);
            Ok::<_, LoadError>(())
        })?;
        TorchModel::of(config, &named, device, kind)
    }

    pub(crate) fn of(
        config: Config,
        named: &NamedTensors,
        device: Device,
        kind: Kind,
    ) -> Result<TorchModel, LoadError> {
        let weights = Weights::new(&config, named)?;
        let rotary = match weights.positions {
            Some(_) => None,
            None => Some(Rotary::new(&config, device, kind)?),
        };
        Ok(TorchModel { config, weights, rotary, device, kind })
    }

    /// Its sizes and settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The device that it runs on.
    pub fn device(&self) -> Device {
        self.device
    }

    fn check(&self, lane: &Lane<'_, TorchState>) -> Result<(), InputError> {
        let (vocabulary, positions) = (self.config.vocabulary, self.config.positions);
        if lane.logits.len() != vocabulary {
            return Err(InputError::Logits { found: lane.logits.len(), vocabulary });
        }
        if let Some(&token) = lane.tokens.iter().find(|token| **token as usize >= vocabulary) {
            return Err(InputError::Token { token, vocabulary });
        }
        let tokens = lane.state.tokens() + lane.tokens.len();
        match tokens {
            0 => Err(InputError::NoTokens),
            _ if tokens > positions => Err(InputError::TooLong { tokens, positions }),
            _ => Ok(()),
        }
    }

    /// Reads the tokens of every lane and updates their hidden states.
    fn read(&self, lanes: &mut [Lane<'_, TorchState>]) -> Result<(), StepError> {
        let mut spans = Vec::new();
        let (mut tokens, mut positions): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        for lane in lanes.iter_mut().filter(|lane| !lane.tokens.is_empty()) {
            let (first, past, count) = (tokens.len(), lane.state.tokens(), lane.tokens.len());
            let layers = lane.state.cache.extend(&self.config, self.device, self.kind, count)?;
            tokens.extend(lane.tokens.iter().map(|token| i64::from(*token)));
            positions.extend((past..past + count).map(|position| position as i64));
            spans.push(Span { first: first as i64, count: count as i64, past, layers });
        }
        if spans.is_empty() {
            return Ok(());
        }
        let on_device = |numbers: &[i64]| Tensor::f_from_slice(numbers)?.f_to_device(self.device);
        let (tokens, positions) = (on_device(&tokens)?, on_device(&positions)?);
        let (config, weights) = (&self.config, &self.weights);
        let hidden: Result<Tensor, StepError> =
            hidden_states(config, weights, self.rotary.as_ref(), &tokens, &positions, |layer, heads| {
                let attended = spans.iter().map(|span| span.attend(layer, &heads));
                let attended = attended.collect::<Result<Vec<Tensor>, StepError>>()?;
                match attended.as_slice() {
                    [one] => Ok(one.shallow_clone()),
                    all => Ok(Tensor::f_cat(all, 0)?),
                }
            });
        let rows: Vec<i64> = spans.iter().map(|span| span.first + span.count - 1).collect();
        let hidden = hidden?.f_index_select(0, &on_device(&rows)?)?;
        let hidden = numbers(&hidden)?;
        let states = lanes.iter_mut().filter(|lane| !lane.tokens.is_empty());
        for (lane, hidden) in states.zip(hidden.chunks_exact(self.config.width)) {
            lane.state.hidden.clear();
            lane.state.hidden.extend_from_slice(hidden);
        }
        Ok(())
    }

    /// The logits that follow every lane's hidden state.
    fn write_logits(&self, lanes: &mut [Lane<'_, TorchState>]) -> Result<(), StepError> {
        let hidden: Vec<f32> = lanes.iter().flat_map(|lane| lane.state.hidden.iter().copied()).collect();
        let hidden = Tensor::f_from_slice(&hidden)?.f_view([lanes.len() as i64, -1])?;
        let hidden = hidden.f_to_device(self.device)?.f_to_kind(self.kind)?;
        let logits = numbers(&hidden.f_linear(&self.weights.head, None::<&Tensor>)?)?;
        for (lane, logits) in lanes.iter_mut().zip(logits.chunks_exact(self.config.vocabulary)) {
            lane.logits.copy_from_slice(logits);
        }
        Ok(())
    }
}

/// The rows of one lane.
struct Span {
    first: i64,
    count: i64,
    past: usize,
    layers: Vec<LayerCache>,
}

impl Span {
    /// The attention of these rows over their whole text, `[row, heads * head width]`.
    fn attend(&self, layer: usize, heads: &Heads) -> Result<Tensor, StepError> {
        let ours = |rows: &Tensor| -> Result<Tensor, TchError> {
            rows.f_narrow(0, self.first, self.count)?.f_unsqueeze(0)?.f_transpose(1, 2)
        };
        let cache = self.layers.get(layer).ok_or(StepError::Damaged)?;
        let (keys, values) = cache.write(self.past, &ours(&heads.keys)?, &ours(&heads.values)?)?;
        Ok(attention(&ours(&heads.queries)?, &keys, &values)?.f_squeeze_dim(0)?)
    }
}

impl LanguageModel for TorchModel {
    type State = TorchState;
    type Error = StepError;

    fn vocabulary(&self) -> usize {
        self.config.vocabulary
    }

    fn end(&self) -> Option<Token> {
        self.config.ends.first().copied()
    }

    fn start(&self) -> TorchState {
        TorchState { cache: Cache::new(), hidden: Vec::new() }
    }

    fn step(&self, state: &mut TorchState, tokens: &[Token], logits: &mut [f32]) -> Result<(), StepError> {
        self.step_batch(&mut [Lane { state, tokens, logits }])
    }

    fn step_batch(&self, lanes: &mut [Lane<'_, TorchState>]) -> Result<(), StepError> {
        lanes.iter().try_for_each(|lane| self.check(lane))?;
        if lanes.is_empty() {
            return Ok(());
        }
        let _no_gradients = tch::no_grad_guard();
        self.read(lanes)?;
        self.write_logits(lanes)
    }

    fn features<'a>(&self, state: &'a TorchState) -> Option<&'a [f32]> {
        (!state.hidden.is_empty()).then_some(&state.hidden)
    }
}

pub fn check_device(device: Device) -> Result<(), LoadError> {
    match device {
        Device::Cuda(number) if !Cuda::is_available() || number as i64 >= Cuda::device_count() => {
            Err(LoadError::Device(number))
        }
        _ => Ok(()),
    }
}

/// Moves a tensor of a file to a device and converts it to a kind.
pub fn on_device(view: &TensorView<'_>, device: Device, kind: Kind) -> Result<Tensor, TchError> {
    let shape: Vec<i64> = view.shape().iter().map(|size| *size as i64).collect();
    let stored = match view.dtype() {
        Dtype::F16 => Kind::Half,
        Dtype::BF16 => Kind::BFloat16,
        _ => Kind::Float,
    };
    Tensor::f_from_data_size(view.data(), &shape, stored)?.f_to_device(device)?.f_to_kind(kind)
}

/// A tensor's numbers, row by row.
pub(crate) fn numbers(tensor: &Tensor) -> Result<Vec<f32>, TchError> {
    let tensor = tensor.f_to_kind(Kind::Float)?.f_to_device(Device::Cpu)?.f_contiguous()?;
    let mut numbers = vec![0.0; tensor.numel()];
    let count = numbers.len();
    tensor.f_copy_data(&mut numbers, count)?;
    Ok(numbers)
}
