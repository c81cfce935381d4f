//! The content of a vault: values, states of the guard and a signing key, each encrypted by itself.
//!
//! | module | subject |
//! |---|---|
//! | [`handle`] | names of records |
//! | [`binding`] | the origins that a value may go to |
//! | [`keys`] | the subkeys of a vault's data key |
//! | [`record`] | one encrypted value |
//! | [`state`] | one encrypted state of the guard |
//! | [`signing`] | the encrypted seed of the signing key |

pub(crate) mod binding;
pub(crate) mod handle;
pub(crate) mod keys;
pub(crate) mod record;
pub(crate) mod signing;
pub(crate) mod state;
