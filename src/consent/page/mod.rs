//! The consent page: a page of the guard's own that asks the user.
//!
//! The guard serves it on the loopback address and opens it in a browser of its own, never in the agent's browser, where
//! the agent could press its buttons. `spec/consent.md` lists the attackers and the defences.
//!
//! | module | subject |
//! |---|---|
//! | [`message`] | the messages of the page's script, as bytes |
//! | `answerer` | the page as an answerer, and the trait of its window |
//! | `question` | the one question that is open now, and its one answer |
//! | `content` | the words on the page |
//! | `channel` | receiving the script's messages from any transport |
//! | `listener` | the loopback listener: which requests it serves |

/// It is public for the fuzzer.
#[doc(hidden)]
pub mod message;

#[cfg(feature = "browser")]
mod answerer;
#[cfg(feature = "browser")]
mod channel;
#[cfg(feature = "browser")]
mod content;
#[cfg(feature = "browser")]
mod listener;
#[cfg(feature = "browser")]
mod question;

#[cfg(feature = "browser")]
pub use answerer::{ConsentPage, OpenError, OpenFuture, Opener, PageSettings, Window};
#[cfg(feature = "browser")]
pub use channel::{ChannelError, PageChannel};
