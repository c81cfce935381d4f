//! Only the check marks a policy as checked.
use policy_dfa::{Checked, Compiled, Unchecked};

fn cheat(policy: Compiled<Unchecked>) -> Compiled<Checked> {
    policy.with_state()
}

fn main() {}
