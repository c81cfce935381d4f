//! A hostile page tries to get more out of a purchase than the user agreed to, under approach C, in a real browser.
//! Each attack succeeds without a guard: by the same page and the same steps, with a wallet that pays every request.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod attacks;
#[path = "../support/drawn.rs"]
mod drawn;
mod runs;
mod shop;
mod wallet;
