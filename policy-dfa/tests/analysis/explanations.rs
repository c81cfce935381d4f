//! Explanations.

use policy_dfa::{
    Axis, Compiled, Outcome, Policy, Root, SessionEvent, Unchecked, Valuation, VerbKind, symbol,
};
use proptest::prelude::*;
use sirl::{Kind, Tier};

use crate::common::DEFAULT;
use crate::policies::{compiled, good, policy, root, valuation};

/// Whether some symbols of these axes give a grant, with the other axes fixed.
fn helps(policy: &Compiled<Unchecked>, root: Root, at: &Valuation, axes: &[Axis]) -> bool {
    let Some((axis, rest)) = axes.split_first() else {
        return matches!(policy.outcome(root, at), Outcome::Grant(_));
    };
    (0..axis.symbols().len() as u8).any(|symbol| {
        let mut other = *at;
        other.set(*axis, symbol);
        helps(policy, root, &other, rest)
    })
}

#[test]
fn a_low_safety_is_explained_as_the_reason_of_a_question() {
    let text = include_str!("../../../policies/approach_c.policy");
    let policy = Policy::parse(text).unwrap().compile().unwrap();
    let root = Root::Request(Kind::Address, Tier::T2);
    let low = good().with(symbol::Safety::T0).with(symbol::Consent::None);
    let why = policy.explain(root, &low);
    assert_eq!(why.outcome, Outcome::Ask(policy_dfa::ConsentScope::EveryTime));
    assert_eq!(why.failing, []);
    let told = why.to_string();
    let because =
        "A question is needed each time because safety is T0: safety reaches the threshold else ask";
    assert!(told.contains(because), "{told}");
    assert!(told.contains("It would be granted if consent were given"), "{told}");
    let unknown = policy.explain(root, &low.with(symbol::Safety::Unknown)).to_string();
    assert!(unknown.contains("refused: signal_unknown:safety"), "{unknown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_first_failed_rule_gives_the_reason(one in policy(), root in root(), at in valuation()) {
        let why = compiled(&one.1).explain(root, &at);
        match why.outcome {
            Outcome::Deny(axis, reason) => {
                prop_assert!(!why.failing.is_empty(), "{:?}", why);
                prop_assert_eq!((why.failing[0].axis, why.failing[0].reason), (axis, reason));
            }
            _ => prop_assert!(why.failing.is_empty(), "{}", why),
        }
        for rule in why.failing.iter().chain(&why.asking) {
            if let Some(span) = rule.span.clone() {
                let written = &one.0[span];
                let word = |text: &str| text.split([' ', '"']).next().unwrap().to_owned();
                let section = ["address", "login", "open", "type"].contains(&written);
                prop_assert!(section || written.starts_with('"') || word(written) == word(&rule.rule), "{} {}", written, rule.rule);
            }
        }
    }

    #[test]
    fn the_remedies_are_minimal(one in policy(), root in root(), at in valuation()) {
        let policy = compiled(&one.1);
        let why = policy.explain(root, &at);
        if matches!(why.outcome, Outcome::Grant(_)) {
            prop_assert!(why.remedies.is_empty());
            return Ok(());
        }
        let sets: Vec<Vec<Axis>> = why.remedies.iter().map(|remedy| remedy.limits().collect()).collect();
        for (remedy, set) in why.remedies.iter().zip(&sets) {
            // The remedy gives a grant, and it needs each of its signals.
            let mut choice = at;
            for axis in set {
                choice.set(*axis, remedy.witness().get(*axis));
            }
            prop_assert!(matches!(policy.outcome(root, &choice), Outcome::Grant(_)), "{}", why);
            if set.len() <= 5 {
                for spared in set {
                    let fewer: Vec<Axis> = set.iter().copied().filter(|axis| axis != spared).collect();
                    prop_assert!(!helps(&policy, root, &at, &fewer), "{} without {:?}", why, spared);
                }
            }
        }
        let least = sets.iter().map(Vec::len).min().unwrap_or(usize::MAX);
        prop_assert!(sets.first().is_none_or(|set| set.len() == least));
        for (index, one) in Axis::ALL.iter().enumerate() {
            if least > 1 {
                prop_assert!(!helps(&policy, root, &at, &[*one]), "{} and {:?}", why, one);
            }
            for other in Axis::ALL[index + 1..].iter().filter(|_| least > 2) {
                prop_assert!(!helps(&policy, root, &at, &[*one, *other]), "{why} and {one:?} {other:?}");
            }
        }
    }

    /// When the signals of the failed rules are corrected one after the other, the reason moves from one rule to the
    /// next, and no rule remains that was not listed.
    #[test]
    fn every_failed_rule_is_listed(root in root(), at in valuation()) {
        let policy = Policy::parse(DEFAULT).unwrap().compile().unwrap();
        let why = policy.explain(root, &at);
        let mut now = at;
        let fixed: Vec<Axis> = why.failing.iter().map(|rule| rule.axis).collect();
        for rule in &why.failing {
            let Outcome::Deny(axis, reason) = policy.outcome(root, &now) else {
                // One correction can satisfy two rules about the same signal.
                prop_assert!(fixed.iter().filter(|axis| **axis == rule.axis).count() > 1);
                continue;
            };
            if matches!(root, Root::Request(..)) && reason.code() == "delivery_forbidden" {
                return Ok(());
            }
            if axis != rule.axis {
                continue;
            }
            now.set(axis, good().get(axis));
        }
        if !matches!(root, Root::Verb(_)) {
            prop_assert!(!matches!(policy.outcome(root, &now), Outcome::Deny(..)), "{} then {:?}", why, now);
        }
    }
}

#[test]
fn an_explanation_names_every_rule_and_what_would_help() {
    let policy = Policy::parse(DEFAULT).unwrap().compile().unwrap();
    let at = good()
        .with(symbol::Container::T1)
        .with(symbol::Tls::Broken)
        .with(symbol::Claim::Contradicts)
        .with(symbol::Consent::None);
    let why = policy.explain(Root::Request(Kind::Address, Tier::T2), &at);
    assert_eq!(
        why.to_string(),
        "`address` with T2 fields is refused: invalid_container. This browser container is not trusted enough \
         for the data that was asked for; you can raise it.\n\
         Because container is T1: container covers the fields\n\
         Besides, tls is broken: tls valid or loopback\n\
         Besides, claim is contradicts: every request: the browser confirms what the model claims\n\
         It would be granted if container were T2 and tls were valid or loopback and claim were agrees and \
         consent were given"
    );
    assert_eq!(&DEFAULT[why.failing[1].span.clone().unwrap()], "tls valid or loopback");
    let payment = policy.explain(Root::Request(Kind::Payment, Tier::T2), &good());
    assert_eq!((payment.failing[0].rule.as_str(), payment.remedies.len()), ("deliver nothing", 0));
    assert!(payment.to_string().ends_with("only another policy does."));
    let press = policy.explain(Root::Verb(VerbKind::Press), &good().with(symbol::Origin::Other));
    let helps: Vec<String> = press.remedies.iter().map(ToString::to_string).collect();
    assert_eq!(helps, ["container is T0", "origin is task"]);
}

#[test]
fn conditions_and_prompts_of_a_verb_are_explained() {
    let text = format!(
        "{}verb type {{\n tls valid if sink is other\n flow stays else ask\n}}\nsession {{ at most 2 prompts }}\n",
        crate::policies::HEAD
    );
    let policy = Policy::parse(&text).unwrap().compile().unwrap();
    let why = |at: Valuation| policy.explain(Root::Verb(VerbKind::Type), &at);
    let base = good().with(symbol::Sink::Other);
    let rules = |why: &[policy_dfa::FailedRule]| {
        why.iter().map(|one| format!("{} {}", one.axis.as_str(), one.rule)).collect::<Vec<_>>()
    };
    let unclear = why(base.with(symbol::Sink::Unknown));
    assert_eq!(rules(&unclear.failing), ["sink tls valid if sink is other"]);
    assert_eq!(unclear.failing[0].reason.code(), "signal_unknown:sink");
    assert!(why(base.with(symbol::Sink::Login).with(symbol::Tls::Broken)).failing.is_empty());
    let crossing = base.with(symbol::Flow::Crosses);
    let asked = why(crossing.with(symbol::Consent::None));
    assert_eq!(
        (rules(&asked.failing).len(), rules(&asked.asking)),
        (0, vec!["flow flow stays else ask".to_owned()])
    );
    assert!(matches!(asked.outcome, Outcome::Ask(_)));
    let refused = why(crossing.with(symbol::Consent::Refused));
    assert_eq!(rules(&refused.failing), ["consent the user is asked"]);
    let spent = why(crossing.with(symbol::Consent::None).with(symbol::Prompts::Spent));
    assert_eq!(rules(&spent.failing), ["prompts at most 2 prompts"]);
    assert_eq!(rules(&why(base.with(symbol::Consent::Refused)).failing), Vec::<String>::new());
}

#[test]
fn a_barred_event_is_listed_with_the_events_that_end_the_bar() {
    let text = DEFAULT.replace(
        "    after suspected",
        "    after refusal never address, open until open\n    at most 1 address, 3.00 USD\n    after login never address until new_task\n    after suspected",
    );
    let policy = Policy::parse(&text).unwrap().compile().unwrap();
    let barred = |root: Root, events: &[SessionEvent]| {
        let step = |history, one: &SessionEvent| policy.after(history, *one);
        let history = events.iter().fold(policy_dfa::History::default(), step);
        policy.barred(root, &history).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let address = Root::Request(Kind::Address, Tier::T2);
    assert!(barred(address, &[]).is_empty());
    assert_eq!(
        barred(
            address,
            &[SessionEvent::Refused, SessionEvent::Suspected, SessionEvent::Released(Kind::Address)]
        ),
        [
            "after refusal never address, open until open (until open or new_task)",
            "after suspected_injection never T2 until new_task (until new_task)",
            "at most 1 address (until new_task)",
        ]
    );
    assert!(barred(address, &[SessionEvent::Refused, SessionEvent::Done(VerbKind::Open)]).is_empty());
    assert_eq!(
        barred(address, &[SessionEvent::Released(Kind::Login)]),
        ["after login never address until new_task (until new_task)"],
        "the bar after a refusal has not begun"
    );
    let buy = Root::Request(Kind::Purchase, Tier::T2);
    let paid = [SessionEvent::Paid(crate::common::usd(300))];
    assert_eq!(
        barred(buy, &paid),
        ["at most 1 purchase (until new_task)", "at most 3.00 USD (until new_task)"]
    );
    assert!(barred(address, &paid).is_empty());
    assert_eq!(barred(Root::Request(Kind::Address, Tier::T1), &[SessionEvent::Suspected]).len(), 0);
    assert_eq!(
        barred(Root::Verb(VerbKind::Open), &[SessionEvent::Prompted; 5]),
        ["at most 5 prompts (until new_task)"]
    );
}
