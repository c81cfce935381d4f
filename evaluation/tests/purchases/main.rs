//! A hostile page tries to get more out of a purchase than the user agreed to, under approach C, in a real browser. Each attack
//! succeeds where nothing is guarded: by the same page and the same steps, with a wallet that pays what it is asked for.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod attacks;
mod runs;
mod shop;
mod wallet;
