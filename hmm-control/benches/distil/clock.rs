//! The CPU time of this thread.

/// The CPU time of this thread, in seconds.
#[cfg(unix)]
pub fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The wall time, since the system has no such clock.
#[cfg(not(unix))]
pub fn seconds() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}
