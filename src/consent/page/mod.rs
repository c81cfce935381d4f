//! A page of the guard's own that asks the user.
//!
//! The guard serves it on the loopback address and opens it in a browser of its own, never in the agent's:
//! whoever drives a browser can press every button in it. `spec/consent.md` says what holds against whom.
//!
//! | module | subject |
//! |---|---|
//! | [`message`] | what the page's script says, as bytes |
//! | [`opener`] | where the page is opened |
//! | `answerer` | the page as whoever answers |
//! | `desk` | the one question that is asked now, and its one answer |
//! | `words` | the words on the page |
//! | `hearing` | what the page's script says, whoever carries it here |
//! | `listener` | who is answered, and with what |

pub mod message;
#[cfg(feature = "browser")]
pub mod opener;

#[cfg(feature = "browser")]
mod answerer;
#[cfg(feature = "browser")]
mod desk;
#[cfg(feature = "browser")]
mod hearing;
#[cfg(feature = "browser")]
mod listener;
#[cfg(feature = "browser")]
mod words;

#[cfg(feature = "browser")]
pub use answerer::{ConsentPage, PageSettings};
#[cfg(feature = "browser")]
pub use hearing::{Hearing, Unheard};
