//! A shop, a guard and an attacker with the shop's checkout and the guard's mandates in their hands. Each attack has a control: the same
//! without the change is accepted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod differences;
mod library;
mod parties;
mod tampering;
