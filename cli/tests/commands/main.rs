//! The commands of `portcullis`: their output, their errors, and their exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod arguments;
mod audit;
mod doctor;
mod forms;
#[cfg(unix)]
mod home;
#[cfg(unix)]
mod init;
mod linked;
mod manual;
mod policy;
mod scrub;
mod sirl;
#[cfg(unix)]
mod site;
mod small_models;
mod suggest;
#[cfg(unix)]
mod vault;
