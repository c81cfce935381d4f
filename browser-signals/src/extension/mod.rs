//! The bridge of a browser extension.
//!
//! A content script in every frame runs the same scripts as the bridge over CDP, in the isolated world. What a frame
//! is, and of which origin and document, is the browser's word: the worker of the extension takes it from the
//! `sender` that the browser attaches to a message, never from the message. The state of the connection is known to
//! neither; whoever asks says what is known of it otherwise.
//!
//! | module | subject |
//! |---|---|
//! | [`framing`] | messages on a stream: a length, then JSON |
//! | [`link`] | one extension at the other end of a socket: questions and answers |
//! | `consent` | a question to the person, on the extension's own page |
//! | `report` | the frames of a tab, as the browser names them |
//! | `forms` | reports as snapshots |
//! | `text` | reports as an outline |
//! | `filling` | a sealed fill as the one message that holds values |

mod consent;
mod filling;
mod forms;
pub mod framing;
pub mod link;
mod report;
mod text;

pub use forms::snapshots;
pub use link::{Decided, ExtensionError, ExtensionLink, TabText, View};
pub use report::Malformed;
pub use text::outline;
