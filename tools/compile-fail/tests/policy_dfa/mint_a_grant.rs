//! Only a decision point mints.
use policy_dfa::{Fill, Grant, Terms};

fn mint(terms: Terms) -> Grant<Fill> {
    Grant::mint(terms, Default::default())
}

fn main() {}
