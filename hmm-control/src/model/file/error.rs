//! The forms of model files, and the errors of reading and writing them.

use crate::ModelError;
use std::fmt;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Ours.
    Portcullis,
    /// TRACE's: tensors `alpha_exp`, `beta`, `gamma_exp`.
    Trace,
    /// Ctrl-G's: tensors `alpha_exp`, `beta`, `gamma`.
    CtrlG,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Portcullis => "Portcullis",
            Form::Trace => "TRACE",
            Form::CtrlG => "Ctrl-G",
        })
    }
}

/// Why a model file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Bytes that are not a safetensors file.
    #[error("this is no safetensors file: {reason}")]
    NotSafetensors {
        /// The reason.
        reason: String,
    },
    /// Another length than the header states.
    #[error("the header speaks of {expected} bytes, but there are {found}: {}", length_reason(*.expected, *.found))]
    Length {
        /// Bytes by the header.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// A PyTorch archive, which may run code when it is loaded.
    #[error(
        "this is a PyTorch archive, which is not read here; convert it in Python: `import torch; \
         from safetensors.torch import save_file; save_file(torch.load('pytorch_model.bin', map_location='cpu', \
         weights_only=True), 'model.safetensors')`"
    )]
    PyTorch,
    /// A safetensors file that holds something else.
    #[error(
        "no model that is known here: ours has the format `portcullis-hmm`, TRACE's the tensors `alpha_exp`, `beta` \
         and `gamma_exp`, Ctrl-G's `alpha_exp`, `beta` and `gamma`; the file has {found}"
    )]
    UnknownForm {
        /// The tensors of the file.
        found: String,
    },
    /// A published model where one of ours was asked for.
    #[error("this is a model of {form}; import it first, with the storages that it shall have")]
    Published {
        /// Its form.
        form: Form,
    },
    /// Our form where a published model was asked for.
    #[error("this is a model of our own form, which needs no import")]
    NotPublished,
    /// Written by a later program.
    #[error("this is version {found} of the format; version `1` is read here")]
    Version {
        /// The version.
        found: String,
    },
    /// A required entry of the header.
    #[error("the header's `{key}` is {found}, but {expected} was expected")]
    Metadata {
        /// Its name.
        key: String,
        /// Its value.
        found: String,
        /// The expected value.
        expected: String,
    },
    /// A missing tensor.
    #[error("tensor `{tensor}` is missing; the file has {found}")]
    Missing {
        /// The tensor.
        tensor: &'static str,
        /// The tensors of the file.
        found: String,
    },
    /// A tensor of another shape.
    #[error("tensor `{tensor}` has the shape {found}, but {expected} was expected")]
    Shape {
        /// The tensor.
        tensor: &'static str,
        /// Its shape.
        found: String,
        /// The expected value.
        expected: String,
    },
    /// A tensor of another type.
    #[error("tensor `{tensor}` holds numbers of type {found}, but {expected} was expected")]
    Type {
        /// The tensor.
        tensor: &'static str,
        /// Its type in safetensors.
        found: String,
        /// The expected value.
        expected: String,
    },
    /// An invalid scale.
    #[error(
        "tensor `{tensor}`, row {row}, holds {value}: a scale is a finite number of at least 0, and 0 only where the \
         row is nothing but zeros"
    )]
    Scale {
        /// The tensor.
        tensor: &'static str,
        /// The row.
        row: usize,
        /// The scale.
        value: f32,
    },
    /// The text of `config.json` is invalid, or describes another model.
    #[error("config.json: {reason}")]
    Config {
        /// The reason.
        reason: String,
    },
    /// The numbers do not make a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The notes of a model are too long to be written.
    #[error("the header with its notes would take {found} bytes; at most {limit} are allowed")]
    Notes {
        /// Bytes that they take.
        found: usize,
        /// Bytes that they may take.
        limit: usize,
    },
    /// The writer failed.
    #[error("the model could not be written: {0}")]
    Write(#[source] std::io::Error),
}

fn length_reason(expected: usize, found: usize) -> &'static str {
    if found < expected { "the file is cut short" } else { "something was appended" }
}
