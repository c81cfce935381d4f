//! Files that survive a crash: on a simulated disk that loses power, and on the real one.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

#[path = "../storage_support/mod.rs"]
mod storage_support;

mod crash;
mod folder;
mod kill;
mod login_folder;
mod simulated;
mod vault_file;
