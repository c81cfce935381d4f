//! The times of single calls, as percentiles.

use std::hint::black_box;
use std::time::Instant;

/// The times in nanoseconds, with one entry for each call or batch.
pub struct Times(Vec<f64>);

impl Times {
    /// Times `call` on each item by itself, `rounds` times. Each time includes the cost of reading the clock.
    pub fn each<T, R>(items: &[T], rounds: usize, mut call: impl FnMut(&T) -> R) -> Times {
        Times::batches(items, 1, rounds, &mut call)
    }

    /// Times `call` on `size` items at once and divides, for calls that are shorter than reading the clock.
    pub fn batches<T, R>(items: &[T], size: usize, rounds: usize, call: &mut impl FnMut(&T) -> R) -> Times {
        let mut times = Vec::with_capacity(rounds * items.len() / size);
        for _ in 0..rounds {
            for batch in items.chunks_exact(size) {
                let started = Instant::now();
                for item in batch {
                    // The result is dropped within the measured time, since dropping a grant is part of its cost.
                    black_box(call(black_box(item)));
                }
                times.push(started.elapsed().as_nanos() as f64 / size as f64);
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        Times(times)
    }

    /// The time that this percentage of all calls do not exceed.
    pub fn percentile(&self, hundredths: usize) -> f64 {
        self.0[(self.0.len() - 1) * hundredths / 100]
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.percentile(50)
    }
}

/// Formats a duration for reading.
pub fn human(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 100.0 => format!("{ns:.1} ns"),
        ns if ns < 10_000.0 => format!("{ns:.0} ns"),
        ns if ns < 10e6 => format!("{:.1} us", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}
