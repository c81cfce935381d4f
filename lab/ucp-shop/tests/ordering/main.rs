//! Orders by the guard's client at the shop, honest and not: what is bought, how often, and what the client says of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod behaviours;
mod buyer;
mod crashes;
mod lost;
