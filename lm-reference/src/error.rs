//! What can go wrong.

use crate::config::Family;
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
        /// What the system says.
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
    /// A family that is not understood.
    #[error(
        "{}: the model_type is `{given}`; supported are {}",
        path.display(), Family::ALL.map(Family::name).join(", ")
    )]
    Family {
        /// The `config.json`.
        path: PathBuf,
        /// What it says.
        given: String,
    },
    /// A configuration that cannot be met.
    #[error("{}: {what}", path.display())]
    Config {
        /// The `config.json`, or the list of the weights' files.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file of weights that is damaged.
    #[error("{} is no safetensors file: {what}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A tensor that is not there.
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
    /// A tensor of numbers that are not read.
    #[error("the tensor {name} holds numbers of the kind {kind}; F32, F16 and BF16 are read")]
    Kind {
        /// Its name.
        name: String,
        /// The kind.
        kind: String,
    },
    /// A `tokenizer.json` that cannot be used.
    #[error("{}: {what}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Why a model cannot read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// A token that there is not.
    #[error("token {token} is outside the vocabulary of {vocabulary}")]
    Token {
        /// The token.
        token: Token,
        /// Tokens that there are.
        vocabulary: usize,
    },
    /// A text that is too long.
    #[error("the text has {tokens} tokens, and the model reads at most {positions}")]
    Long {
        /// Its length.
        tokens: usize,
        /// The most that the model reads.
        positions: usize,
    },
    /// There is nothing for a token to follow.
    #[error("nothing has been read: begin with at least one token (one that begins a text, say)")]
    Nothing,
    /// Room for another number of logits.
    #[error("there is room for {found} logits, and there are {vocabulary}")]
    Logits {
        /// The room.
        found: usize,
        /// Tokens that there are.
        vocabulary: usize,
    },
}
