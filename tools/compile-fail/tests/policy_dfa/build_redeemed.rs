//! Only a verifier makes a redeemed grant.
use policy_dfa::{Fill, Redeemed, Terms};

fn build(terms: Terms) -> Redeemed<Fill> {
    Redeemed { terms, audience: std::marker::PhantomData }
}

fn main() {}
