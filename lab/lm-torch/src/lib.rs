//! Language models of the GPT-2, Llama and Qwen2 families on libtorch.
//!
//! | type | what it is |
//! |---|---|
//! | [`TorchModel`] | a model that reads and writes tokens, behind [`hmm_control::LanguageModel`] |
//! | [`TorchState`] | what it has read: keys and values, forked by cloning |
//! | [`TorchController`] | the control of `hmm_control`, its look-ahead on a device of libtorch |
//! | [`TorchProgress`] | its progress in one text |
//! | [`Trainable`] | the same model with gradients: from a batch of tokens to logits |
//! | [`preference`] | the loss of direct preference optimisation |
//!
//! Files are read as Hugging Face writes them, by [`language_models::transformer`], which also has the tokenizer and
//! runs the same models, more slowly, without libtorch. The package is not a default member of the workspace: `cargo xtask setup
//! --torch` gets the library that it needs.
//!
//! A virtual machine may announce instructions that it does not have. A model in 16 bits then ends the program with an
//! illegal instruction, inside libtorch, where nothing can catch it; `ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16` in the
//! environment keeps libtorch from trying.

mod cache;
mod control;
mod error;
mod forward;
mod model;
pub mod preference;
mod train;
mod weights;

pub use control::{TorchController, TorchProgress};
pub use error::{LoadError, StepError};
pub use language_models::transformer::{Config, Family, Tokenizer};
pub use model::{TorchModel, TorchState};
pub use tch;
pub use train::Trainable;
