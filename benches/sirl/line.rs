//! Parsing one request line (target: 1 us).

use std::hint::black_box;

use criterion::Criterion;
use sirl::parse_block;

/// The lines of the specification's example and a line with only a kind, each in a block of its own.
pub fn line(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("line");
    for (name, line) in [
        ("kind", "REQ.otp"),
        ("purchase", "REQ.purchase ctx={origin_request:\"website\", total:64.15, currency:\"USD\"}"),
        (
            "address",
            "REQ.address fields=[\"city\",\"postal_code\"] ctx={\"origin\":\"https://shop.example\",\"container\":\"T2\",\"purpose\":\"shipping\"}",
        ),
    ] {
        let text = format!("{line}\nREQ.end");
        assert!(parse_block(&text).is_ok(), "a line that does not parse");
        group.bench_function(name, |bencher| bencher.iter(|| parse_block(black_box(&text))));
    }
    group.finish();
}
