//! The terms of a grant cannot be changed.
use policy_dfa::{Fill, Grant, Millis};

fn extend(grant: Grant<Fill>) {
    grant.terms().expires = Millis(u64::MAX);
}

fn main() {}
