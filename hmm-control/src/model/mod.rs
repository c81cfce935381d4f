//! The hidden Markov model, its matrices, filtering, and model files.

mod belief;
mod error;
mod file;
mod hmm;
mod matrix;
mod products;
mod vector;

pub use belief::Belief;
pub use error::ModelError;
pub use file::{FileError, Form, ImportOptions, ImportReport, ModelFile, Renormalised};
#[cfg(feature = "map")]
pub use file::{MapError, map_file};
pub use hmm::Hmm;
pub use matrix::{Matrix, SharedBytes};
pub(crate) use products::Batch;
pub use products::Precision;
pub(crate) use vector::{Scaled, multiply};
