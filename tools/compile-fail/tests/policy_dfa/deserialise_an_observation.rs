//! An observation is made by a bridge, and not by a text.
use browser_signals::{Observed, Snapshot};

fn read(text: &str) -> Observed<Snapshot> {
    serde_json::from_str(text).unwrap()
}

fn main() {}
