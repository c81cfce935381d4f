//! Searches for values that must not be there.
//!
//! Tests plant values that occur nowhere else, canaries, and search every output for them: logs, traces,
//! errors, files, the DOM, memory images. This crate is for tests and for experiments that count leaks; no
//! program that guards anything depends on it.
//!
//! ```
//! use canary::{Canaries, assert_none};
//!
//! let canaries = Canaries::from_seed(7);
//! let card = canaries.value("card_number").unwrap_or_default(); // what the program under test is given
//! let log = "card kept as card:personal"; // and what it wrote
//! assert_none(&canaries.in_text("the log", log));
//! assert_eq!(canaries.in_text("the log", &format!("kept {card}")).len(), 1);
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`canaries`] | random values of every field's shape |
//! | [`text`] | a value in a text, in any encoding |
//! | [`bytes`] | values in bytes: plain, UTF-16, and parts of them |
//! | [`places`] | texts, files, folders and memory images; what was seen where |

pub mod bytes;
pub mod canaries;
pub mod places;
pub mod text;

pub use canaries::Canaries;
pub use places::{Sighting, assert_none};
pub use text::{Encoding, find};
