//! The checker on automata that no policy text can express, and on careless policies.

use sirl::{Kind, Tier};

use crate::automaton::cube::Cube;
use crate::automaton::diagram::{Diagrams, Edge};
use crate::automaton::table::Table;
use crate::vocabulary::alphabet::Symbol;
use crate::{
    Axis, Compiled, ConsentScope, Delivery, Outcome, Policy, Reason, Root, Unchecked, VerbKind, symbol,
};

const SHIPPED: &str = include_str!("../../../policies/default.policy");

fn shipped() -> Compiled<Unchecked> {
    Policy::parse(SHIPPED).unwrap().compile().unwrap()
}

/// The shipped policy with another automaton for one root. Every other root is refused.
fn with_root(root: Root, build: impl Fn(&mut Diagrams) -> Edge) -> Compiled<Unchecked> {
    let mut diagrams = Diagrams::default();
    let deny = diagrams.outcome(Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden));
    let roots: Vec<_> =
        Root::all().map(|other| if other == root { build(&mut diagrams) } else { deny }).collect();
    let table = Table::flat(&diagrams, &roots).unwrap();
    let mut policy = shipped();
    policy.table = table;
    policy
}

/// The statements that fail, except the one that the automaton is that of the rules, which always fails here.
fn statements(policy: Compiled<Unchecked>) -> Vec<String> {
    let failed = policy.examine().into_iter().filter(|one| one.violation.is_some()).map(|one| one.words);
    let (not_own, rest): (Vec<_>, Vec<_>) =
        failed.partition(|words| words == super::equivalence::STATEMENTS[1]);
    assert_eq!(not_own.len(), 1);
    rest
}

fn violations(text: &str) -> String {
    let found = Policy::parse(text).unwrap().compile().unwrap().check().unwrap_err();
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_cubes_of_a_root_are_disjoint_and_fill_the_space() {
    let table: Table = shipped().table;
    let whole = Cube::whole().count();
    assert_eq!(whole, Axis::ALL.iter().map(|axis| axis.symbols().len() as u128).product());
    for root in Root::all() {
        let paths = table.paths(root);
        let filled: u128 = paths.iter().map(|(cube, _)| cube.count()).sum();
        assert_eq!(filled, whole, "{root}");
        for (index, (cube, outcome)) in paths.iter().enumerate() {
            assert_eq!(table.walk(root, &cube.witness()), *outcome, "{root}");
            assert!(paths[index + 1..].iter().all(|(other, _)| cube.intersect(other).is_none()), "{root}");
        }
    }
}

#[test]
fn a_safety_that_grants_where_a_higher_one_refuses_is_found() {
    let found = statements(with_root(Root::Verb(VerbKind::Click), |diagrams| {
        let grant = diagrams.outcome(Outcome::Grant(None));
        let deny = diagrams.outcome(Outcome::Deny(Axis::Safety, Reason::LowSafety));
        diagrams.state(Axis::Safety, |band| if band == symbol::Safety::T0.index() { grant } else { deny })
    }));
    assert_eq!(found, ["a lower safety never turns a refusal into a question or a grant"]);
}

#[test]
fn an_unknown_safety_counts_as_the_lowest() {
    let found = statements(with_root(Root::Verb(VerbKind::Click), |diagrams| {
        let grant = diagrams.outcome(Outcome::Grant(None));
        let ask = diagrams.outcome(Outcome::Ask(ConsentScope::Session));
        diagrams.state(Axis::Safety, |band| if band == symbol::Safety::Unknown.index() { grant } else { ask })
    }));
    assert!(
        found.contains(&"a lower safety never turns a refusal into a question or a grant".to_owned()),
        "{found:?}"
    );
    assert!(found.contains(&super::equivalence::STATEMENTS[2].to_owned()), "{found:?}");
}

#[test]
fn a_safety_that_replaces_the_consent_to_t2_is_found() {
    let spare = |root| {
        statements(with_root(root, |diagrams| {
            let grant = diagrams.outcome(Outcome::Grant(Some(Delivery::Fill)));
            let ask = diagrams.outcome(Outcome::Ask(ConsentScope::Session));
            diagrams.state(Axis::Safety, |band| if band == symbol::Safety::T2.index() { grant } else { ask })
        }))
    };
    let statement =
        "no safety turns a question into a grant of a T2 field, but where a mandate of the user's covers it"
            .to_owned();
    assert!(spare(Root::Request(Kind::Address, Tier::T2)).contains(&statement));
    assert!(!spare(Root::Request(Kind::Address, Tier::T1)).contains(&statement));
}

#[test]
fn a_low_safety_that_leaves_an_earlier_yes_in_force_is_found() {
    let asks =
        SHIPPED.replacen("    visible\n", "    visible\n    safety reaches the threshold else ask\n", 1);
    let asks = format!("{asks}\nthreshold T0 0.20 T1 0.50 T2 0.60\n");
    let statement = "a low safety that asks leaves no earlier yes in force: each release below the threshold is asked about";
    // An address, by the section that the clause was put into; the table forgets what a low safety does.
    let broken = |low: Outcome, policy: &str| {
        let mut found = with_root(Root::Request(Kind::Address, Tier::T2), |diagrams| {
            let high = diagrams.outcome(Outcome::Ask(ConsentScope::Session));
            let low = diagrams.outcome(low);
            let t2 = symbol::Safety::T2.index();
            diagrams.state(Axis::Safety, |band| if band == t2 { high } else { low })
        });
        found.policy = Policy::parse(policy).unwrap();
        statements(found).contains(&statement.to_owned())
    };
    assert!(broken(Outcome::Ask(ConsentScope::Session), &asks));
    assert!(broken(Outcome::Grant(Some(Delivery::Fill)), &asks));
    assert!(!broken(Outcome::Ask(ConsentScope::EveryTime), &asks));
    let denies = asks.replace(" else ask", "");
    assert!(!broken(Outcome::Ask(ConsentScope::Session), &denies), "the statement is about `else ask`");
    assert!(Policy::parse(&asks).unwrap().compile().unwrap().check().is_ok());
}

#[test]
fn a_table_that_ignores_a_denied_site_is_found() {
    let text = format!("{SHIPPED}\nsite \"bank.example\" {{ never click }}");
    let mut policy = with_root(Root::Verb(VerbKind::Click), |diagrams| {
        let grant = diagrams.outcome(Outcome::Grant(None));
        let deny = diagrams.outcome(Outcome::Deny(Axis::Site, Reason::SiteDenied));
        let unknown = symbol::Site::Unknown.index();
        diagrams.state(Axis::Site, |index| if index == unknown { deny } else { grant })
    });
    let with_site = Policy::parse(&text).unwrap().compile().unwrap();
    (policy.policy, policy.sites) = (with_site.policy, with_site.sites);
    assert_eq!(statements(policy), ["a site that is denied is denied whatever else holds"]);
}

const ORDER: &str = "an order by `ucp` goes from the top frame of the task's own page, over a valid connection, to that page's own origin over https";
const PURCHASE: &str = "a purchase by `ucp` is placed in a T2 container, within the task's budget, and after a yes that names payee and amount or by the mandate of the task";
const WAY: &str = "an order takes the fields of an address, of contact data or of a purchase alone, and goes by `ucp` and no other way, as nothing else does";

/// The statements that fail where the automaton of one order forgets a guard: whatever the symbol of the axis is, it answers as it does
/// for this one.
fn without_guard<S: Symbol>(root: Root, symbol: S) -> Vec<String> {
    let shipped = shipped();
    statements(with_root(root, |diagrams| {
        let edge = shipped.table.diagram(diagrams, root);
        diagrams.restrict(edge, S::AXIS, 1 << symbol.index())
    }))
}

#[test]
fn an_order_without_one_of_its_guards_is_found() {
    let [address, purchase] = [Kind::Address, Kind::Purchase].map(|kind| Root::Checkout(kind, Tier::T2));
    for root in [address, purchase] {
        for (found, axis) in [
            (without_guard(root, symbol::Origin::Task), "origin"),
            (without_guard(root, symbol::TopOrigin::Task), "top_origin"),
            (without_guard(root, symbol::Tls::Valid), "tls"),
            (without_guard(root, symbol::Frame::Top), "frame"),
            (without_guard(root, symbol::Document::Known), "document"),
            (without_guard(root, symbol::Destination::Task), "destination"),
        ] {
            assert!(found.contains(&ORDER.to_owned()), "{root} without {axis}: {found:?}");
        }
        assert_eq!(without_guard(root, symbol::Placement::Unplaced), [WAY], "{root}");
        let unseen = without_guard(root, symbol::Visibility::Unknown);
        assert_eq!(unseen, [] as [&str; 0], "{root}: nothing of an order can be seen");
        let below = without_guard(root, symbol::Container::T2);
        assert!(
            below.contains(&"no field is released in a container below its tier".to_owned()),
            "{below:?}"
        );
        let unasked = without_guard(root, symbol::Consent::Given);
        assert!(
            unasked.iter().any(|words| words.starts_with("no T2 field is released unless")),
            "{unasked:?}"
        );
    }
    for found in [
        without_guard(purchase, symbol::Container::T2),
        without_guard(purchase, symbol::Amount::Within),
        without_guard(purchase, symbol::Consent::Given),
    ] {
        assert!(found.contains(&PURCHASE.to_owned()), "{found:?}");
    }
}

#[test]
fn an_order_that_goes_another_way_is_found() {
    let grants = |root, delivery| {
        statements(with_root(root, |diagrams| diagrams.outcome(Outcome::Grant(Some(delivery)))))
    };
    let order = Root::Checkout(Kind::Address, Tier::T2);
    for delivery in Delivery::ALL {
        assert!(grants(order, delivery).contains(&WAY.to_owned()), "{delivery:?}");
    }
    for root in [Root::Request(Kind::Login, Tier::T2), Root::Verb(VerbKind::Click)] {
        let found = grants(root, Delivery::Ucp);
        assert!(found.contains(&WAY.to_owned()) && found.contains(&ORDER.to_owned()), "{root}: {found:?}");
        assert!(!grants(root, Delivery::Fill).contains(&WAY.to_owned()), "{root}");
    }
    // The table has no start for an order of another kind.
    let other = Root::Checkout(Kind::Login, Tier::T2);
    assert_eq!(
        shipped().outcome(other, &Cube::whole().witness()),
        Outcome::Deny(Axis::Plan, Reason::DeliveryForbidden)
    );
}

/// What the policy says of an order can only add guards, and what is left out of its section is guarded all the same.
#[test]
fn an_order_is_guarded_by_a_section_that_says_little() {
    let head = SHIPPED.split("request address").next().unwrap();
    let of = |section: &str| Policy::parse(&format!("{head}request {section}")).unwrap().compile().unwrap();
    let bare = "purchase { container T2 consent every time, naming payee and amount deliver ucp }";
    assert!(of(bare).check().is_ok());
    assert!(of("address { container covers the fields consent every time deliver ucp }").check().is_ok());
    let lax = "address { container covers the fields tls loopback consent every time deliver ucp }";
    assert!(of(lax).check().is_ok(), "it can never be granted");
    for (broken, words) in [
        (bare.replace("container T2 ", ""), PURCHASE),
        (bare.replace(", naming payee and amount", ""), PURCHASE),
        (bare.replace("every time, naming payee and amount", "once per session"), PURCHASE),
        (bare.replace("every time, naming payee and amount", "none"), PURCHASE),
        (bare.replace("ucp", "ucp or payment_api"), "a needed signal that is unknown is refused"),
    ] {
        assert_ne!(broken, bare);
        let found = of(&broken).check().unwrap_err();
        assert!(found.iter().any(|one| one.statement == words), "{broken}: {found}");
    }
}

/// The shipped automaton with one event that it grants or refuses more often than the rules do.
#[test]
fn a_table_that_grants_more_or_less_than_the_rules_is_found() {
    for more in [true, false] {
        let shipped = shipped();
        let click = Root::Verb(VerbKind::Click);
        let mut diagrams = Diagrams::default();
        let roots: Vec<Edge> = Root::all()
            .map(|root| {
                let edge = shipped.table.diagram(&mut diagrams, root);
                if root != click {
                    return edge;
                }
                let other = diagrams.outcome(if more {
                    Outcome::Grant(None)
                } else {
                    Outcome::Deny(Axis::Origin, Reason::OriginMismatch)
                });
                let here = diagrams.is(symbol::Tls::Broken);
                diagrams.select(here, other, edge)
            })
            .collect();
        let table = Table::flat(&diagrams, &roots).unwrap();
        let mut forged = shipped;
        forged.table = table;
        assert_eq!(super::equivalence::examine(&forged)[1].1.as_ref().map(|found| found.root), Some(click));
        assert!(forged.check().is_err());
    }
}

#[test]
fn a_prompt_about_a_refused_event_is_found() {
    let found = statements(with_root(Root::Verb(VerbKind::Click), |diagrams| {
        let deny = diagrams.outcome(Outcome::Deny(Axis::Consent, Reason::ConsentDenied));
        let ask = diagrams.outcome(Outcome::Ask(ConsentScope::Session));
        diagrams
            .state(Axis::Consent, |answer| if answer == symbol::Consent::None.index() { ask } else { deny })
    }));
    assert_eq!(found, ["no limit of the session is passed", "nobody is asked about what is refused anyway"]);
}

#[test]
fn every_careless_policy_has_a_counterexample() {
    let request = |inner: &str| {
        SHIPPED.replace("request payment {\n    consent every time\n    deliver nothing", inner)
    };
    let whole = "request payment { container covers the fields origin is the task's tls valid frame top
        destination origin is the task's destination https visible consent every time deliver fill";
    let cases = [
        (
            request(&whole.replace("container covers the fields", "container T0")),
            "container below its tier: but `payment` with T1 fields is granted by fill where container is T0 (given",
        ),
        (
            request(&whole.replace("origin is the task's tls", "tls")),
            "a needed signal that is unknown is refused",
        ),
        (request(&whole.replace("tls valid", "")), "a connection or to a form that is not encrypted"),
        (request(&whole.replace("destination https", "")), "destination is task_over_http"),
        (request(&whole.replace("destination origin is the task's", "")), "on the page's own word"),
        (request(&whole.replace("visible", "")), "visibility is hidden"),
        (request(&whole.replace("fill", "model")), "no T2 field reaches the model"),
        (request(&whole.replace("every time", "none")), "unless the user said yes"),
        (
            request(whole),
            "`never deliver payment to fill`: but `payment` with T1 fields is granted by fill (given that",
        ),
        (
            SHIPPED
                .replace("frame top\n    consent every time,", "frame same origin\n    consent every time,"),
            "`purchase` with T2 fields is granted by payment_api where frame is same_origin (given that ",
        ),
        (
            SHIPPED.replace(
                "unless container is T0\n    destination https or loopback",
                "unless container is T2\n    destination https or loopback",
            ),
            "`never grant open where container is T2 and destination is other or other_on_loopback`",
        ),
        (format!("{SHIPPED}\nprove never grant T1"), "`never grant T1`: but"),
        (
            format!("{SHIPPED}\nprove never deliver purchase to ucp"),
            "`never deliver purchase to ucp`: but `purchase` with T2 fields at a checkout is granted by ucp (given that",
        ),
        (
            format!("{SHIPPED}\nprove never grant address where visibility is unknown"),
            "at a checkout is granted by ucp where visibility is unknown",
        ),
        (
            format!("{SHIPPED}\nprove never grant click where container is T0"),
            "`never grant click where container is T0`: but `click` is granted where container is T0",
        ),
    ];
    for (text, expected) in cases {
        assert_ne!(text, SHIPPED, "{expected}");
        let found = violations(&text);
        assert!(found.contains(expected), "{expected}\nnot in\n{found}");
    }
}

#[test]
fn statements_that_hold_are_proved() {
    for proof in [
        "never grant T2 where claim is contradicts",
        "never grant login where consent is not given",
        "never grant purchase where frame is not top",
        "never grant type where sink is payment_form",
        "never grant open where destination is other_over_http",
        "never deliver T2 to model",
        "never deliver purchase to fill",
        "never deliver login to ucp",
        "never grant T2 where taint is tainted and consent is given",
    ] {
        let text = format!("{SHIPPED}\nprove {proof}");
        assert!(Policy::parse(&text).unwrap().compile().unwrap().check().is_ok(), "{proof}");
    }
}

#[test]
fn the_shipped_automaton_is_small() {
    let checked = shipped().check().unwrap();
    assert!(checked.states() < 250, "{}", checked.states());
    assert_eq!(
        checked.to_string(),
        format!("default version 1: 42 statements proved over {} states", checked.states())
    );
}
