//! An oracle for the automaton and its proofs: an independent, slow evaluator of the policy's JSON form, which shares
//! no code with the parser and the compiler.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod enumerate;
mod evaluator;
mod generate;
mod history;
mod model;
mod session;
mod statements;

use enumerate::{ANY, every, shown, size};
use generate::policy;
use model::{Model, event};
use policy_dfa::{Axis, Compiled, ConsentScope, Outcome, Policy, Root, Unchecked};
use proptest::prelude::*;
use statements::Answers;

const DEFAULT: &str = include_str!("../../../policies/default.policy");
/// The shipped policies in which a low safety asks.
const SOFT: [&str; 3] = [
    include_str!("../../../policies/approach_a.policy"),
    include_str!("../../../policies/approach_a_told.policy"),
    include_str!("../../../policies/approach_c.policy"),
];

fn compiled(text: &str) -> Compiled<Unchecked> {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).compile().unwrap()
}

fn model(automaton: &Compiled<Unchecked>) -> Model {
    Model::read(&automaton.policy().to_json())
}

/// Asserts that the model and the automaton have the same outcome for every valuation. The evaluation of the model
/// comes first; the automaton then reads the same symbols, and every choice of those that it alone reads. Returns the
/// number of cubes.
fn agree(model: &Model, automaton: &Compiled<Unchecked>, root: Root) -> usize {
    let rules = model.rules(event(root));
    let (mut cubes, mut filled) = (0, 0);
    every(&ANY, |ask| {
        let answer = rules.answer(ask);
        let outcome = automaton.outcome_by(root, |axis| ask.index(axis));
        assert!(
            answer.is(outcome),
            "{root} is {answer:?} by the rules, {outcome:?} by the automaton, where {}\n{}",
            shown(&ask.cube),
            automaton.policy()
        );
        cubes += 1;
        filled += size(&ask.cube);
    });
    assert_eq!(filled, Axis::ALL.iter().map(|axis| axis.symbols().len() as u128).product());
    cubes
}

/// Asserts that the checker and the oracle's own search agree on every statement, and that each counterexample can be
/// replayed. Returns the number of statements that do not hold.
fn statements_agree(model: &Model, automaton: &Compiled<Unchecked>) -> usize {
    let all: Vec<_> = Root::all()
        .map(event)
        .filter(|event| model.can_occur(*event))
        .map(|event| Answers::of(model, event))
        .collect();
    let examined = automaton.examine();
    for violation in examined.iter().filter_map(|statement| statement.violation.as_ref()) {
        let outcome = automaton.outcome(violation.root, &violation.valuation);
        assert_eq!(outcome, violation.outcome, "{violation}\n{}", automaton.policy());
    }
    let (built_in, written) = examined.split_at(examined.len() - model.proofs.len());
    let mut broken = 0;
    for statement in built_in {
        let expected = statements::is_broken(&statement.words, model, &all);
        assert_eq!(statement.violation.is_some(), expected, "{statement:?}\n{}", automaton.policy());
        broken += usize::from(expected);
    }
    for (statement, proof) in written.iter().zip(&model.proofs) {
        let expected = model.refutes(proof, &all);
        assert_eq!(statement.violation.is_some(), expected, "{statement:?}\n{}", automaton.policy());
        broken += usize::from(expected);
    }
    broken
}

#[test]
fn the_shipped_policies_agree_on_every_valuation() {
    for text in [DEFAULT].into_iter().chain(SOFT) {
        let automaton = compiled(text);
        let model = model(&automaton);
        let cubes: usize = Root::all().map(|root| agree(&model, &automaton, root)).sum();
        assert!(cubes > 500, "{cubes}");
        assert_eq!(statements_agree(&model, &automaton), 0);
    }
}

/// A known safety refuses nothing by itself: at or above the threshold the answer is that of full safety, and below it
/// the user is asked each time, over every valuation.
#[test]
fn a_low_safety_only_asks() {
    for text in SOFT {
        let automaton = compiled(text);
        let mut asked = 0;
        for root in Root::all() {
            let (Root::Request(_, need) | Root::Checkout(_, need)) = root else { continue };
            every(&ANY, |ask| {
                let band = ask.name(Axis::Safety);
                let full = automaton.outcome_by(root, |axis| match axis {
                    Axis::Safety => 3,
                    axis => ask.index(axis),
                });
                let here = automaton.outcome_by(root, |axis| ask.index(axis));
                let reaches = model::tier(band).is_some_and(|band| band >= need as usize);
                let refused_anyway = matches!(full, Outcome::Deny(..));
                if band == "unknown" {
                    assert!(refused_anyway || matches!(here, Outcome::Deny(Axis::Safety, _)));
                } else if reaches || refused_anyway {
                    assert_eq!(here, full, "{root} {}", shown(&ask.cube));
                } else {
                    let expected = match ask.name(Axis::Consent) {
                        "given" => matches!(here, Outcome::Grant(_)),
                        // A mandate does not answer here.
                        "none" | "mandated" if ask.name(Axis::Prompts) == "under" => {
                            asked += 1;
                            here == Outcome::Ask(ConsentScope::EveryTime)
                        }
                        // The user's own answer, or the limit of prompts.
                        _ => matches!(here, Outcome::Deny(Axis::Consent | Axis::Prompts, _)),
                    };
                    assert!(expected, "{root} is {here:?} where {}", shown(&ask.cube));
                }
            });
        }
        assert!(asked > 10, "{asked}");
    }
}

#[test]
fn a_walk_with_symbols_on_demand_has_the_same_outcome() {
    let automaton = compiled(DEFAULT);
    for root in Root::all() {
        every(&ANY, |ask| {
            let outcome = automaton.outcome_by(root, |axis| ask.index(axis));
            for rest in 0..6 {
                let mut valuation = policy_dfa::Valuation::FIRST;
                for axis in Axis::ALL {
                    let last = axis.symbols().len() as u8 - 1;
                    valuation.set(*axis, ask.cube[*axis as usize].unwrap_or(rest.min(last)));
                }
                assert_eq!(automaton.outcome(root, &valuation), outcome, "{root} {valuation:?}");
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn random_policies_agree_on_every_valuation(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let automaton = compiled(&policy(&bytes));
        let model = model(&automaton);
        Root::all().for_each(|root| { agree(&model, &automaton, root); });
    }

}

proptest! {
    // The search for contradictions takes most of the time, especially over pairs of cases.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_checker_agrees_on_random_policies(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let automaton = compiled(&policy(&bytes));
        statements_agree(&model(&automaton), &automaton);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn text_and_json_are_the_same_policy(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let written = Policy::parse(&policy(&bytes)).unwrap();
        let json = written.to_json();
        let read = Policy::from_json(&json).unwrap_or_else(|error| panic!("{error}\n{json}"));
        prop_assert_eq!(&read, &written);
        let printed = Policy::parse(&read.to_string()).unwrap();
        prop_assert_eq!(&printed, &written);
        prop_assert_eq!(printed.to_json(), json.clone());
        // A `Value` loses the order of keys and the layout.
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let shuffled = Policy::from_json(&value.to_string()).unwrap();
        prop_assert_eq!(shuffled.to_json(), json);
        let hash = |policy: &Policy| policy.compile().unwrap().policy_hash();
        prop_assert_eq!(hash(&shuffled), hash(&written));
    }
}
