//! Processor time and wall time of whole calls.

use std::hint::black_box;
use std::time::Instant;

/// The CPU time of this process, in all its threads, in milliseconds.
#[cfg(unix)]
fn cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The wall time, since the system has no such clock.
#[cfg(not(unix))]
fn cpu() -> f64 {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}

/// A call to be timed.
pub struct Case<'a> {
    pub name: String,
    /// The bytes of the model that one call reads.
    pub bytes: f64,
    /// The operations of one call on one thread, for the roofline; 0 for a case that it leaves out.
    pub operations: f64,
    /// The number of requests that one call answers, by which its time is divided.
    pub share: f64,
    pub call: Box<dyn FnMut() + 'a>,
}

impl<'a> Case<'a> {
    pub fn new(name: impl Into<String>, bytes: f64, call: impl FnMut() + 'a) -> Case<'a> {
        Case { name: name.into(), bytes, operations: 0.0, share: 1.0, call: Box::new(call) }
    }

    pub fn shared(self, share: usize) -> Case<'a> {
        Case { share: share as f64, ..self }
    }

    pub fn with_operations(self, operations: f64) -> Case<'a> {
        Case { operations, ..self }
    }
}

/// The times of one case in milliseconds, with one entry for each round.
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

    pub fn cpu_median(&self) -> f64 {
        median(&self.cpu)
    }

    pub fn cpu_least(&self) -> f64 {
        self.cpu.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn wall_median(&self) -> f64 {
        median(&self.wall)
    }
}

pub fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Times one call.
pub fn once<R>(call: impl FnOnce() -> R) -> (f64, f64, R) {
    let (cpu_start, start) = (cpu(), Instant::now());
    let result = black_box(call());
    (cpu() - cpu_start, start.elapsed().as_secs_f64() * 1e3, result)
}

/// Calls all cases alternately, round after round, so that other work on the machine affects all of them. The first
/// round only warms up.
pub fn interleave(cases: &mut [Case<'_>], rounds: usize) -> Vec<Times> {
    let mut times: Vec<Times> = cases.iter().map(|_| Times::default()).collect();
    for round in 0..=rounds {
        for (case, times) in cases.iter_mut().zip(&mut times) {
            let (cpu, wall, ()) = once(&mut case.call);
            if round > 0 {
                times.push(cpu / case.share, wall / case.share);
            }
        }
    }
    times
}
