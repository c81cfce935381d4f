//! A policy that is not proved cannot decide.
fn main() {
    let policy = policy_dfa::Policy::parse("").unwrap();
    let _ = policy_dfa::authority(policy.compile().unwrap(), [0; 16]);
}
