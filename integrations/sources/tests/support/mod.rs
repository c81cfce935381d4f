//! Helpers of the tests: what a grant wants, a plain client of the protocol, a peer that can lie, and the real program.

#![allow(dead_code, missing_docs)]

pub mod grant;
pub mod mock;
pub mod plain;
pub mod real;

use std::time::Duration;

use credential_sources::keepassxc::Association;
use tokio::time::Instant;

/// The key of the fixture's association: 32 bytes of 7.
pub const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

pub fn association() -> Association {
    Association::from_bytes(format!("keepassxc-1:{KEY}:guard").as_bytes()).ok().unwrap()
}

pub fn in_ms(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms)
}

pub fn origin(text: &str) -> browser_signals::Origin {
    browser_signals::Origin::parse(text).unwrap()
}
