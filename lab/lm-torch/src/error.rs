//! Errors of loading, saving and of a step.

use std::path::PathBuf;

/// Why a model cannot be loaded or saved.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder, its configuration or its weights.
    #[error(transparent)]
    Folder(#[from] language_models::transformer::LoadError),
    /// An error of libtorch.
    #[error("libtorch: {0}")]
    Torch(#[from] tch::TchError),
    /// A file that cannot be written.
    #[error("cannot write {}: {what}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// A CUDA device that is not available.
    #[error("there is no CUDA device {0} that this libtorch can use: take the CPU, or a libtorch for CUDA")]
    Device(usize),
}

/// Why a step of a model fails.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The tokens or the slice for the logits are invalid.
    #[error(transparent)]
    Input(#[from] language_models::transformer::StepError),
    /// The logits cannot be controlled.
    #[error(transparent)]
    Control(#[from] hmm_control::ControlError),
    /// An error of libtorch.
    #[error("libtorch: {0}")]
    Torch(#[from] tch::TchError),
    /// Another step on the same keys and values failed midway.
    #[error("the keys and values are damaged by a step that failed; begin anew")]
    Damaged,
}
