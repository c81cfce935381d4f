//! Processor time and wall time of a call, in milliseconds.

use std::time::Instant;

/// What this process has computed, in all its threads.
#[cfg(unix)]
fn cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Where there is no such clock, the wall's.
#[cfg(not(unix))]
fn cpu() -> f64 {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}

/// One call: its processor time and its wall time.
pub fn once(call: impl FnOnce()) -> (f64, f64) {
    let (cpu_start, start) = (cpu(), Instant::now());
    call();
    (cpu() - cpu_start, start.elapsed().as_secs_f64() * 1e3)
}

/// Of one way, an entry for each round.
#[derive(Default)]
pub struct Times {
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

impl Times {
    pub fn push(&mut self, cpu: f64, wall: f64) {
        self.cpu.push(cpu);
        self.wall.push(wall);
    }

    pub fn cpu(&self) -> f64 {
        median(&self.cpu)
    }

    pub fn wall(&self) -> f64 {
        median(&self.wall)
    }
}

pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
