//! A test in a network namespace, and waiting for events there.

use std::time::{Duration, Instant};

use observer::{Network, observed};

/// The time limit of an expected event on a slow machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs the body of a test in a network namespace of its own.
pub fn in_the_network(test: &str, body: impl AsyncFnOnce(Network)) {
    observed(test, |network| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(body(network));
    });
}

/// Waits until a condition holds.
pub async fn soon(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
