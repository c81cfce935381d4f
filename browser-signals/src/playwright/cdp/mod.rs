//! The browser's protocol (CDP).
//!
//! | module | subject |
//! |---|---|
//! | `session` | sessions within the one browser session |
//! | `attach` | targets as they attach (frames, workers, refused popups), and the events of their sessions |

mod attach;
pub(crate) mod session;
