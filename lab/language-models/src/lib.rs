//! Small language models in plain Rust, behind [`hmm_control::LanguageModel`].
//!
//! | module | what it is |
//! |---|---|
//! | [`ngram`] | n-grams over several corpora: trained in seconds, used where no neural model is available |
//! | [`transformer`] | models of the Llama, Qwen2 and GPT-2 families, read from their Hugging Face folders |
//!
//! No clock, no global state; randomness is an argument. Only [`transformer`] reads files.

pub mod ngram;
pub mod transformer;
