//! Errors of loading a model and of a step.

use super::config::Family;
use hmm_control::Token;
use std::path::PathBuf;

/// Why a model cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that is not there, or cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: std::io::Error,
    },
    /// A folder without weights.
    #[error(
        "{} has neither `model.safetensors` nor `model.safetensors.index.json`; weights in other forms are not read",
        path.display()
    )]
    NoWeights {
        /// The folder.
        path: PathBuf,
    },
    /// A family that is not supported.
    #[error(
        "{}: the model_type is `{given}`; supported are {}",
        path.display(), Family::ALL.map(Family::name).join(", ")
    )]
    Family {
        /// The `config.json`.
        path: PathBuf,
        /// Its `model_type`.
        given: String,
    },
    /// A configuration that is not supported.
    #[error("{}: {what}", path.display())]
    Config {
        /// The `config.json`, or the list of the weights' files.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// A file of weights that is damaged.
    #[error("{} is no safetensors file: {what}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// A missing tensor.
    #[error("the tensor {name} is missing from the weights")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A tensor of another shape.
    #[error("the tensor {name} has the shape {found:?}; config.json asks for {wanted:?}")]
    Shape {
        /// Its name.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration asks for.
        wanted: Vec<usize>,
    },
    /// A tensor of a type that is not supported.
    #[error("the tensor {name} holds numbers of the kind {kind}; F32, F16 and BF16 are read")]
    Kind {
        /// Its name.
        name: String,
        /// The type.
        kind: String,
    },
    /// A `tokenizer.json` that cannot be used.
    #[error("{}: {what}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
}

/// Why a step of a model fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// A token outside the vocabulary.
    #[error("token {token} is outside the vocabulary of {vocabulary}")]
    Token {
        /// The token.
        token: Token,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
    /// A text that is too long.
    #[error("the text has {tokens} tokens, and the model reads at most {positions}")]
    TooLong {
        /// Its length.
        tokens: usize,
        /// The longest text that the model reads.
        positions: usize,
    },
    /// No token has been read that the next one could follow.
    #[error("nothing has been read: begin with at least one token (one that begins a text, say)")]
    NoTokens,
    /// The slice for the logits has another length than the vocabulary.
    #[error("there is room for {found} logits, and there are {vocabulary}")]
    Logits {
        /// Length of the slice.
        found: usize,
        /// Size of the vocabulary.
        vocabulary: usize,
    },
}
