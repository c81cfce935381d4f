//! From files to documents.
//!
//! | module | subject |
//! |---|---|
//! | `files` | JSON lines, comma-separated values, plain lines |
//! | `gather` | reading those collections that a folder has |
//! | [`ordinary`] | what stands on ordinary pages |
//! | [`scam`] | messages that want money or secrets by a story, and ordinary ones |
//! | [`toxicity`] | insults, hate, threats, lewdness and requests for harm, and ordinary talk |
//! | `injection` | instructions to an agent, by themselves and in carriers |
//! | `carriers` | texts that those are inserted in |
//! | `benign` | harmless texts, and those that sound like instructions |
//! | `phrases` | lines of our own, with alternatives |
//! | `read` | reading the files that the last three need |

mod benign;
mod carriers;
mod files;
mod gather;
mod injection;
pub mod ordinary;
mod phrases;
mod read;
pub mod scam;
pub mod toxicity;

pub use benign::benign;
pub use gather::{Corpus, SourceError};
pub use injection::injection;
pub use read::CorpusError;
