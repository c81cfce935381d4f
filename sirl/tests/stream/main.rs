//! The scanner: its events do not depend on the pieces and agree with a slow reading of the whole, and it uses little
//! memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod adversarial;
mod oracle;
mod pieces;
mod rules;

use sirl::limits::MAX_SCAN_BYTES;
use sirl::{Event, Scanner, Schema};

/// Scans a stream in pieces and returns the events. The memory is checked after each piece.
#[track_caller]
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
