//! No crate can make the model an audience for T2 fields.
impl policy_dfa::MayHoldT2 for policy_dfa::Model {}

fn main() {}
