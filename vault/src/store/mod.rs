//! The vault in memory: how it is made, opened, changed and saved. No value leaves it here.
//!
//! | module | subject |
//! |---|---|
//! | [`unlock_key`] | the key that opens a vault without its passphrase |
//! | [`vault`] | making, unlocking, saving and locking a vault |
//! | [`rekey`] | another passphrase, another data key |
//! | [`values`] | adding and removing values, for good or for one task |
//! | [`states`] | states of the guard, and signatures |

pub(crate) mod rekey;
pub(crate) mod states;
pub(crate) mod unlock_key;
pub(crate) mod values;
pub(crate) mod vault;
