//! The cost of a step of the look-ahead: `cargo bench --bench lookahead`, or with `-- 1024x50257 candidates` only one
//! of the sizes and the cases whose names contain a word. A word that ends in `.svg` is a file for the roofline.
//!
//! The model is random and normalised, since the cost does not depend on its numbers. Times are CPU times, on which
//! other work on the machine has the least effect, and all cases of a group alternate.
#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark")]

mod cases;
mod clock;
mod error;
mod machine;
mod model;
mod naive;
mod roofline;

/// Hidden states and tokens: GPT-2's vocabulary under a large and a small model, and one of 150 thousand.
const SIZES: [(usize, usize); 3] = [(4096, 50_257), (1024, 50_257), (1024, 151_936)];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_size = |word: &String| SIZES.iter().any(|(states, tokens)| *word == format!("{states}x{tokens}"));
    let (sizes, words): (Vec<String>, Vec<String>) = asked.into_iter().partition(is_size);
    let (files, words): (Vec<String>, Vec<String>) =
        words.into_iter().partition(|word| word.ends_with(".svg"));
    let (bandwidth, arithmetic) = (machine::bandwidth(), machine::arithmetic());
    println!(
        "one thread reads {bandwidth:.1} GB/s and multiplies matrices at {arithmetic:.0} GFLOP/s, two read {:.1} GB/s; \
         load average {}",
        machine::bandwidth_of_two(),
        machine::load()
    );
    let mut points = Vec::new();
    for (states, vocabulary) in SIZES {
        let name = format!("{states}x{vocabulary}");
        if sizes.is_empty() || sizes.contains(&name) {
            points.extend(cases::run(states, vocabulary, bandwidth, &words));
        }
    }
    for file in files {
        std::fs::write(file, roofline::draw(&points, bandwidth, arithmetic)).unwrap();
    }
}
