//! A policy is checked by its proofs, and not by what a text says of it.
use policy_dfa::{Checked, Compiled};

fn read(text: &str) -> Compiled<Checked> {
    serde_json::from_str(text).unwrap()
}

fn main() {}
