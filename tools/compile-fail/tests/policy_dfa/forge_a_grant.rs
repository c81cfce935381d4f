//! A grant has private fields.
use policy_dfa::{Fill, Grant, Terms};

fn forge(terms: Terms, grant: Grant<Fill>) -> Grant<Fill> {
    Grant { terms, ..grant }
}

fn main() {}
