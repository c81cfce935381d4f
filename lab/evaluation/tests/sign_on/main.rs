//! Logins over several pages, and over the site of an identity provider, in a real browser. Each attack succeeds without the guard,
//! by the same steps.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod agent;
mod hostile;
mod provider;
mod sites;
mod steps;
#[path = "../support/tls_sites.rs"]
mod tls_sites;
