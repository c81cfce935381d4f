//! Decisions: the verdicts of compiled policies, their texts, and their allocations.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../benches/policy/ours.rs"]
mod ours;
#[path = "../../benches/decide/random.rs"]
mod random;
#[path = "../../../benches/policy/sample.rs"]
mod sample;

mod allocations;
mod checkout;
mod decide;
mod lazy;
mod loopback;
mod provider;
mod reasons;
mod redeem;
mod restore;
mod sign_on;
mod text;
mod verbs;
