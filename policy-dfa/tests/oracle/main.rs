//! The automaton and its proofs against a slow reading of the same rules: an independent evaluator that
//! reads the policy's JSON form, and looks at nothing that the reader and the compiler have made.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod generate;
mod meaning;
mod reading;
mod remember;
mod session;
mod statements;
mod ways;

use generate::policy;
use policy_dfa::{Axis, Compiled, Policy, Root, Unchecked};
use proptest::prelude::*;
use reading::{Model, event};
use statements::Answers;
use ways::{ANY, every, shown, size};

const DEFAULT: &str = include_str!("../../../policies/default.policy");

fn compiled(text: &str) -> Compiled<Unchecked> {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).compile().unwrap()
}

fn model(automaton: &Compiled<Unchecked>) -> Model {
    Model::read(&automaton.policy().to_json())
}

/// Both are asked the same on every valuation: the rules by this test's reading, and then the automaton,
/// with the symbols that the rules looked at and with every choice of those that only the automaton looks
/// at. The number of cubes.
fn agree(model: &Model, automaton: &Compiled<Unchecked>, root: Root) -> usize {
    let rules = model.rules(event(root));
    let (mut cubes, mut filled) = (0, 0);
    every(&ANY, |ask| {
        let answer = rules.answer(ask);
        let outcome = automaton.outcome_by(root, |axis| ask.place(axis));
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

/// Every statement that the check examines, against this test's own search for a contradiction.
fn statements_agree(model: &Model, automaton: &Compiled<Unchecked>) -> usize {
    let all: Vec<_> = Root::all()
        .map(event)
        .filter(|event| model.can_occur(*event))
        .map(|event| Answers::of(model, event))
        .collect();
    let examined = automaton.examine();
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

/// What makes a case a counterexample can be replayed: the same walk gives the same answer.
fn counterexamples_replay(automaton: &Compiled<Unchecked>) {
    for violation in automaton.examine().into_iter().filter_map(|statement| statement.violation) {
        assert_eq!(automaton.outcome(violation.root, &violation.valuation), violation.outcome, "{violation}");
    }
}

/// The shipped policy on every event, for every valuation, unknown signals included.
#[test]
fn the_shipped_policy_agrees_on_every_valuation() {
    let automaton = compiled(DEFAULT);
    let model = model(&automaton);
    let cubes: usize = Root::all().map(|root| agree(&model, &automaton, root)).sum();
    assert!(cubes > 500, "{cubes}");
    assert_eq!(statements_agree(&model, &automaton), 0);
}

/// A valuation that is looked up as a whole walks the same way as one that is asked for bit by bit.
#[test]
fn asking_on_demand_is_the_same_walk() {
    let automaton = compiled(DEFAULT);
    for root in Root::all() {
        every(&ANY, |ask| {
            let outcome = automaton.outcome_by(root, |axis| ask.place(axis));
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

    /// On random policies the automaton says what the rules say, for every event and every valuation.
    #[test]
    fn random_policies_agree_on_every_valuation(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let automaton = compiled(&policy(&bytes));
        let model = model(&automaton);
        Root::all().for_each(|root| { agree(&model, &automaton, root); });
    }

}

proptest! {
    // Looking for contradictions is what takes time, most of it in pairs of cases.
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The check finds a contradiction of a statement exactly where a search of this test's own does.
    #[test]
    fn the_check_agrees_on_random_policies(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let automaton = compiled(&policy(&bytes));
        statements_agree(&model(&automaton), &automaton);
        counterexamples_replay(&automaton);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Text and JSON say the same, to the byte, and so does the canonical text.
    #[test]
    fn text_and_json_are_the_same_policy(bytes in prop::collection::vec(any::<u8>(), 197)) {
        let written = Policy::parse(&policy(&bytes)).unwrap();
        let json = written.to_json();
        let read = Policy::from_json(&json).unwrap_or_else(|error| panic!("{error}\n{json}"));
        prop_assert_eq!(&read, &written);
        let printed = Policy::parse(&read.to_string()).unwrap();
        prop_assert_eq!(&printed, &written);
        prop_assert_eq!(printed.to_json(), json.clone());
        // A `Value` forgets the order of keys and the layout.
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let shuffled = Policy::from_json(&value.to_string()).unwrap();
        prop_assert_eq!(shuffled.to_json(), json);
        let hash = |policy: &Policy| policy.compile().unwrap().policy_hash();
        prop_assert_eq!(hash(&shuffled), hash(&written));
    }
}
