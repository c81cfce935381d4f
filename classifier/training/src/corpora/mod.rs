//! From files to documents.
//!
//! | module | subject |
//! |---|---|
//! | `read` | reading the folder of the data |
//! | `phrases` | lines of our own, with alternatives |
//! | `carriers` | texts that attacks are inserted in |
//! | `benign` | harmless texts |
//! | `injection` | attacks, by themselves and in carriers |
//! | `mentions` | texts about attacks, which quote some, and orders that pose as such texts |
//! | `gather` | reading those collections that a folder has, be they few |
//! | [`ordinary`] | what stands on ordinary pages |
//! | [`scam`] | messages that want money or secrets by a story, and ordinary ones |
//! | [`toxicity`] | insults, hate, threats, lewdness and requests for harm, and ordinary talk |

mod benign;
mod carriers;
mod gather;
mod injection;
mod mentions;
pub mod ordinary;
mod phrases;
mod read;
pub mod scam;
pub mod toxicity;

pub use benign::{benign, own};
pub use gather::{Corpus, SourceError};
pub use injection::injection;
pub use mentions::{MENTIONED, contexts};
pub use read::CorpusError;
pub(crate) use read::records;
