//! What leaves the browser, seen from outside: every look-up, datagram and connection of a page that attacks in
//! every kind of frame and worker, in a network of its own. See `spec/attacks.md`.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod attacks;
mod claims;
mod guarded;
mod launches;
mod pages;
mod plain;
mod site;

use std::time::{Duration, Instant};

use observer::{Network, observed};

/// How long a slow machine may take for what should come.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs the body of a test in a network of its own.
fn in_the_network(test: &str, body: impl AsyncFnOnce(Network)) {
    observed(test, |network| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(body(network));
    });
}

/// Waits until a condition holds.
async fn soon(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
