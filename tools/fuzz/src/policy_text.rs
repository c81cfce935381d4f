//! Policy text: parsing, printing, compiling, proving.

use std::ops::Range;

use policy_dfa::{Axis, Compiled, Policy, PolicyError, Root, Unchecked, Valuation};

use crate::input;

/// Parses a policy, prints it, compiles it and proves it, as far as possible.
///
/// # Panics
/// Printing and parsing disagree, in text or in JSON; an error is outside of its text; or a counterexample is wrong.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    let policy = match Policy::parse(&text) {
        Ok(policy) => policy,
        Err(error) => return check_places(&text, &error),
    };
    let printed = policy.to_string();
    match Policy::parse(&printed) {
        Ok(again) => {
            assert!(again == policy, "printed and read again, the policy is another:\n{printed}");
            assert!(
                again.to_string() == printed,
                "the canonical text has another canonical text:\n{printed}"
            );
            let json = policy.to_json();
            assert!(Policy::from_json(&json).as_ref() == Ok(&policy), "its JSON form is another:\n{json}");
            compile_both(&policy, &again, input);
        }
        Err(error) => panic!("the canonical text is refused:\n{printed}\n{error}"),
    }
}

/// Compiles a policy as it was written and as it was printed, which must give the same automaton.
fn compile_both(written: &Policy, printed: &Policy, input: &[u8]) {
    match (written.compile(), printed.compile()) {
        (Ok(written), Ok(printed)) => {
            assert_eq!(written.policy_hash(), printed.policy_hash(), "printing changes the hash");
            agree(&written, &printed, input);
            prove(written, &printed);
        }
        (Err(_), Err(error)) => assert!(!error.to_string().is_empty(), "no reason is given"),
        (written, printed) => panic!("printing changes whether it compiles: {written:?}, {printed:?}"),
    }
}

/// Checks that both give the same answers for every root, with symbols that depend on the input.
fn agree(one: &Compiled<Unchecked>, other: &Compiled<Unchecked>, input: &[u8]) {
    let mut valuation = Valuation::FIRST;
    let mut state = input.iter().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    for root in Root::all() {
        assert_eq!(one.outcome(root, &valuation), other.outcome(root, &valuation), "{root}");
        for axis in Axis::ALL {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let symbols = u32::try_from(axis.symbols().len()).unwrap_or(1);
            valuation.set(*axis, u8::try_from((state >> 16) % symbols).unwrap_or(0));
        }
    }
}

/// Checks that each violation has a counterexample that the automaton confirms.
fn prove(unproved: Compiled<Unchecked>, compiled: &Compiled<Unchecked>) {
    let Err(violations) = unproved.check() else { return };
    assert!(!violations.is_empty(), "the policy fails its proofs, but none is named");
    for violation in violations {
        let answer = compiled.outcome(violation.root, &violation.valuation);
        assert_eq!(answer, violation.outcome, "no counterexample: {violation}");
    }
}

/// Checks that every problem is in the text, with the right line and column.
fn check_places(text: &str, error: &PolicyError) {
    assert!(!error.problems().is_empty(), "refused without a problem");
    let within = |span: &Range<usize>| text.get(span.clone()).is_some();
    for problem in error.problems() {
        assert!(within(&problem.span), "{:?} is no part of the text: {problem}", problem.span);
        let before = text.get(..problem.span.start).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        assert_eq!((problem.line, problem.column), (line, column), "{problem}");
        assert!(!problem.message.is_empty(), "a problem without words");
    }
}
