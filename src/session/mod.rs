//! One task, from the user's first prompt to its end.
//!
//! [`core`](self::core) is the state machine: events in, commands out, no I/O. [`driver`](self::driver)
//! carries the commands out in a browser of the guard's; [`tab`](self::tab) in a tab of the user's own.

mod asking;
mod block;
mod by_hand;
pub mod core;
pub mod driver;
mod foresee;
mod guesses;
pub(crate) mod hands;
pub(crate) mod judge;
pub(crate) mod kit;
pub(crate) mod memory;
mod opening;
pub(crate) mod outcome;
mod plan;
mod proposal;
mod release;
#[cfg(unix)]
pub mod standing;
#[cfg(unix)]
pub mod tab;
mod take_in;
mod turn;
mod way_out;
mod work;

pub use driver::{Session, SessionReport};
pub use proposal::Proposal;
