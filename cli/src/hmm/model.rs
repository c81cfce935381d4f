//! The model file that a command reads.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hmm_control::{ImportOptions, ModelFile, Storage, map_file};

use super::byte_pair::{Encoding, Tokenizer};
use crate::failure::Failure;

/// Reads a model: ours is mapped into memory, a published one (TRACE's, Ctrl-G's) is converted with the `config.json`
/// next to it.
pub fn open(path: &Path) -> Result<ModelFile, Failure> {
    let bad = |error: String| Failure::Input(format!("{}: {error}", path.display()));
    let bytes = map_file(path).map_err(|error| Failure::Input(error.to_string()))?;
    let config = std::fs::read_to_string(path.with_file_name("config.json")).ok();
    let options = ImportOptions { config: config.as_deref(), ..ImportOptions::default() };
    let (file, _) = ModelFile::open(bytes, &options).map_err(|error| bad(error.to_string()))?;
    Ok(file)
}

/// The tokenizer of a model: the one that its metadata names, otherwise the one with as many tokens.
pub fn tokenizer(file: &ModelFile) -> Option<Tokenizer> {
    let named = file.notes.get("tokenizer");
    let fits = |encoding: &Encoding| match named {
        Some(name) => encoding.name() == name,
        None => encoding.vocabulary() == file.hmm.vocabulary(),
    };
    Encoding::ALL.into_iter().find(fits).map(Tokenizer::new)
}

/// The storage format of numbers.
#[derive(Clone, Copy, ValueEnum)]
pub enum StorageName {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// 16-bit floats with a wider range and less precision.
    Bf16,
    /// 8 bits.
    Bits8,
}

impl StorageName {
    pub fn storage(self) -> Storage {
        match self {
            StorageName::F32 => Storage::F32,
            StorageName::F16 => Storage::F16,
            StorageName::Bf16 => Storage::Bf16,
            StorageName::Bits8 => Storage::Bits8,
        }
    }
}

/// The model of a command.
#[derive(clap::Args)]
pub struct Model {
    /// The model: a safetensors file in our format, or as the programs of TRACE and Ctrl-G save it.
    pub model: PathBuf,
}
