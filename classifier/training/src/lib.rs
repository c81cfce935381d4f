//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data themselves are
//! not part of the project.
//!
//! | module | subject |
//! |---|---|
//! | `document` | [`Document`], [`Part`]: texts, what is known of them, and the parts of a corpus |
//! | [`corpora`] | the collections that models are trained and judged on |
//! | [`fit`] | from documents to a model |
//! | [`metrics`] | what a judgement is worth: ranking, thresholds, calibration, intervals |
//! | [`recipe`] | how the models of scam and toxicity are made |
//! | `injection` | [`train_injection`]: how the model of injections is made |
//! | [`obfuscation`] | texts rewritten as an attacker hides them |

pub mod corpora;
mod document;
pub mod fit;
mod injection;
pub mod metrics;
pub mod obfuscation;
pub mod recipe;

pub use document::{Document, Part, hash};
pub use injection::{TrainError, Trained, train_injection};
