//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data themselves are
//! not part of the project.
//!
//! | module | subject |
//! |---|---|
//! | [`metrics`] | what a judgement is worth: ranking, thresholds, calibration, intervals |
//! | [`obfuscation`] | texts rewritten as an attacker hides them |

pub mod metrics;
pub mod obfuscation;
