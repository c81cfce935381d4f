//! The cost of judging text: `cargo bench --bench classifier`.
//!
//! Every group runs over a synthetic page of 100 kB and a window of 1 kB, with a mixture as in real pages: prose of
//! four languages, addresses, identifiers, a little of other scripts.

#![allow(missing_docs, reason = "criterion's macros")]

mod detect;
mod model;
mod page;
mod unfold;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, unfold::bench, model::bench, detect::bench);
criterion_main!(benches);
