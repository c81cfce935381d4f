//! What the evaluation does and counts: agents, shops, orders by wire, tasks of others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod agent;
mod agentdojo;
mod horizon;
mod own_vault;
mod shop;
mod trust;
mod unguarded;
mod wire;
