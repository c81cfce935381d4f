//! From files to documents.
//!
//! | module | subject |
//! |---|---|
//! | `read` | reading the folder of the data |
//! | `phrases` | lines of our own, with alternatives |
//! | `carriers` | texts that attacks are inserted in |
//! | `benign` | harmless texts |
//! | `injection` | attacks, by themselves and in carriers |

mod benign;
mod carriers;
mod injection;
mod phrases;
mod read;

pub use benign::benign;
pub use injection::injection;
pub use read::CorpusError;
