//! `portcullis policy diff`.

use std::path::PathBuf;

use portcullis::policy::diff::{Change, Diff as Difference};
use serde_json::{Value, json};

use super::case::{event, signals};
use super::explain::partial;
use super::{load, print};
use crate::failure::Failure;

#[derive(clap::Args)]
pub struct Diff {
    /// The old policy.
    old: PathBuf,
    /// The new policy.
    new: PathBuf,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Diff) -> Result<(), Failure> {
    let old = load(&arguments.old, arguments.json)?;
    let new = load(&arguments.new, arguments.json)?;
    let diff = Difference::between(&old.compiled, &new.compiled);
    if arguments.json {
        let asides: Vec<Value> = diff
            .settings
            .iter()
            .map(|aside| json!({ "what": aside.what, "old": aside.old, "new": aside.new }))
            .collect();
        print(&json!({
            "old": old.name,
            "new": new.name,
            "changes": diff.changes.iter().map(change).collect::<Vec<_>>(),
            "asides": asides,
        }));
    } else {
        println!("{diff}");
    }
    if diff.is_empty() {
        Ok(())
    } else {
        Err(Failure::Finding(format!("{} and {} differ", old.name, new.name)))
    }
}

/// A change as JSON. Counts are strings, since they exceed the number range of many JSON readers.
fn change(change: &Change) -> Value {
    let parts: Vec<Value> = change
        .parts
        .iter()
        .map(|part| {
            json!({
                "signals": partial(&part.cases),
                "count": part.count.to_string(),
                "case": { "event": event(change.root), "signals": signals(&part.witness), "history": [] },
            })
        })
        .collect();
    json!({
        "event": event(change.root),
        "old": change.old.to_string(),
        "new": change.new.to_string(),
        "count": change.count.to_string(),
        "overlap": change.overlaps(),
        "parts": parts,
    })
}
