//! Detection and masking of personal data and secrets in a page of 100 kB.

use std::fmt::Write;
use std::hint::black_box;

use classifier::{Detector, Detectors, mask};
use criterion::{Criterion, Throughput};

const SIZE: usize = 100_000;

/// Makes a shop's page: prose, prices, dates and product numbers, with a few values that are found.
fn page() -> String {
    let mut page = String::with_capacity(SIZE + 1024);
    for row in 0_u64.. {
        let _ = writeln!(
            page,
            "Walking shoe no. {row}, model WH-{}XM, for the way to work and for the weekend. Item {}, 4.{} stars \
             ({} ratings), EUR {},{:02}, was {}.99. Delivered by {:02}.11.2026, free returns within 30 days. See \
             https://shop.example/p/walking-shoe-{row}?ref=list&page={} for the sizes 38 39 40 41 42.",
            1000 + row % 9000,
            row * 7919 % 99_999_999,
            row % 10,
            row * 31 % 5000,
            20 + row % 200,
            row % 100,
            30 + row % 200,
            1 + row % 28,
            row % 12,
        );
        if row % 40 == 0 {
            page.push_str("Questions? help@shop.example, +49 30 901820, Hauptstra\u{df}e 5, 10115 Berlin.\n");
        }
        if page.len() >= SIZE {
            break;
        }
    }
    page.truncate(page.floor_char_boundary(SIZE));
    page
}

/// Measures both sets of detectors on the page, and on one of its sentences.
pub fn bench(c: &mut Criterion) {
    let page = page();
    let line = page.lines().next().unwrap_or_default().to_owned();
    let sets = [("standard", Detectors::standard()), ("thorough", Detectors::thorough())];
    let mut group = c.benchmark_group("detect");
    for (name, detectors) in sets {
        let Ok(detectors) = detectors else { continue };
        for (what, text) in [("100 kB", &page), ("a line", &line)] {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("{name}, {what}"), |b| b.iter(|| detectors.detect(black_box(text))));
        }
        group.throughput(Throughput::Bytes(page.len() as u64));
        group.bench_function(format!("{name}, 100 kB, masked"), |b| {
            b.iter(|| mask(black_box(&page), &detectors.detect(black_box(&page))));
        });
    }
    group.bench_function("building standard", |b| b.iter(Detectors::standard));
    group.finish();
}
