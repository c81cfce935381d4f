//! The CPU time of this thread, where the system tells it.

use std::time::Instant;

/// A moment, by the clock that only runs while this thread does.
pub struct Cpu {
    nanoseconds: Option<u64>,
    wall: Instant,
}

impl Cpu {
    /// What the times are.
    pub const UNIT: &str =
        if cfg!(target_os = "linux") { "times are CPU times" } else { "times are wall times" };

    /// Now.
    pub fn now() -> Cpu {
        Cpu { nanoseconds: on_cpu(), wall: Instant::now() }
    }

    /// Seconds since then.
    pub fn seconds(&self) -> f64 {
        match (self.nanoseconds, on_cpu()) {
            (Some(before), Some(now)) => (now - before) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// Nanoseconds that this thread has run.
fn on_cpu() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
