//! The model is no audience for T2 fields.
use policy_dfa::{Grant, MayHoldT2, Model};

fn release<A: MayHoldT2>(_: Grant<A>) {}

fn hand_over(grant: Grant<Model>) {
    release(grant);
}

fn main() {}
