//! The destination of goods: an agent against real forms in a real browser, guarded and not. Each attack succeeds
//! without the guard, by the same steps.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics fails")]

mod ablation;
mod disk;
#[path = "../support/drawn.rs"]
mod drawn;
mod forms;
mod forwarding;
mod honest;
mod hostile;
mod registration;
mod safety;
mod saved_login;
mod second_factor;
mod shop;
mod sources;
mod steps;
#[path = "../support/tls_sites.rs"]
mod tls_sites;
