//! The audit log of questions, decisions and actions: append-only, hash-chained, free of values.
//!
//! A log is a folder of segments. Each line is one JSON object with sorted keys; its `hash` is the SHA-256 of the line
//! without that key, and `previous` is the hash of the line before, across all segments. So an edit, a gap or a swap is
//! detected. A signed head that is stored elsewhere also reveals a truncated log. `spec/audit.md` describes the format
//! and the limits of detection.
//!
//! The events hold kinds, field names, origins and reasons. They have no room for a value, its length, its last digits,
//! page text or a query string.
//!
//! | module | subject |
//! |---|---|
//! | `event` | the events that a record can hold |
//! | `vocabulary` | the closed lists of words in events |
//! | `record` | one line of a log, its canonical form, and the ids of sessions and logs |
//! | `chain` | the hash chain, and the releases that are open at its end |
//! | `log` | the trait of a log, and a log in memory |
//! | `folder` | a log in a folder of segments |
//! | `opening` | opening a folder: privacy, the writer's lock, the state after a crash |
//! | `segment` | the files of a log |
//! | `head`, `note` | the signed head, and C2SP signed notes |
//! | `verify` | checking that a log is complete and unchanged |
//! | `problem` | the problems that a check finds, and their positions |

mod chain;
mod event;
mod folder;
mod head;
mod log;
mod note;
mod opening;
mod problem;
mod record;
mod segment;
mod verify;
mod vocabulary;

pub use chain::{Chain, UnfinishedRelease};
pub use event::AuditEvent;
pub use folder::{FolderLog, LogOptions, OpenedLog};
pub use head::{HeadSigner, SignedHead};
pub use log::{AuditLog, MemoryLog};
pub use note::parse_key;
pub use problem::{Broken, LogError, Problem, RecordPosition};
pub use record::{LogId, Record, SessionId};
pub use segment::{Segment, segments};
pub use verify::{Report, verify, verify_on, verify_text};
pub use vocabulary::{AuditSubject, BlockedByBrowser, VaultAct, WouldHave};
