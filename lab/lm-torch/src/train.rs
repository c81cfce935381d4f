//! A model whose weights can be trained.

use crate::error::LoadError;
use crate::forward::{Rotary, attention, hidden_states};
use crate::model::{TorchModel, check_device, on_device};
use crate::weights::{NamedTensors, Weights};
use language_models::transformer::{Config, read_config, read_tensors, tensor_specs};
use std::fs;
use std::path::Path;
use tch::{Device, Kind, TchError, Tensor, nn};

/// The standard deviation of initial weights.
const SPREAD: f64 = 0.02;

/// A model with gradients: the variables have the names of the Hugging Face file, in f32.
///
/// Initial weights are drawn from libtorch's own generator: call [`tch::manual_seed`] first. The optimisers of
/// [`tch::nn`] take [`Trainable::variables`].
///
/// ```
/// use lm_torch::tch::{self, Device, Kind, Tensor, nn::OptimizerConfig};
/// use lm_torch::{Config, Trainable};
///
/// tch::manual_seed(1);
/// let model = Trainable::new(Config::small_llama(16, 8, 1, 2, 32), Device::Cpu)?;
/// let mut optimiser = tch::nn::AdamW::default().build(model.variables(), 0.02)?;
/// let text = Tensor::from_slice(&[1_i64, 2, 3, 4, 1, 2, 3, 4, 1]).view([1, 9]);
/// let (read, next) = (text.narrow(1, 0, 8), text.narrow(1, 1, 8));
/// let loss = || -> Result<Tensor, tch::TchError> {
///     let logits = model.logits(&read)?; // [batch, token, vocabulary]
///     Ok(logits.flatten(0, 1).cross_entropy_for_logits(&next.flatten(0, 1)))
/// };
/// let before = loss()?.double_value(&[]);
/// for _ in 0..20 {
///     optimiser.backward_step(&loss()?);
/// }
/// assert!(loss()?.double_value(&[]) < before / 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainable {
    config: Config,
    variables: nn::VarStore,
    weights: Weights,
    rotary: Option<Rotary>,
}

impl Trainable {
    /// An untrained model: small random weights, gains of 1, biases of 0.
    ///
    /// # Errors
    /// When the device is missing, or lacks memory.
    pub fn new(config: Config, device: Device) -> Result<Trainable, LoadError> {
        check_device(device)?;
        let variables = nn::VarStore::new(device);
        // Output projections start smaller the more layers there are, as in GPT-2.
        let deep = SPREAD / (2.0 * config.layers as f64).sqrt();
        for one in tensor_specs(&config) {
            let shape: Vec<i64> = one.shape.iter().map(|size| *size as i64).collect();
            let init = match one.shape.len() {
                1 if one.name.ends_with(".bias") => nn::Init::Const(0.0),
                1 => nn::Init::Const(1.0),
                _ if is_output_projection(&one.name) => nn::Init::Randn { mean: 0.0, stdev: deep },
                _ => nn::Init::Randn { mean: 0.0, stdev: SPREAD },
            };
            let (path, name) = place(&variables, &one.name);
            let _shared = path.f_var(&name, &shape, init)?;
        }
        Trainable::of(config, variables)
    }

    /// A model from a Hugging Face folder, for further training.
    ///
    /// # Errors
    /// As for [`TorchModel::load`].
    pub fn load(folder: &Path, device: Device) -> Result<Trainable, LoadError> {
        check_device(device)?;
        let config = read_config(folder)?;
        let variables = nn::VarStore::new(device);
        read_tensors(folder, &config, |full, view| {
            let (path, name) = place(&variables, full);
            let _shared = path.add(&name, on_device(view, device, Kind::Float)?, true);
            Ok::<_, LoadError>(())
        })?;
        Trainable::of(config, variables)
    }

    fn of(config: Config, variables: nn::VarStore) -> Result<Trainable, LoadError> {
        let weights = Weights::new(&config, &variables.variables())?;
        let rotary = match weights.positions {
            Some(_) => None,
            None => Some(Rotary::new(&config, variables.device(), Kind::Float)?),
        };
        Ok(Trainable { config, variables, weights, rotary })
    }

    /// Its sizes and settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The variables, by the names of the file.
    pub fn variables(&self) -> &nn::VarStore {
        &self.variables
    }

    /// The variables for changes: to freeze, copy or load them.
    pub fn variables_mut(&mut self) -> &mut nn::VarStore {
        &mut self.variables
    }

    /// The logits after every token of every text, `[batch, token, vocabulary]`, from tokens `[batch, token]` (64-bit
    /// integers). Texts of a batch do not see each other. Gradients flow unless the caller has switched them off.
    ///
    /// # Errors
    /// When libtorch fails: another shape, a token outside the vocabulary, a text that is too long.
    pub fn logits(&self, tokens: &Tensor) -> Result<Tensor, TchError> {
        let hidden = self.hidden(tokens)?;
        hidden.f_linear(&self.weights.head, None::<&Tensor>)
    }

    /// The hidden states after the last norm, `[batch, token, width]`.
    ///
    /// # Errors
    /// As for [`Trainable::logits`].
    pub fn hidden(&self, tokens: &Tensor) -> Result<Tensor, TchError> {
        let (batch, length) = tokens.size2()?;
        let tokens = tokens.f_to_device(self.variables.device())?.f_flatten(0, 1)?;
        let positions =
            Tensor::f_arange(length, (Kind::Int64, self.variables.device()))?.f_repeat([batch])?;
        let hidden = hidden_states(
            &self.config,
            &self.weights,
            self.rotary.as_ref(),
            &tokens,
            &positions,
            |_, heads| -> Result<Tensor, TchError> {
                let texts = |rows: &Tensor| rows.f_unflatten(0, [batch, length])?.f_transpose(1, 2);
                let attended =
                    attention(&texts(&heads.queries)?, &texts(&heads.keys)?, &texts(&heads.values)?)?;
                attended.f_flatten(0, 1)
            },
        )?;
        hidden.f_unflatten(0, [batch, length])
    }

    /// Writes `config.json` and `model.safetensors`, the numbers in `kind` (half the size in [`Kind::Half`]).
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path, kind: Kind) -> Result<(), LoadError> {
        let config = folder.join("config.json");
        let fault =
            |error: std::io::Error| LoadError::Write { path: config.clone(), what: error.to_string() };
        fs::create_dir_all(folder).map_err(fault)?;
        fs::write(&config, self.config.to_json()).map_err(fault)?;
        let _no_gradients = tch::no_grad_guard();
        let mut tensors = Vec::new();
        for (name, tensor) in self.variables.variables() {
            tensors.push((name, tensor.f_to_device(Device::Cpu)?.f_to_kind(kind)?.f_contiguous()?));
        }
        tensors.sort_by(|one, other| one.0.cmp(&other.0));
        Tensor::write_safetensors(&tensors, folder.join("model.safetensors"))?;
        Ok(())
    }

    /// The model as it is now, for decoding. The weights are copied.
    ///
    /// # Errors
    /// When memory is lacking.
    pub fn to_model(&self, kind: Kind) -> Result<TorchModel, LoadError> {
        let _no_gradients = tch::no_grad_guard();
        let mut named = NamedTensors::new();
        for (name, tensor) in self.variables.variables() {
            named.insert(name, tensor.f_detach()?.f_to_dtype(kind, false, true)?);
        }
        TorchModel::of(self.config.clone(), &named, self.variables.device(), kind)
    }
}

fn is_output_projection(name: &str) -> bool {
    ["c_proj.weight", "o_proj.weight", "down_proj.weight"].iter().any(|end| name.ends_with(end))
}

/// The path of a dotted name, and its last part.
fn place<'a>(variables: &'a nn::VarStore, full: &str) -> (nn::Path<'a>, String) {
    let mut path = variables.root();
    let (parts, name) = full.rsplit_once('.').unwrap_or(("", full));
    for part in parts.split('.').filter(|part| !part.is_empty()) {
        path = path.sub(part);
    }
    (path, name.to_owned())
}
