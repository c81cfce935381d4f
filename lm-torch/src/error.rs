//! What can go wrong.

use std::path::PathBuf;

/// Why a model cannot be loaded or saved.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder, its configuration or its weights.
    #[error(transparent)]
    Folder(#[from] lm_reference::LoadError),
    /// What libtorch says.
    #[error("libtorch: {0}")]
    Torch(#[from] tch::TchError),
    /// A file that cannot be written.
    #[error("cannot write {}: {what}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// There is no such device here.
    #[error("there is no CUDA device {0} that this libtorch can use: take the CPU, or a libtorch for CUDA")]
    Device(usize),
}

/// Why a model cannot read on.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The tokens, or the room for logits.
    #[error(transparent)]
    Input(#[from] lm_reference::StepError),
    /// What libtorch says.
    #[error("libtorch: {0}")]
    Torch(#[from] tch::TchError),
    /// Another step on the same keys and values failed half-way.
    #[error("the keys and values are damaged by a step that failed; begin anew")]
    Damaged,
}
