//! The user's own password managers, as sources of a vault ([`vault::sources`]).
//!
//! A source is asked once a release is granted, and its answer is checked before it is kept: nothing here decides what may go where.
//!
//! | module | subject |
//! |---|---|
//! | [`agent_access`] | a device of the user's, by Bitwarden's Agent Access; on Unix |
//! | [`bitwarden`] | Bitwarden, by its command line; on Unix |
//! | [`keepassxc`] | KeePassXC, by the socket that it opens for browsers; on Unix |
//! | [`one_password`] | 1Password, by its command line; on Unix |
//! | [`pass`] | `pass`, a folder of files that GnuPG decrypts; on Unix |
//! | [`secret_service`] | the system's keyring, by the freedesktop Secret Service; on Linux |
//!
//! Inside: `json` (secret strings in an answer) and `program` (the output of another program).

#[cfg(unix)]
pub mod agent_access;
#[cfg(unix)]
pub mod bitwarden;
#[cfg(unix)]
mod json;
#[cfg(unix)]
pub mod keepassxc;
#[cfg(unix)]
pub mod one_password;
#[cfg(unix)]
pub mod pass;
#[cfg(unix)]
mod program;
#[cfg(target_os = "linux")]
pub mod secret_service;

/// The program in the README compiles.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
mod readme {}
