//! There is one decision point for a verifier.
fn copy(decision_point: &policy_dfa::DecisionPoint) -> policy_dfa::DecisionPoint {
    decision_point.clone()
}

fn main() {}
