//! Passwords that the guard makes for new accounts.
//!
//! | module | subject |
//! |---|---|
//! | [`rules`] | the rules of a form about its new password |
//! | `pattern` | the attribute `pattern` as automata |
//! | `automaton` | all rules as one automaton, and the number of passwords that it accepts |
//! | [`recipe`] | the choice of length and characters, and the making of a password |
//! | `keep` | the record of a made password in the vault, before it is sent |

mod automaton;
mod keep;
mod pattern;
mod recipe;
mod rules;

pub(crate) use keep::Made;
pub use keep::MakeError;
pub use recipe::{Recipe, WEAK_BELOW};
pub use rules::NewPasswordRules;

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "a test may fail")]
mod tests;
