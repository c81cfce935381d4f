//! A grant cannot be copied.
fn twice(grant: policy_dfa::Grant<policy_dfa::Fill>) -> [policy_dfa::Grant<policy_dfa::Fill>; 2] {
    [grant.clone(), grant]
}

fn main() {}
