//! A Hugging Face folder: `config.json`, and the weights in one safetensors file or several, whose tensors have
//! known names and shapes.

use super::config::{Config, Family};
use super::error::LoadError;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads `config.json`.
///
/// # Errors
/// When it is missing, or not supported.
pub fn read_config(folder: &Path) -> Result<Config, LoadError> {
    let path = folder.join("config.json");
    Config::from_json(&read(&path)?, &path)
}

/// Calls `take(name, tensor)` once for every tensor of the model, with the name of [`tensor_specs`]. Each has the shape
/// that the configuration asks for, and holds f32, f16 or bf16. Files are read one after the other, so that only one
/// is in memory at a time. Tensors that the model does not need are skipped.
///
/// # Errors
/// When a file or a tensor is missing or damaged, or has another shape or type; or when `take` fails.
pub fn read_tensors<E: From<LoadError>>(
    folder: &Path,
    config: &Config,
    mut take: impl FnMut(&str, &TensorView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut left = tensor_specs(config);
    for path in weight_files(folder)? {
        read_file(&path, &read(&path)?, config, &mut left, &mut take)?;
    }
    none_missing(&left)?;
    Ok(())
}

/// The same as [`read_tensors`], from the bytes of one safetensors file. `path` is for messages.
///
/// # Errors
/// As for [`read_tensors`].
pub fn read_tensors_from<E: From<LoadError>>(
    path: &Path,
    bytes: &[u8],
    config: &Config,
    mut take: impl FnMut(&str, &TensorView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut left = tensor_specs(config);
    read_file(path, bytes, config, &mut left, &mut take)?;
    none_missing(&left)?;
    Ok(())
}

fn none_missing(left: &[TensorSpec]) -> Result<(), LoadError> {
    match left.first() {
        None => Ok(()),
        Some(missing) => Err(LoadError::Missing { name: missing.name.clone() }),
    }
}

fn read_file<E: From<LoadError>>(
    path: &Path,
    bytes: &[u8],
    config: &Config,
    left: &mut Vec<TensorSpec>,
    take: &mut impl FnMut(&str, &TensorView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let damaged = |error: safetensors::SafeTensorError| LoadError::Weights {
        path: path.to_path_buf(),
        what: error.to_string(),
    };
    let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
    let mut still = Vec::new();
    for one in left.drain(..) {
        // Files exported from the model without its head lack the prefix.
        let bare = one.name.strip_prefix("transformer.").filter(|_| config.family == Family::Gpt2);
        let found = tensors.tensor(&one.name).ok().or_else(|| tensors.tensor(bare?).ok());
        let Some(tensor) = found else {
            still.push(one);
            continue;
        };
        check(&one, &tensor)?;
        take(&one.name, &tensor)?;
    }
    *left = still;
    Ok(())
}

fn check(spec: &TensorSpec, tensor: &TensorView<'_>) -> Result<(), LoadError> {
    if tensor.shape() != spec.shape {
        return Err(LoadError::Shape {
            name: spec.name.clone(),
            found: tensor.shape().to_vec(),
            wanted: spec.shape.clone(),
        });
    }
    if !matches!(tensor.dtype(), Dtype::F32 | Dtype::F16 | Dtype::BF16) {
        let kind = format!("{:?}", tensor.dtype());
        return Err(LoadError::Kind { name: spec.name.clone(), kind });
    }
    Ok(())
}

/// The single weights file, or the files that the index names.
fn weight_files(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let single = folder.join("model.safetensors");
    if single.is_file() {
        return Ok(vec![single]);
    }
    let index = folder.join("model.safetensors.index.json");
    if !index.is_file() {
        return Err(LoadError::NoWeights { path: folder.to_path_buf() });
    }
    let fault = |what: String| LoadError::Config { path: index.clone(), what };
    let value: Value = serde_json::from_slice(&read(&index)?).map_err(|error| fault(error.to_string()))?;
    let map = value.get("weight_map").and_then(Value::as_object);
    let map = map.ok_or_else(|| fault("it has no `weight_map`".to_owned()))?;
    let names: BTreeSet<&str> = map.values().filter_map(Value::as_str).collect();
    // A downloaded index must not name a file outside its folder.
    match names.iter().find(|name| name.contains(['/', '\\']) || name.contains("..")) {
        Some(name) => Err(fault(format!("`{name}` is no file of this folder"))),
        None => Ok(names.into_iter().map(|name| folder.join(name)).collect()),
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|error| LoadError::File { path: path.to_path_buf(), error })
}

/// One tensor of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// Its name in the file. Files of GPT-2 may leave out the leading `transformer.`.
    pub name: String,
    /// Its shape, rows first.
    pub shape: Vec<usize>,
}

/// Every tensor that a model of this configuration has, in the order of its layers.
pub fn tensor_specs(config: &Config) -> Vec<TensorSpec> {
    let mut list = SpecList(Vec::new());
    match config.family {
        Family::Gpt2 => list.gpt2(config),
        Family::Llama | Family::Qwen2 => list.llama(config),
    }
    if !config.tied {
        list.add("lm_head.weight", &[config.vocabulary, config.width]);
    }
    list.0
}

struct SpecList(Vec<TensorSpec>);

impl SpecList {
    fn add(&mut self, name: &str, shape: &[usize]) {
        self.0.push(TensorSpec { name: name.to_owned(), shape: shape.to_vec() });
    }

    /// A linear layer of `inputs` to `outputs`. GPT-2 stores it transposed.
    fn linear(&mut self, name: &str, inputs: usize, outputs: usize, transposed: bool, bias: bool) {
        let shape = if transposed { [inputs, outputs] } else { [outputs, inputs] };
        self.add(&format!("{name}.weight"), &shape);
        if bias {
            self.add(&format!("{name}.bias"), &[outputs]);
        }
    }

    fn norm(&mut self, name: &str, width: usize, bias: bool) {
        self.add(&format!("{name}.weight"), &[width]);
        if bias {
            self.add(&format!("{name}.bias"), &[width]);
        }
    }

    fn gpt2(&mut self, config: &Config) {
        let (width, inner) = (config.width, config.inner_width);
        self.add("transformer.wte.weight", &[config.vocabulary, width]);
        self.add("transformer.wpe.weight", &[config.positions, width]);
        for layer in 0..config.layers {
            let at = |part: &str| format!("transformer.h.{layer}.{part}");
            self.norm(&at("ln_1"), width, true);
            self.linear(&at("attn.c_attn"), width, 3 * width, true, true);
            self.linear(&at("attn.c_proj"), width, width, true, true);
            self.norm(&at("ln_2"), width, true);
            self.linear(&at("mlp.c_fc"), width, inner, true, true);
            self.linear(&at("mlp.c_proj"), inner, width, true, true);
        }
        self.norm("transformer.ln_f", width, true);
    }

    fn llama(&mut self, config: &Config) {
        let (width, inner) = (config.width, config.inner_width);
        let (queries, keys) = (config.query_width(), config.key_width());
        self.add("model.embed_tokens.weight", &[config.vocabulary, width]);
        for layer in 0..config.layers {
            let at = |part: &str| format!("model.layers.{layer}.{part}");
            self.norm(&at("input_layernorm"), width, false);
            self.linear(&at("self_attn.q_proj"), width, queries, false, config.query_bias);
            self.linear(&at("self_attn.k_proj"), width, keys, false, config.query_bias);
            self.linear(&at("self_attn.v_proj"), width, keys, false, config.query_bias);
            self.linear(&at("self_attn.o_proj"), queries, width, false, config.output_bias);
            self.norm(&at("post_attention_layernorm"), width, false);
            self.linear(&at("mlp.gate_proj"), width, inner, false, config.inner_bias);
            self.linear(&at("mlp.up_proj"), width, inner, false, config.inner_bias);
            self.linear(&at("mlp.down_proj"), inner, width, false, config.inner_bias);
        }
        self.norm("model.norm", width, false);
    }
}
