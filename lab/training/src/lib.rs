//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data are not part of
//! the project, and [`collections`] assembles them.
//!
//! | module | subject |
//! |---|---|
//! | [`collections`] | assembles the folder of the collections from clones of their sources |
//! | [`corpora`] | reads the collections, and makes documents of them |
//! | [`by_page`] | the risk of a whole page, and thresholds by page |
//! | `document` | [`Document`], [`CorpusPart`]: texts with their labels, and the parts of a corpus |
//! | [`fit`] | fits a model to documents |
//! | [`metrics`] | measures: ranking, thresholds, calibration, intervals |
//! | [`judging`] | judges a model by source and by disguise |
//! | [`report`] | measurements as tables and pictures |
//! | [`recipe`] | the recipe of each shipped model |
//! | [`pages`] | whole pages put together from texts |
//! | [`personal_data`] | judges the detectors of personal data |
//! | [`steered_toxicity`] | the experiment that steers a language model by the shipped attribute of toxicity |
//! | [`token_attribute`] | weights of token attributes, for the look-ahead |
//! | [`secret_vectors`] | made-up secrets, and strings that look like them |
//! | [`obfuscation`] | rewrites texts as an attacker hides them |

pub mod by_page;
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
pub mod steered_toxicity;
pub mod token_attribute;

pub(crate) use document::Split;
pub use document::{CorpusPart, Document, hash};
