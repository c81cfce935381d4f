//! Small language models of the Llama, Qwen2 and GPT-2 families, without libtorch.
//!
//! | type | what it is |
//! |---|---|
//! | [`TransformerModel`] | a model behind [`hmm_control::LanguageModel`] |
//! | [`TransformerState`] | the keys and values of the tokens read so far; a clone is a fork |
//! | [`Config`] | the model's sizes and settings, from its `config.json` |
//! | [`Tokenizer`] | text to tokens and back, from its `tokenizer.json` |

mod attention;
mod config;
mod error;
mod files;
mod kernel;
mod model;
mod rope;
mod tokenizer;
mod weights;

pub use config::{Config, Family};
pub use error::{LoadError, StepError};
pub use files::{TensorSpec, read_config, read_tensors, read_tensors_from, tensor_specs};
pub use model::{TransformerModel, TransformerState};
pub use rope::{Rope, Scaling};
pub use tokenizer::Tokenizer;
