//! A grant is made by a decision, and not by a text.
use policy_dfa::{Fill, Grant};

fn read(text: &str) -> Grant<Fill> {
    serde_json::from_str(text).unwrap()
}

fn main() {}
