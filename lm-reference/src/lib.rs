//! Small language models of the Llama, Qwen2 and GPT-2 families in plain Rust.
//!
//! | type | what it is |
//! |---|---|
//! | [`ReferenceModel`] | a model that reads and writes tokens, behind [`hmm_control::LanguageModel`] |
//! | [`ReferenceState`] | what it has read: keys and values, forked by cloning |
//! | [`Config`] | what a model looks like, from its `config.json` |
//! | [`Tokenizer`] | text to tokens and back, from its `tokenizer.json` |

mod attention;
mod cache;
mod config;
mod error;
mod folder;
mod kernel;
mod model;
mod rope;
mod rotary;
mod tensors;
mod tokenizer;
mod weights;

pub use config::{Config, Family};
pub use error::{LoadError, StepError};
pub use folder::{read_config, read_tensors, read_tensors_from};
pub use model::{ReferenceModel, ReferenceState};
pub use rope::{Rope, Scaling};
pub use tensors::{Wanted, wanted};
pub use tokenizer::Tokenizer;
