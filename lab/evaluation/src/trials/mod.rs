//! One trial: an agent does one task in a browser, with a guard or without, and the servers' records are judged.
//!
//! | module | subject |
//! |---|---|
//! | [`approach`] | the approaches that are compared |
//! | [`arm`] | the arms of the factorial experiment |
//! | [`ablation`] | approach B without one of its parts |
//! | [`asking`] | how often the user is asked, from never to always |
//! | [`agents`] | the agents that are compared |
//! | [`stage`] | everything that a trial needs: servers, bank, browser |
//! | [`unguarded`] | a trial in a bare browser |
//! | [`guarded`] | a trial under the guard, and the searches that follow |
//! | [`user_browser`] | a trial in the user's own browser with the extension (Unix) |
//! | [`user`] | a simulated user, who makes more errors the more often they are asked |
//! | [`judge`] | success, hijacks and leaks of one trial |
//! | [`paired`] | two interfaces compared on the same tasks |

pub mod ablation;
pub mod agents;
pub mod approach;
pub mod arm;
pub mod asking;
mod error;
pub mod guarded;
pub mod judge;
pub mod paired;
pub mod stage;
pub mod taken;
pub mod unguarded;
pub mod user;
#[cfg(unix)]
pub mod user_browser;

pub use approach::Approach;
pub use error::EvaluationError;
