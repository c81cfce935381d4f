//! What judging text costs: `cargo bench --bench classifier`.
//!
//! Every group runs over a page of 100 kB and a window of 1 kB that are made up here, with the mixture that pages have:
//! prose of four languages, addresses, identifiers, a little of other scripts.

#![allow(missing_docs, reason = "criterion's macros")]

mod detect;
mod model;
mod page;
mod unfold;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, unfold::bench, model::bench, detect::bench);
criterion_main!(benches);
