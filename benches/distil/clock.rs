//! The CPU time of this thread, where the system tells it.

/// Seconds that this thread has computed.
#[cfg(unix)]
pub fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Where there is no such clock, the wall's.
#[cfg(not(unix))]
pub fn seconds() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}
