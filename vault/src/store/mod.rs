//! The vault in memory: how it is made, opened, changed and saved. No value leaves it here.
//!
//! | module | subject |
//! |---|---|
//! | [`unlock_key`] | the key that opens a vault without its passphrase |
//! | [`task`] | the values of one task, and the slots of tasks at the same time |
//! | [`vault`] | making, unlocking, saving and locking a vault; another passphrase, another data key |
//! | [`values`] | adding and removing values, states of the guard, signatures |

pub(crate) mod task;
pub(crate) mod unlock_key;
pub(crate) mod values;
pub(crate) mod vault;
