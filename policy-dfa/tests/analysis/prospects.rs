//! Prospects: the outcomes that an event can still have.

use browser_signals::{Container, Fact, Observed};
use policy_dfa::{
    Axis, Consent, Event, History, Millis, Outcome, Partial, Policy, Prospect, Question, Root, SessionEvent,
    Task, symbol,
};
use proptest::prelude::*;
use sirl::{Field, Kind, Tier};

use crate::common::{DEFAULT, Scene, goal, origin, usd};
use crate::policies::{all, compiled, partial, policy, root};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_prospect_is_the_best_outcome_of_all_valuations(one in policy(), root in root(), known in partial()) {
        let policy = compiled(&one.1);
        let possible = policy.possible(root, &known);
        let certain = known.symbols(Axis::Consent).all(|symbol| symbol != "none");
        let mut best = Prospect::Never;
        let mut reasons = Vec::new();
        for valuation in all(&known) {
            best = best.max(match policy.outcome(root, &valuation) {
                Outcome::Deny(_, reason) => {
                    reasons.push(reason);
                    Prospect::Never
                }
                Outcome::Ask(_) => Prospect::NeedsConsent,
                Outcome::Grant(_) if certain || valuation.name(Axis::Consent) == "none" => Prospect::Granted,
                Outcome::Grant(_) => Prospect::NeedsConsent,
            });
        }
        prop_assert_eq!(possible.prospect, best);
        if best == Prospect::Never {
            prop_assert!(possible.conditions.is_empty());
            prop_assert!(reasons.iter().all(|reason| possible.reasons.contains(reason)));
            prop_assert!(possible.reasons.iter().all(|reason| reasons.contains(reason)));
            for rule in &possible.failed_rules {
                for valuation in all(&known) {
                    let why = policy.explain(root, &valuation);
                    prop_assert!(
                        why.failing.iter().any(|other| other.rule == rule.rule),
                        "{} does not fail for {:?}", rule, valuation
                    );
                }
            }
            return Ok(());
        }
        for valuation in all(&known) {
            let consents = ["none", "given", "refused", "expired", "mandated"].into_iter().filter(|consent| {
                known.symbols(Axis::Consent).any(|symbol| symbol == *consent)
            });
            let with = |consent: &str| {
                let mut other = valuation;
                other.set(Axis::Consent, Axis::Consent.symbols().iter().position(|s| *s == consent).unwrap() as u8);
                policy.outcome(root, &other)
            };
            let permitted = match best {
                Prospect::Granted if certain || valuation.name(Axis::Consent) == "none" => {
                    matches!(policy.outcome(root, &valuation), Outcome::Grant(_))
                }
                Prospect::Granted => continue,
                _ => consents.map(with).any(|outcome| !matches!(outcome, Outcome::Deny(..))),
            };
            let listed = possible.conditions.iter().any(|part| part.holds(&valuation));
            prop_assert_eq!(listed, permitted, "{} {:?}", possible, valuation);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_knowledge_before_a_page_holds_for_every_page(
        kind in prop::sample::select(Kind::ALL.to_vec()),
        planned in any::<bool>(),
        raised in prop::sample::select(vec![Container::T0, Container::T1, Container::T2]),
        shown in prop::sample::select(vec![
            Fact::Known(Container::T0), Fact::Known(Container::T1), Fact::Known(Container::T2), Fact::Unknown,
        ]),
        budget in prop::option::of(0u64..4),
        origins in prop::sample::select(vec![vec![], vec!["https://shop.example"]]),
        events in prop::collection::vec(prop::sample::select(vec![
            SessionEvent::Prompted, SessionEvent::Suspected, SessionEvent::Refused, SessionEvent::Paid(usd(1)),
            SessionEvent::Released(Kind::Address),
        ]), 0..8),
        elsewhere in any::<bool>(),
        money in prop::sample::select(vec!["", ", 0.02 USD", ", 2.00 EUR"]),
        free in any::<bool>(),
    ) {
        let rules = format!("    at most 1 address{money}\n    after refusal never login until new_task\n");
        let text = DEFAULT.replace("    after suspected", &format!("{rules}    after suspected")) + "site \"shop.example\" { never login }";
        let policy = Policy::parse(&text).unwrap().compile().unwrap().check().unwrap();
        let fields: &[Field] = if kind == Kind::Purchase { &[] } else { &[Field::Name, Field::Email] };
        let mut scene = Scene::new(kind, fields);
        scene.page.container = shown;
        if elsewhere {
            scene.page.origin = Fact::Known(origin("http://other.example"));
            scene.page.destination = goal("http://other.example");
        }
        let kinds = if planned { vec![kind] } else { vec![] };
        let origins = origins.into_iter().map(origin).collect();
        let task = Task::new(origins, kinds, budget.map(usd), raised);
        let history = events.iter().fold(History::default(), |history, one| policy.after(history, *one));
        let page = Observed::simulated(scene.page.clone(), 1);
        let Fact::Known(endpoint) = goal(if free { "https://shop.example" } else { "http://other.example" }) else {
            panic!()
        };
        for ((seen, amount), orders) in [(None, Some(usd(1))), (Some(&page), Some(usd(u64::from(!free)))), (Some(&page), None)]
            .into_iter()
            .flat_map(|case| [(case, false), (case, true)])
        {
            let placements: &[_] = if kind == Kind::Purchase { &[] } else { &scene.placements };
            let event = if orders {
                Event::Checkout { request: &scene.request, endpoint: &endpoint, amount }
            } else {
                Event::Request { request: &scene.request, placements, amount }
            };
            let root = policy.root(&event);
            let known = policy.before_page(root, &task, &history);
            let valuation = policy.valuation(&Question {
                event, page: seen, task: &task, consent: Consent::None, history,
                safety: Fact::Unknown, now: Millis(1),
            });
            for axis in Axis::ALL {
                prop_assert!(
                    known.symbols(*axis).any(|symbol| symbol == valuation.name(*axis)),
                    "{} is {} but {}", axis.as_str(), valuation.name(*axis), known
                );
            }
        }
    }
}

#[test]
fn the_prospects_of_a_task() {
    let policy = Policy::parse(DEFAULT).unwrap().compile().unwrap().check().unwrap();
    let shop = || vec![origin("https://shop.example")];
    let task = |kinds: &[Kind], raised| Task::new(shop(), kinds.to_vec(), Some(usd(10)), raised);
    let possible = |root, task: &Task, events: &[SessionEvent]| {
        let history = events.iter().fold(History::default(), |history, one| policy.after(history, *one));
        policy.possible(root, &policy.before_page(root, task, &history))
    };
    let address = Root::Request(Kind::Address, Tier::T2);
    let fine = possible(address, &task(&Kind::ALL, Container::T2), &[]);
    assert_eq!(fine.prospect, Prospect::NeedsConsent);
    assert_eq!(
        fine.to_string(),
        "only after asking, where site is free and container is T2 and origin is task and top_origin is task and \
         tls is valid or loopback and frame is top and document is known and destination is task or task_on_loopback \
         and claim is agrees and placement is whole or doubtful and visibility is seen"
            .replace("site is free and ", "")
    );
    let low = possible(address, &task(&Kind::ALL, Container::T1), &[]);
    assert_eq!(low.to_string(), "never\n  invalid_container: container covers the fields");
    let unplanned = possible(address, &task(&[Kind::Login], Container::T2), &[SessionEvent::Suspected]);
    let rules: Vec<&str> = unplanned.failed_rules.iter().map(|rule| rule.rule.as_str()).collect();
    assert_eq!(
        rules,
        ["every request: the task planned it", "after suspected_injection never T2 until new_task"]
    );
    let card = possible(Root::Request(Kind::Payment, Tier::T2), &task(&Kind::ALL, Container::T2), &[]);
    assert_eq!(card.to_string(), "never\n  delivery_forbidden: deliver nothing");
    let buy = Root::Request(Kind::Purchase, Tier::T2);
    let poor = Task::new(shop(), Kind::ALL.to_vec(), None, Container::T2);
    assert_eq!(
        possible(buy, &poor, &[]).failed_rules[0].rule,
        "every request: the amount is within the budget"
    );
    let bought = possible(buy, &task(&Kind::ALL, Container::T2), &[SessionEvent::Paid(usd(1))]);
    assert_eq!(bought.failed_rules[0].rule, "at most 1 purchase");
    let asked = possible(address, &task(&Kind::ALL, Container::T2), &[SessionEvent::Prompted; 5]);
    assert_eq!(asked.prospect, Prospect::NeedsConsent, "an earlier consent may still hold");
    let read = policy.possible(Root::Verb(policy_dfa::VerbKind::Read), &Partial::anything());
    assert_eq!(read.to_string(), "may be granted without asking");
    let open = Partial::anything().among(&[symbol::Container::T0]).unwrap();
    assert_eq!(
        policy.possible(Root::Verb(policy_dfa::VerbKind::Open), &open).to_string(),
        "may be granted without asking, where destination is not task_over_http or other_over_http or unknown and flow is own or stays"
    );
}

#[test]
fn a_rule_that_asks_is_not_a_failed_rule() {
    let text = format!("{}verb type {{\n container T2\n flow own else ask\n}}\n", crate::policies::HEAD);
    let policy = Policy::parse(&text).unwrap().compile().unwrap();
    let known = Partial::anything().among(&[symbol::Container::T0]).unwrap();
    let known = known.among(&[symbol::Flow::Crosses]).unwrap();
    let typing = policy.possible(Root::Verb(policy_dfa::VerbKind::Type), &known);
    assert_eq!(typing.to_string(), "never\n  invalid_container: container T2");
    let known = Partial::anything().among(&[symbol::Flow::Unknown]).unwrap();
    let typing = policy.possible(Root::Verb(policy_dfa::VerbKind::Type), &known);
    assert_eq!(typing.to_string(), "never\n  signal_unknown:flow: flow own else ask");
}

#[test]
fn a_free_purchase_is_within_an_exhausted_budget() {
    let text = DEFAULT.replace("at most 1 purchase", "at most 9 purchases, 0.02 USD");
    let policy = Policy::parse(&text).unwrap().compile().unwrap().check().unwrap();
    let shop = vec![origin("https://shop.example")];
    let buy = Root::Request(Kind::Purchase, Tier::T2);
    let amounts = |budget: u64, spent: u64| {
        let task = Task::new(shop.clone(), vec![Kind::Purchase], Some(usd(budget)), Container::T2);
        let history = policy.after(History::default(), SessionEvent::Paid(usd(spent)));
        policy.before_page(buy, &task, &history).symbols(Axis::Amount).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(amounts(5, 2), "within over unknown");
    assert_eq!(amounts(5, 3), "over unknown");
    assert_eq!(amounts(1, 2), "over unknown");
}
