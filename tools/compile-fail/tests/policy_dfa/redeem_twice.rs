//! Redeeming consumes a grant.
use browser_signals::{Observed, Snapshot};
use policy_dfa::{Fill, Grant, Millis, Verifier};

fn twice(verifier: &Verifier, grant: Grant<Fill>, page: &Observed<Snapshot>) {
    let _ = verifier.redeem(grant, page, Millis(0));
    let _ = verifier.redeem(grant, page, Millis(0));
}

fn main() {}
