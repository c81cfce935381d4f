//! The bridge of a browser extension.
//!
//! A content script in every frame runs the same scripts as the bridge over CDP, in the isolated world. The frame, its
//! origin and its document are those of the browser: the worker of the extension takes them from the `sender` that the
//! browser attaches to a message, never from the message. Neither knows the TLS state; the caller provides it.
//!
//! | module | subject |
//! |---|---|
//! | [`framing`] | messages on a stream: a length, then JSON |
//! | `link` | the connection to one extension: requests and answers |
//! | `tab` | the requests: looking at the tab in front, filling it, restricting its egress, asking the user |
//! | `error` | why the extension did not carry out a request |
//! | `report` | the frames of a tab, as the browser names them |
//! | `forms` | reports as snapshots |
//! | `text` | reports as an outline |
//! | [`wire`] | the requests, and the words of their answers |
//! | `filling` | a sealed fill as the one message that holds values |

mod error;
mod filling;
mod forms;
pub mod framing;
mod link;
mod report;
mod tab;
mod text;
pub mod wire;

pub use error::ExtensionError;
pub use forms::snapshots;
pub use link::ExtensionLink;
pub use report::Malformed;
pub use tab::{Decided, TabText, View};
pub use text::outline;
