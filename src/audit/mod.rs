//! The record of what was asked, decided and done: append-only, hash-chained, free of values.
//!
//! A log is a folder of segments. Each line is one JSON object with sorted keys; its `hash` is the SHA-256
//! of the line without that key, and `previous` is the hash of the line before, through all segments, so
//! that an edit, a gap or a swap shows. A signed head, kept elsewhere, shows a cut at the end as well.
//! `spec/audit.md` has the format and says what is not detected.
//!
//! The events hold kinds, field names, origins and reasons. They have no room for a value, its length, its
//! last digits, page text or a query string.
//!
//! | module | subject |
//! |---|---|
//! | `event`, `words` | what a record can say |
//! | `record` | one line, read; the ids of sessions and logs |
//! | `canonical` | the bytes that are hashed |
//! | `chain` | the hash chain and the releases that are open at its end |
//! | `log` | where records go: the trait, and a log in memory |
//! | `folder` | a log in a folder of segments |
//! | `segment` | the files of a log |
//! | `recovery` | opening a log after a crash |
//! | `lock` | one writer, in a private folder |
//! | `head`, `note` | the signed head, and C2SP signed notes |
//! | `verify` | whether a log is whole |
//! | `problem` | what can be wrong, and where |

mod canonical;
mod chain;
mod event;
mod folder;
mod head;
mod lock;
mod log;
mod note;
mod problem;
mod record;
mod recovery;
mod segment;
mod verify;
mod words;

pub use chain::{Chain, Unfinished};
pub use event::AuditEvent;
pub use folder::{FolderLog, Opened, Opening};
pub use head::{HeadSigner, SignedHead};
pub use log::{AuditLog, MemoryLog};
pub use note::parse_key;
pub use problem::{Broken, LogError, Place, Problem};
pub use record::{LogId, Record, SessionId};
pub use segment::{Segment, segments};
pub use verify::{Report, verify, verify_on, verify_text};
pub use words::{About, Stopped, VaultAct, WouldHave};
