//! Differences.

use policy_dfa::diff::{Answer, Diff};
use policy_dfa::{Axis, Delivery, Outcome, Policy, Root};
use proptest::prelude::*;

use crate::common::DEFAULT;
use crate::policies::{all, compiled, partial, policy, root};

fn answer(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Deny(..) => Answer::Denied,
        Outcome::Ask(scope) => Answer::Asked(scope),
        Outcome::Grant(delivery) => Answer::Granted(delivery),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_policy_does_not_differ_from_itself(one in policy()) {
        let one = compiled(&one.1);
        let diff = Diff::between(&one, &one);
        prop_assert!(diff.is_empty(), "{diff}");
        prop_assert_eq!(diff.to_string(), "no difference");
    }

    #[test]
    fn a_reversed_diff_is_mirrored(one in policy(), other in policy()) {
        let (one, other) = (compiled(&one.1), compiled(&other.1));
        let (forth, back) = (Diff::between(&one, &other), Diff::between(&other, &one));
        prop_assert_eq!(forth.changes.len(), back.changes.len());
        for change in &forth.changes {
            let mut mirrored = change.clone();
            std::mem::swap(&mut mirrored.old, &mut mirrored.new);
            prop_assert!(back.changes.contains(&mirrored), "{}", change);
        }
        let mut turned: Vec<_> = back.settings.clone();
        turned.iter_mut().for_each(|setting| std::mem::swap(&mut setting.old, &mut setting.new));
        turned.sort();
        let mut settings = forth.settings.clone();
        settings.sort();
        prop_assert_eq!(settings, turned);
    }

    /// Each valuation of a part of the space is in exactly the change that it belongs to.
    #[test]
    fn a_diff_lists_exactly_the_cases_that_differ(
        one in policy(), other in policy(), root in root(), known in partial(),
    ) {
        let (one, other) = (compiled(&one.1), compiled(&other.1));
        let diff = Diff::between(&one, &other);
        let here = |change: &&policy_dfa::diff::Change| change.root == root;
        // The diff skips a root that cannot occur.
        let occurs = !matches!(root, Root::Request(..) | Root::Checkout(..)) || diff.changes.iter().any(|c| here(&c));
        for valuation in all(&known) {
            let (old, new) = (one.outcome(root, &valuation), other.outcome(root, &valuation));
            let listed: Vec<_> = diff.changes.iter().filter(here)
                .filter(|change| change.parts.iter().any(|part| part.cases.holds(&valuation)))
                .map(|change| (change.old, change.new))
                .collect();
            if old == new {
                prop_assert!(listed.is_empty(), "{:?} {:?}", listed, valuation);
            } else if occurs {
                prop_assert_eq!(listed, vec![(answer(old), answer(new))], "{:?}", valuation);
            }
        }
        for change in &diff.changes {
            for part in &change.parts {
                prop_assert!(part.cases.holds(&part.witness) && part.count == part.cases.count());
                let old = one.outcome(change.root, &part.witness);
                let new = other.outcome(change.root, &part.witness);
                prop_assert!(old != new && (answer(old), answer(new)) == (change.old, change.new));
            }
            let sum: u128 = change.parts.iter().map(|part| part.count).sum();
            prop_assert!(sum >= change.count && (sum > change.count) == change.overlaps());
        }
    }
}

#[test]
fn a_change_is_shown_in_plain_words() {
    let of = |text: &str| Policy::parse(text).unwrap().compile().unwrap();
    let words = |new: &str| Diff::between(&of(DEFAULT), &of(new)).to_string();
    let lax = words(&DEFAULT.replacen("    tls valid or loopback\n", "", 1));
    let expected = "newly granted by fill: `address` with T1 fields in ";
    assert!(lax.starts_with(expected), "{lax}");
    assert!(lax.contains("tls is not valid or loopback"), "{lax}");
    let session = words(
        &DEFAULT
            .replace("at most 1 purchase, 5 prompts", "at most 2 purchases, 1 otp values keep to their path")
            .replace("request otp {", "site \"bank.example\" { never login }\nrequest otp {")
            .replace("city phone email }", "city email }")
            .replace("card_number", "phone card_number")
            .replace("prove never deliver payment to model\n", ""),
    );
    for line in [
        "the tier of `phone`: T2 instead of T1",
        "the session's limit for `purchase`: at most 2 instead of at most 1",
        "the session's limit for `otp`, new: at most 1",
        "the session's limit for prompts, no more: at most 5",
        "how far released values go, new: values keep to their path",
        "a site rule, new: site \"bank.example\" { never login }",
        "a statement to prove, no more: never deliver payment to model",
        "refused for another reason: `login` with T2 fields",
        "newly refused, granted before: `login` with T2 fields",
    ] {
        assert!(session.contains(line), "{line}\nnot in\n{session}");
    }
    let slower = words(&DEFAULT.replacen("consent once per session", "consent every time", 1));
    assert!(slower.contains("asked every time instead of once per session: `address`"), "{slower}");
    let wired = words(&DEFAULT.replacen("deliver fill", "deliver wire", 1));
    assert!(wired.contains("granted by wire instead of fill: `address`"), "{wired}");
    assert_eq!(words(&DEFAULT.replace("version 1", "version 2")), "no difference");
    // Only the order of the ways: no answer differs, but what the guard tries first does.
    let turned = words(&DEFAULT.replace("deliver ucp or payment_api", "deliver payment_api or ucp"));
    assert_eq!(turned, "the order of the ways to deliver `purchase`: the page first instead of ucp first");
    let fewer = words(&DEFAULT.replacen("deliver fill or ucp", "deliver fill", 1));
    assert!(
        fewer.contains("newly refused, granted before: `address` with T2 fields at a checkout"),
        "{fewer}"
    );
    assert!(!fewer.contains("fill") && !fewer.contains("`address` with T2 fields in"), "{fewer}");
}

/// The cases that an event of approach C grants and one of approach B neither grants nor asks about.
fn beyond_b(c: &str) -> Vec<String> {
    let read = |text: &str| compiled(&Policy::parse(text).unwrap());
    let diff = Diff::between(&read(include_str!("../../../policies/default.policy")), &read(c));
    let more = diff
        .changes
        .iter()
        .filter(|change| matches!(change.new, Answer::Granted(_)) && change.old == Answer::Denied);
    let cases = more.flat_map(|change| change.parts.iter().map(move |part| (change.root, &part.cases)));
    let cases = cases.filter(|(_, cases)| !cases.symbols(Axis::Consent).eq(["mandated"]));
    cases.map(|(root, cases)| format!("{root}: {cases}")).collect()
}

/// Approach C is approach B as its floor: what it grants, B grants or asks about, but a purchase within the task's mandate, which B grants
/// or asks about too unless the questions are spent.
#[test]
fn approach_c_grants_nothing_that_b_refuses_but_by_the_mandate() {
    let c = include_str!("../../../policies/approach_c.policy");
    assert_eq!(beyond_b(c), [] as [String; 0]);
    // The control: a clause less, and the cases are named.
    let lax = c.replacen("    destination origin is the task's\n", "", 1);
    assert!(!beyond_b(&lax).is_empty());
}

/// The shipped statements about a mandate, and the counterexample where one of its bounds is taken out of the policy.
#[test]
fn a_mandate_without_its_bound_is_refused_with_a_counterexample() {
    let c = include_str!("../../../policies/approach_c.policy");
    let purchase = c.find("request purchase").unwrap();
    let (before, section) = c.split_at(purchase);
    let lax = section.replacen("    safety reaches the threshold else ask\n", "", 1);
    assert_ne!(lax, section);
    let violations =
        Policy::parse(&format!("{before}{lax}")).unwrap().compile().unwrap().check().err().unwrap();
    let found = violations.iter().find(|one| one.statement.contains("consent is mandated")).unwrap();
    assert_eq!(found.valuation.name(Axis::Consent), "mandated");
    assert_eq!(found.outcome, Outcome::Grant(Some(Delivery::PaymentApi)));
}
