//! Runs of the evaluation's parts: agents, shops, orders by wire, third-party tasks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod agent;
mod agentdojo;
mod agentdyn;
mod commands;
#[path = "../support/drawn.rs"]
mod drawn;
mod horizon;
mod own_vault;
mod shop;
mod trust;
mod unguarded;
mod wire;
