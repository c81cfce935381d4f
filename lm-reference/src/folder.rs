//! A Hugging Face folder: `config.json`, and the weights in one safetensors file or several.

use crate::config::{Config, Family};
use crate::error::LoadError;
use crate::tensors::{Wanted, wanted};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads `config.json`.
///
/// # Errors
/// When it is not there, or asks for what is not offered.
pub fn read_config(folder: &Path) -> Result<Config, LoadError> {
    let path = folder.join("config.json");
    Config::from_json(&read(&path)?, &path)
}

/// Hands over every tensor of the model, once: `take(name, tensor)` with the name of [`wanted`]. Each has the shape
/// that the configuration asks for, and holds f32, f16 or bf16. Files are read one after the other, so that one of
/// several is in memory at a time. Tensors that the model does not need are left alone.
///
/// # Errors
/// When a file or a tensor is missing or damaged, has another shape, or holds other numbers; or what `take` says.
pub fn read_tensors<E: From<LoadError>>(
    folder: &Path,
    config: &Config,
    mut take: impl FnMut(&str, &TensorView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut left = wanted(config);
    for path in weight_files(folder)? {
        read_file(&path, &read(&path)?, config, &mut left, &mut take)?;
    }
    none_missing(&left)?;
    Ok(())
}

/// As [`read_tensors`], from the bytes of one safetensors file. `path` is for messages.
///
/// # Errors
/// As for [`read_tensors`].
pub fn read_tensors_from<E: From<LoadError>>(
    path: &Path,
    bytes: &[u8],
    config: &Config,
    mut take: impl FnMut(&str, &TensorView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut left = wanted(config);
    read_file(path, bytes, config, &mut left, &mut take)?;
    none_missing(&left)?;
    Ok(())
}

fn none_missing(left: &[Wanted]) -> Result<(), LoadError> {
    match left.first() {
        None => Ok(()),
        Some(missing) => Err(LoadError::Missing { name: missing.name.clone() }),
    }
}

fn read_file<E: From<LoadError>>(
    path: &Path,
    bytes: &[u8],
    config: &Config,
    left: &mut Vec<Wanted>,
    take: &mut impl FnMut(&str, &TensorView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let damaged = |error: safetensors::SafeTensorError| LoadError::Weights {
        path: path.to_path_buf(),
        what: error.to_string(),
    };
    let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
    let mut still = Vec::new();
    for one in left.drain(..) {
        // Files that were exported from the bare model lack the prefix.
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

fn check(wanted: &Wanted, tensor: &TensorView<'_>) -> Result<(), LoadError> {
    if tensor.shape() != wanted.shape {
        return Err(LoadError::Shape {
            name: wanted.name.clone(),
            found: tensor.shape().to_vec(),
            wanted: wanted.shape.clone(),
        });
    }
    if !matches!(tensor.dtype(), Dtype::F32 | Dtype::F16 | Dtype::BF16) {
        let kind = format!("{:?}", tensor.dtype());
        return Err(LoadError::Kind { name: wanted.name.clone(), kind });
    }
    Ok(())
}

/// The one file, or those that the index names.
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
    // A downloaded index names no file outside its folder.
    match names.iter().find(|name| name.contains(['/', '\\']) || name.contains("..")) {
        Some(name) => Err(fault(format!("`{name}` is no file of this folder"))),
        None => Ok(names.into_iter().map(|name| folder.join(name)).collect()),
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|error| LoadError::File { path: path.to_path_buf(), error })
}
