//! Reads the collections, and makes documents of them.
//!
//! | module | subject |
//! |---|---|
//! | `read` | reading the folder of the data |
//! | `phrases` | lines of our own, with alternatives |
//! | `carriers` | texts into which attacks are inserted |
//! | `benign` | harmless texts |
//! | `injection` | attacks, by themselves and in carriers |
//! | `mentions` | texts about attacks, which quote some, and instructions that pose as such texts |
//! | `gather` | reading the collections that a folder contains |
//! | [`honest`] | honest pages, with their parts by source |
//! | `html` | reading an HTML document as text |
//! | [`ordinary`] | text of ordinary pages |
//! | [`scam`] | messages that ask for money or secrets under a pretext, and ordinary ones |
//! | [`toxicity`] | insults, hate, threats, lewdness and requests for harm, and ordinary talk |

mod benign;
mod carriers;
mod gather;
pub mod honest;
mod html;
mod injection;
mod mentions;
pub mod ordinary;
mod phrases;
mod read;
pub mod scam;
pub mod toxicity;

pub use benign::{benign, own};
pub use gather::{Corpus, SourceError};
pub use html::{PageText, read_html};
pub use injection::injection;
pub use mentions::{MENTIONED, contexts};
pub use read::CorpusError;
pub(crate) use read::{json, records, text};
