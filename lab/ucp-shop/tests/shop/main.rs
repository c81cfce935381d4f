//! A client that orders from the shop: honest orders, the rules for repeated calls and for states, mandates, and each way in which the
//! shop can cheat or break. Each test looks at the ledger.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod behaviours;
mod client;
mod mandates;
mod ordering;
mod orders;
mod repeated;
mod schema;
mod states;
