//! The cost of a page's text and of a page's requests: `cargo bench --bench pages`.
//!
//! It times scrubbing an outline of 100 kB, without a classifier and with the shipped ones, judging it for safety, and
//! the delay that the egress proxy of a container adds to a request. Times are medians of single calls, which
//! alternate.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark")]

mod egress;
mod outline;

use std::hint::black_box;
use std::time::{Duration, Instant};

use portcullis::page_text::{ScrubSettings, Scrubber};
use portcullis::safety::{PageSafety, WindowSafety};

const ROUNDS: usize = 40;

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(what: &str, times: &mut [Duration]) -> Duration {
    let median = median(times);
    println!("  {what:<52} {:>12.1} us", median.as_nanos() as f64 / 1e3);
    median
}

fn scrubbing() {
    let page = outline::page(100_000);
    let size: usize = page.words().map(|words| words.text.len()).sum();
    let plain = Scrubber::new(ScrubSettings::default(), None);
    let (standard, safety) = (Scrubber::standard().unwrap(), WindowSafety::standard().unwrap());
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let works: [&dyn Fn(); 3] = [
            &|| drop(black_box(plain.scrub(black_box(&page)))),
            &|| drop(black_box(standard.scrub(black_box(&page)))),
            &|| {
                black_box(safety.of(black_box(&page)));
            },
        ];
        for (work, times) in works.into_iter().zip(&mut times) {
            let started = Instant::now();
            work();
            times.push(started.elapsed());
        }
    }
    println!("an outline of {size} bytes of words in {} lines", page.lines.len());
    for (what, times) in
        ["scrubbed by places alone", "scrubbed with the model of injections", "judged for safety"]
            .iter()
            .zip(&mut times)
    {
        row(what, times);
    }
}

fn main() {
    scrubbing();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(egress::compare());
}
