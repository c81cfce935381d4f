//! A grant stays in the process in which it was decided.
use policy_dfa::{Fill, Grant};

fn write(grant: &Grant<Fill>) -> String {
    serde_json::to_string(grant).unwrap()
}

fn main() {}
