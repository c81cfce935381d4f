//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data themselves are
//! not part of the project.
//!
//! | module | subject |
//! |---|---|
//! | [`collections`] | assembles the folder of the collections from clones of their sources |
//! | [`corpora`] | from files to documents |
//! | `document` | [`Document`], [`CorpusPart`]: texts, what is known of them, and the parts of a corpus |
//! | [`fit`] | from documents to a model |
//! | [`metrics`] | what a judgement is worth: ranking, thresholds, calibration, intervals |
//! | [`judging`] | a model judged by source and by disguise |
//! | [`report`] | what was measured, as tables and pictures |
//! | [`recipe`] | how each shipped model is made |
//! | [`pages`] | whole pages put together from texts |
//! | [`personal_data`] | the detectors of personal data judged |
//! | [`token_attribute`] | weights of token attributes, for the look-ahead |
//! | [`secret_vectors`] | made-up secrets, and what looks like them |
//! | [`obfuscation`] | texts rewritten as an attacker hides them |

pub mod collections;
pub mod corpora;
mod document;
pub mod fit;
pub mod judging;
pub mod metrics;
pub mod obfuscation;
pub mod pages;
pub mod personal_data;
pub mod recipe;
pub mod report;
pub mod secret_vectors;
pub mod token_attribute;

pub(crate) use document::Split;
pub use document::{CorpusPart, Document, hash};
pub use recipe::{TrainError, Trained, train_injection};
