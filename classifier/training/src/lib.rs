//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data themselves are
//! not part of the project.
//!
//! | module | subject |
//! |---|---|
//! | `document` | [`Document`], [`Part`]: texts, what is known of them, and the parts of a corpus |
//! | [`fit`] | from documents to a model |

mod document;
pub mod fit;

pub use document::{Document, Part, hash};
