//! Keys, encryption, and the memory that holds secrets. No other module calls a cipher.
//!
//! | module | subject |
//! |---|---|
//! | [`memory`] | pages that are locked, left out of core dumps and wiped |
//! | [`secret`] | a secret that a caller gives to the vault |
//! | [`cipher`] | randomness, keys, authenticated encryption, hashes |
//! | [`padded`] | texts that are encrypted at a padded length |
//! | [`kdf`] | the key of a passphrase |

pub(crate) mod cipher;
pub(crate) mod kdf;
pub(crate) mod memory;
pub(crate) mod padded;
pub(crate) mod secret;
