//! Commands to a bridge.

pub mod seal;
pub mod verb;
