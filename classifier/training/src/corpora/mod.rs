//! From files to documents.
//!
//! | module | subject |
//! |---|---|
//! | `files` | JSON lines, comma-separated values, plain lines |
//! | `gather` | reading those collections that a folder has |
//! | [`ordinary`] | what stands on ordinary pages |
//! | [`scam`] | messages that want money or secrets by a story, and ordinary ones |
//! | [`toxicity`] | insults, hate, threats, lewdness and requests for harm, and ordinary talk |

mod files;
mod gather;
pub mod ordinary;
pub mod scam;
pub mod toxicity;

pub use gather::{Corpus, SourceError};
