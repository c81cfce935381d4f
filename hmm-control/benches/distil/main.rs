//! The speed of the E-step of distillation: `cargo bench -p hmm-control --bench distil`.
//!
//! It prints the tokens per second of one core, and the limit of the processor: the speed of a large matrix product,
//! measured in the same run, divided by the `6 h^2` operations of a token. Times are CPU times of the fastest of
//! several runs, so that other work on the machine has little effect.
#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

mod clock;

use hmm_control::distil::{Expectation, Parameters, Rules, Sequences, maximise};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::num::NonZeroUsize;

const VOCABULARY: usize = 8192;
const LENGTH: usize = 32;

/// The fastest of several runs, in seconds of CPU time.
fn fastest(runs: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let started = clock::seconds();
        work();
        clock::seconds() - started
    };
    (0..runs).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

/// Operations per second of a product of square matrices.
fn peak(size: usize) -> f64 {
    let matrix = Array2::<f32>::from_shape_fn((size, size), |(row, column)| ((row + column) % 7) as f32);
    let mut product = Array2::<f32>::zeros((size, size));
    let seconds = fastest(5, || general_mat_mul(1.0, &matrix, black_box(&matrix), 0.0, &mut product));
    black_box(&product);
    2.0 * (size as f64).powi(3) / seconds
}

fn parameters(states: usize, rng: &mut ChaCha8Rng) -> Parameters<f32> {
    let mut random = |rows: usize, columns: usize| {
        Array2::<f32>::from_shape_fn((rows, columns), |_| rng.random::<f32>() + 0.01)
    };
    let (transition, emission) = (random(states, states), random(VOCABULARY, states));
    Parameters {
        initial: vec![1.0 / states as f32; states],
        transition: &transition / &transition.sum_axis(Axis(1)).insert_axis(Axis(1)),
        emission: &emission / &emission.sum_axis(Axis(0)),
    }
}

fn texts(count: usize, rng: &mut ChaCha8Rng) -> Sequences {
    let mut all = Sequences::new();
    for _ in 0..count {
        // The square makes some tokens frequent, as in real texts.
        let token = |share: f64| (share * share * VOCABULARY as f64) as u32;
        let text: Vec<u32> = (0..LENGTH).map(|_| token(rng.random())).collect();
        all.push(&text);
    }
    all
}

fn main() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let peak = peak(1024);
    println!("E-step, f32, one core, V = {VOCABULARY}, sequences of {LENGTH} tokens");
    println!("matrix product of 1024 x 1024: {:.1} GFLOP/s", peak / 1e9);
    println!(
        "{:>5} {:>6} {:>7} {:>10} {:>10} {:>9} {:>8} {:>9} {:>9}",
        "h", "lanes", "tokens", "CPU ms", "tokens/s", "limit", "of it", "GFLOP/s", "M-step ms"
    );
    for (states, lanes, count, runs) in [
        (256, 128, 512, 5),
        (1024, 64, 128, 4),
        (1024, 128, 128, 4),
        (1024, 256, 256, 2),
        (4096, 128, 128, 2),
    ] {
        let model = parameters(states, &mut rng);
        let all = texts(count, &mut rng);
        let expectation = Expectation { lanes: NonZeroUsize::new(lanes).unwrap(), ..Expectation::default() };
        let mut counts = None;
        let seconds = fastest(runs, || {
            counts = Some(expectation.statistics(&model, &all, 0..all.len()).unwrap());
        });
        let rules = Rules { pseudocount: 0.001, ..Rules::default() };
        let counts = counts.unwrap();
        let update = fastest(runs, || {
            black_box(maximise(&counts, &model, &rules).unwrap());
        });
        let tokens = (count * LENGTH) as f64;
        let operations = 6.0 * (states as f64).powi(2);
        let (speed, limit) = (tokens / seconds, peak / operations);
        println!(
            "{states:>5} {lanes:>6} {tokens:>7} {:>10.1} {speed:>10.0} {limit:>9.0} {:>7.0}% {:>9.1} {:>9.1}",
            seconds * 1e3,
            100.0 * speed / limit,
            speed * operations / 1e9,
            update * 1e3,
        );
    }
}
