//! Judging text with a linear model: a window, and a page that is cut into windows in all its readings.

use std::hint::black_box;

use classifier::{LinearClassifier, Unfolded, Window, WindowClassifier, WindowPlace, sweep, sweep_unfolded};
use criterion::Criterion;

use crate::page::page;

/// The group `model`.
pub fn bench(criterion: &mut Criterion) {
    let Ok(model) = LinearClassifier::injection() else { return };
    let (text, window) = (page(100_000), page(1_000));
    let unfolded = Unfolded::new(&text);
    let at_least = model.quarantine();
    let mut group = criterion.benchmark_group("model");
    group.bench_function("risk of a window of 1 kB", |bencher| {
        bencher.iter(|| model.risk(&Window { text: black_box(&window), place: WindowPlace::Shown }));
    });
    group.bench_function("window of 1 kB, unfolded and swept", |bencher| {
        bencher.iter(|| sweep(black_box(&window), WindowPlace::Shown, &model, at_least));
    });
    group.bench_function("page of 100 kB, unfolded before, swept", |bencher| {
        bencher.iter(|| sweep_unfolded(black_box(&unfolded), WindowPlace::Shown, &model, at_least));
    });
    group.bench_function("page of 100 kB, unfolded and swept", |bencher| {
        bencher.iter(|| sweep(black_box(&text), WindowPlace::Shown, &model, at_least));
    });
    group.finish();
}
