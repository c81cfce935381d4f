//! Distillation: the E-step against enumeration, expectation-maximisation by property, and everything that has to
//! come out the same to the bit.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod expectation;
mod files;
mod hostile;
mod likelihood;
mod rollouts;
mod rows;
mod same_bits;
mod shards;
mod start;
mod training;
