//! Scanning a model's output (target: 500 MB/s if nothing matches).

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use sirl::{Scanner, Schema};

const TOTAL: usize = 1 << 20;

/// Streams without a block: prose, and text that looks like the start of one.
pub fn scan_nothing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan_nothing");
    let prose =
        "The cart has three items, and the shop asks where to send them.\nREQUESTS come in lines.\n\n";
    for (name, part, piece) in [
        ("prose", prose, TOTAL),
        ("prose in pieces of 4 KiB", prose, 4096),
        ("prose in pieces of 4 bytes", prose, 4),
        ("line endings", "\n", TOTAL),
        ("near misses", "\nREQ\nPLAN", TOTAL),
    ] {
        scan(&mut group, name, part, piece, 0);
    }
    group.finish();
}

/// A stream with a block in every 200 bytes.
pub fn scan_with_blocks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan_with_blocks");
    let part = concat!(
        "The shop asks for an address.\n",
        "REQ.address fields=[\"city\",\"postal_code\"] ctx={\"origin\":\"https://shop.example\",\"purpose\":\"shipping\"}\n",
        "REQ.end\nThe form is filled in once it is there, and then I go on.\n",
    );
    scan(&mut group, "whole", part, TOTAL, 1);
    scan(&mut group, "pieces of 4 bytes", part, 4, 1);
    group.finish();
}

/// Times a scan of `part` over and over, in pieces of `piece` bytes, with this many blocks in each part.
fn scan(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, part: &str, piece: usize, blocks: usize) {
    let count = TOTAL / part.len();
    let stream = part.repeat(count);
    let run = || {
        let mut found = 0;
        let mut scanner = Scanner::new(Schema::default());
        for piece in black_box(stream.as_bytes()).chunks(piece) {
            scanner.push(piece, |_| found += 1);
        }
        found + usize::from(scanner.finish().is_some())
    };
    assert_eq!(run(), count * blocks, "the scan finds every block");
    group
        .throughput(Throughput::Bytes(stream.len() as u64))
        .bench_function(name, |bencher| bencher.iter(run));
}
