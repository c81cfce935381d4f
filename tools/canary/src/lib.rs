//! Searches for values that must not have leaked.
//!
//! Tests plant canaries, which are values that occur nowhere else, and search every output for them: logs, traces,
//! errors, files, the DOM, memory images. This crate is only for tests and for experiments that count leaks.
//!
//! ```
//! use canary::{Canaries, assert_none};
//!
//! let canaries = Canaries::from_seed(7);
//! let card = canaries.value("card_number").unwrap_or_default(); // the input of the program under test
//! let log = "card kept as card:personal"; // its output
//! assert_none(&canaries.in_text("the log", log));
//! assert_eq!(canaries.in_text("the log", &format!("kept {card}")).len(), 1);
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`canaries`] | random values of every field's shape |
//! | [`text`] | a value in a text, in any encoding |
//! | [`bytes`] | values in bytes: plain, UTF-16, and parts of them |
//! | [`sightings`] | canaries in texts, files, folders and memory images |

pub mod bytes;
pub mod canaries;
pub mod sightings;
pub mod text;

pub use canaries::Canaries;
pub use sightings::{Sighting, assert_none};
pub use text::{Encoding, find};
