//! The user's own password managers, as sources of a vault ([`vault::sources`]).
//!
//! A source is asked once a release is granted, and its answer is checked before it is kept: nothing here decides what may go where.
//!
//! | module | subject |
//! |---|---|
//! | [`keepassxc`] | KeePassXC, by the socket that it opens for browsers; on Unix |
//! | [`pass`] | `pass`, a folder of files that GnuPG decrypts; on Unix |

#[cfg(unix)]
pub mod keepassxc;
#[cfg(unix)]
pub mod pass;

/// The program in the README compiles.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
mod readme {}
