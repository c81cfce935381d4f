//! SIRL in a stream: the events do not depend on the pieces, and agree with a search of the whole text.

use sirl::limits::MAX_SCAN_BYTES;
use sirl::{Event, Scanner, Schema, find_block, parse_block, parse_plan};

/// Scans the input in one piece, byte by byte, and in pieces whose lengths depend on the input.
///
/// # Panics
/// The pieces make a difference, too much memory is used, an event does not match its place, or the search of the
/// whole text finds another block.
pub fn run(input: &[u8]) {
    let events = scan([input]);
    assert_eq!(scan(input.chunks(1)), events, "byte by byte");
    assert_eq!(scan(pieces(input)), events, "in pieces");
    let mut from = 0;
    for event in &events {
        from = check_place(input, from, event);
    }
    if let Ok(text) = str::from_utf8(input)
        && !text.split('\n').any(|line| line.starts_with("PLAN."))
    {
        assert_eq!(searched(text), events.iter().map(short).collect::<Vec<_>>(), "searched in the whole");
    }
}

fn scan<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<Event> {
    let mut scanner = Scanner::new(Schema::default());
    let mut events = Vec::new();
    for piece in pieces {
        scanner.push(piece, |event| events.push(event));
        assert!(scanner.held_bytes() <= MAX_SCAN_BYTES, "{} bytes are held", scanner.held_bytes());
    }
    events.extend(scanner.finish());
    events
}

/// Cuts the input into pieces of 0 to 15 bytes.
fn pieces(input: &[u8]) -> Vec<&[u8]> {
    let (mut pieces, mut rest) = (Vec::new(), input);
    let mut state = input.iter().fold(1u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = usize::try_from(state >> 28).unwrap_or(0).min(rest.len());
        let (piece, behind) = rest.split_at(length);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Checks that an event is after the last one and matches its place. Returns the first byte that the next event may
/// have.
fn check_place(input: &[u8], from: usize, event: &Event) -> usize {
    let part =
        |span: &std::ops::Range<usize>| input.get(span.clone()).and_then(|part| str::from_utf8(part).ok());
    match event {
        Event::Block { span, block } => {
            assert!(span.start >= from, "blocks overlap");
            let read = part(span).map(parse_block);
            assert!(
                matches!(&read, Some(Ok(read)) if read == block),
                "{span:?} holds {read:?}, not {block:?}"
            );
            span.end
        }
        Event::Plan { span, plan } => {
            assert!(span.start >= from, "plans overlap");
            let read = part(span).map(parse_plan);
            assert!(matches!(&read, Some(Ok(read)) if read == plan), "{span:?} holds {read:?}, not {plan:?}");
            span.end
        }
        Event::Malformed { start, error } => {
            assert!(*start >= from && *start <= error.span.start, "{start}, {error:?}");
            assert!(input.get(error.span.clone()).is_some(), "{:?} is no part of the stream", error.span);
            start + 1
        }
    }
}

/// The start of a block, with its canonical text or its error.
type Short = (usize, Result<String, (std::ops::Range<usize>, String)>);

fn short(event: &Event) -> Short {
    match event {
        Event::Block { span, block } => (span.start, Ok(block.to_string())),
        Event::Plan { span, plan } => (span.start, Ok(plan.to_string())),
        Event::Malformed { start, error } => (*start, Err((error.span.clone(), error.kind.to_string()))),
    }
}

/// The blocks that repeated calls of `find_block` find.
fn searched(text: &str) -> Vec<Short> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some((range, outcome)) = text.get(from..).and_then(find_block) {
        let outcome = outcome
            .map(|block| block.to_string())
            .map_err(|error| (from + error.span.start..from + error.span.end, error.kind.to_string()));
        found.push((from + range.start, outcome));
        from += range.end;
    }
    found
}
