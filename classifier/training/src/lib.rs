//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data themselves are
//! not part of the project.
//!
//! | module | subject |
//! |---|---|
//! | [`corpora`] | from files to documents |
//! | `document` | [`Document`], [`Part`]: texts, what is known of them, and the parts of a corpus |
//! | [`fit`] | from documents to a model |
//! | `injection` | [`train_injection`]: the model of injections |
//! | [`metrics`] | what a judgement is worth: ranking, thresholds, calibration, intervals |
//! | [`obfuscation`] | texts rewritten as an attacker hides them |

pub mod corpora;
mod document;
pub mod fit;
mod injection;
pub mod metrics;
pub mod obfuscation;

pub use document::{Document, Part, hash};
pub use injection::{TrainError, Trained, train_injection};
