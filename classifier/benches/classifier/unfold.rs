//! Folding a text, and decoding the text that is hidden in it.

use std::hint::black_box;

use classifier::{Normalised, Unfolded};
use criterion::{BenchmarkId, Criterion, Throughput};

use crate::page::page;

pub fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("unfold");
    for (name, length) in [("page 100 kB", 100_000), ("window 1 kB", 1_000)] {
        let text = page(length);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("fold", name), &text, |bencher, text| {
            bencher.iter(|| black_box(Normalised::new(black_box(text))));
        });
        group.bench_with_input(BenchmarkId::new("unfold", name), &text, |bencher, text| {
            bencher.iter(|| black_box(Unfolded::new(black_box(text))));
        });
    }
    group.finish();
}
