//! The names that policies, automata and decisions share. This room depends on no other.

pub mod alphabet;
pub(crate) mod event;
pub(crate) mod outcome;
pub(crate) mod reason;
mod reason_words;
