//! A decision computes only the symbols that its walk reads. Its verdict is that of the whole valuation.

use policy_dfa::{Outcome, Policy, Root, Verdict, authority};

use crate::common::DEFAULT;
use crate::ours::{Case, answer};
use crate::sample::samples;

/// The default policy with rules that read further signals.
fn policies() -> [String; 3] {
    let with_sites = format!(
        "{DEFAULT}\nsite \"*.shop.example\" {{ never login, open }}\nsite \"shop.example/order\" {{ only submit, address }}\n"
    );
    let with_sinks =
        DEFAULT.replace("verb click  {", "verb click  {\n visible\n frame top\n sink not payment_form\n");
    assert_ne!(with_sinks, DEFAULT);
    [DEFAULT.to_owned(), with_sites, with_sinks]
}

#[test]
fn a_decision_is_that_of_the_whole_valuation() {
    for text in policies() {
        let compiled = || Policy::parse(&text).unwrap().compile().unwrap().check().unwrap();
        let policy = compiled();
        let (mut decision_point, _verifier) = authority(compiled(), [7; 16]);
        let mut seen = [0_usize; 3];
        for sample in samples(3_000, 11) {
            let case = Case::new(sample, &policy);
            let asked = case.question();
            let root = policy.root(&asked.event);
            let whole = policy.outcome(root, &policy.valuation(&asked));
            let verdict = decision_point.decide(&asked);
            let agrees = match (&verdict, whole) {
                (Verdict::Grant(_), Outcome::Grant(delivery)) => {
                    delivery.is_some() != matches!(root, Root::Verb(_))
                }
                (Verdict::Ask(prompt), Outcome::Ask(scope)) => prompt.scope == scope,
                (Verdict::Deny(given), Outcome::Deny(_, reason)) => *given == reason,
                _ => false,
            };
            seen[answer(&verdict) as usize] += 1;
            assert!(agrees, "{verdict:?} is not {whole:?}");
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }
}
