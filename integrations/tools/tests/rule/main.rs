//! Each test plants what an attacker could write into a result, and has beside it the honest result with which the same call is covered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics fails")]

mod attacks;
mod content;
mod support;
mod things;
