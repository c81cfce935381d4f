//! The limits of this machine: of one thread, and of two for the memory.

use crate::clock::once;
use ndarray::Array2;
use std::hint::black_box;

/// The bytes that the memory test reads, far more than any cache holds.
const BUFFER: usize = 256 << 20;

/// Measures the gigabytes per second that one thread reads, as the best of several passes over a buffer.
pub fn bandwidth() -> f64 {
    let buffer: Vec<u64> = (0..BUFFER as u64 / 8).collect();
    let best = (0..5).map(|_| once(|| read(black_box(&buffer))).0).fold(f64::INFINITY, f64::min);
    BUFFER as f64 / best / 1e6
}

/// The same for two threads together, by wall time.
pub fn bandwidth_of_two() -> f64 {
    let buffer: Vec<u64> = (0..BUFFER as u64 / 8).collect();
    let both = |buffer: &[u64]| {
        let (one, other) = buffer.split_at(buffer.len() / 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| read(other));
            read(one) ^ other.join().unwrap_or_default()
        })
    };
    let best = (0..5).map(|_| once(|| both(black_box(&buffer))).1).fold(f64::INFINITY, f64::min);
    BUFFER as f64 / best / 1e6
}

/// Measures the billions of `f32` operations per second of one thread, by a product of square matrices with ndarray
/// (matrixmultiply), whose numbers stay in the caches.
pub fn arithmetic() -> f64 {
    const SIDE: usize = 768;
    let (a, b) = (Array2::from_elem((SIDE, SIDE), 0.5_f32), Array2::from_elem((SIDE, SIDE), 0.25_f32));
    let best = (0..5).map(|_| once(|| black_box(&a).dot(&b)).0).fold(f64::INFINITY, f64::min);
    2.0 * (SIDE * SIDE * SIDE) as f64 / best / 1e6
}

/// Reads with eight sums, so that only the memory limits the speed.
fn read(buffer: &[u64]) -> u64 {
    let mut sums = [0_u64; 8];
    for values in buffer.as_chunks::<8>().0 {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum ^= value);
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}

/// The load average of the last minute, if the system provides it.
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}
