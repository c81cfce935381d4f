//! Long hostile streams: they are read quickly and in little memory.

use sirl::items::MAX_ITEMS;
use sirl::limits::{MAX_LINE_BYTES, MAX_REQUESTS, MAX_SCAN_BYTES, MAX_STRING_BYTES};
use sirl::{Event, Request, Scanner, Schema};

/// Pushes `piece` until `total` bytes are read. Returns the number of blocks and plans, and that of errors.
fn flood(start: &str, piece: &[u8], total: usize) -> (usize, usize) {
    let buffer = piece.repeat(65_536 / piece.len() + 1);
    let mut scanner = Scanner::new(Schema::default());
    let (mut whole, mut errors) = (0, 0);
    let mut count = |event: Event| match event {
        Event::Malformed { .. } => errors += 1,
        _ => whole += 1,
    };
    scanner.push(start.as_bytes(), &mut count);
    let mut left = total;
    while left > 0 {
        let now = &buffer[..left.min(buffer.len())];
        scanner.push(now, &mut count);
        assert!(scanner.held_bytes() <= MAX_SCAN_BYTES);
        left -= now.len();
    }
    scanner.finish().map(&mut count);
    (whole, errors)
}

#[test]
fn a_hundred_megabytes_of_r() {
    assert_eq!(flood("", b"R", 100_000_000), (0, 0));
    assert_eq!(flood("\nREQ.otp\n", b"R", 100_000_000), (0, 1));
}

#[test]
fn streams_made_to_be_slow() {
    let total = 1_000_000;
    for piece in [
        "\n", "R\n", "RE\n", "REQ\n", "\nREQ", "PLAN\n", "\nPLAN", "\r", "\r\n", "\0", "REQ.", "PLAN.", " ",
        "\t\n", "é", "\nP\nR", "REQ.end ",
    ] {
        let (whole, _) = flood("", piece.as_bytes(), total);
        assert_eq!(whole, 0, "{piece:?}");
        for start in ["REQ.otp\n", "REQ.foo\n", "PLAN.otp\n", "REQ.otp ctx={purpose:\""] {
            let (whole, errors) = flood(start, piece.as_bytes(), total);
            assert_eq!((whole, errors), (0, 1), "{start:?} {piece:?}");
        }
    }
    let block = b"REQ.otp\nREQ.end\n";
    assert_eq!(flood("", block, 16 * 100_000), (100_000, 0), "blocks alone");
    let plan = b"PLAN.otp\nPLAN.end\n";
    assert_eq!(flood("", plan, 18 * 100_000), (100_000, 0), "one word is never found, the other always");
    assert_eq!(flood("", b"REQ.end\n", 8 * 100_000), (0, 100_000), "each is an empty block");
}

/// The case of the most memory: as many requests as a block may have, each as long as a line may be, and a last line
/// that is too long.
#[test]
fn the_largest_block_fits_the_bound() {
    let text = "x".repeat(MAX_STRING_BYTES);
    let keys = ["origin", "top_origin", "origin_request", "sink", "purpose", "control"];
    let claims: Vec<String> = keys.iter().map(|key| format!("{key}:\"{text}\"")).collect();
    let line = format!("REQ.otp ctx={{{}}}\n", claims.join(","));
    assert!(line.len() <= MAX_LINE_BYTES);
    let mut scanner = Scanner::new(Schema::default());
    for _ in 0..MAX_REQUESTS {
        scanner.push(line.as_bytes(), |event| panic!("{event:?}"));
    }
    scanner.push(&[b' '; MAX_LINE_BYTES], |event| panic!("{event:?}"));
    let held = scanner.held_bytes();
    assert!(held > MAX_REQUESTS * keys.len() * MAX_STRING_BYTES, "{held} bytes: the strings are counted");
    assert!(held <= MAX_SCAN_BYTES, "{held}");
}

/// Short items take more memory than text.
#[test]
fn a_block_of_many_items_fits_the_bound() {
    let items: Vec<String> = (0..MAX_ITEMS).map(|at| format!("{}:1", char::from(b'a' + at as u8))).collect();
    let items = format!(" items={{{}}}", items.join(","));
    let text = "x".repeat(MAX_STRING_BYTES);
    let keys = ["origin", "top_origin", "origin_request", "sink", "purpose", "control"];
    let claims: Vec<String> = keys.iter().map(|key| format!("{key}:\"{text}\"")).collect();
    let [with, without] = [items.as_str(), ""].map(|items| {
        let line = format!("REQ.purchase{items} ctx={{{}}}\n", claims.join(","));
        assert!(line.len() <= MAX_LINE_BYTES);
        let mut scanner = Scanner::new(Schema::default());
        for _ in 0..MAX_REQUESTS {
            scanner.push(line.as_bytes(), |event| panic!("{event:?}"));
        }
        scanner.held_bytes()
    });
    let each = size_of::<(Box<str>, u32)>() + 1;
    assert_eq!(with - without, MAX_REQUESTS * MAX_ITEMS * each, "the items are counted");
    assert!(with <= MAX_SCAN_BYTES, "{with}");
}

/// A string with an escape is copied, which must not allocate more than its line is long.
#[test]
fn an_escape_does_not_double_a_string() {
    let line = format!("REQ.otp ctx={{purpose:\"{}\\/\"}}\n", "x".repeat(MAX_STRING_BYTES - 1));
    let mut scanner = Scanner::new(Schema::default());
    let empty = scanner.held_bytes();
    for _ in 0..MAX_REQUESTS {
        scanner.push(line.as_bytes(), |event| panic!("{event:?}"));
    }
    let bound = empty + MAX_REQUESTS * (size_of::<Request>() + line.len());
    assert!(scanner.held_bytes() <= bound, "{} > {bound}", scanner.held_bytes());
}

/// The memory does not grow for a long line that arrives at once, for a skipped block, or for other text.
#[test]
fn only_the_line_that_is_read_is_held() {
    let long = " ".repeat(100_000);
    for start in ["REQ.otp", "REQ.otp\n", "REQ.foo\n", "prose\n", "prose"] {
        let mut scanner = Scanner::new(Schema::default());
        let empty = scanner.held_bytes();
        scanner.push(format!("{start}{long}").as_bytes(), |_| {});
        assert_eq!(scanner.held_bytes(), empty, "{start:?}");
    }
}
