//! A grant for a fill pays nothing.
use policy_dfa::{Fill, Grant, PaymentApi};

fn pay(_: Grant<PaymentApi>) {}

fn redirect(grant: Grant<Fill>) {
    pay(grant);
}

fn main() {}
