//! Orders by `ucp`: the guard sends to the shop's own endpoint, so no form of the page takes part, and every fact about the page
//! and the endpoint matters whatever the policy says.

use crate::common::{DEFAULT, Scene, goal, guard, origin, reason, task, usd};
use crate::redeem::ANY;
use allocation_counter::measure;
use browser_signals::{Container, Destination, DocumentId, Fact, FrameId, Observed, TlsState};
use policy_dfa::{
    Axis, Consent, ConsentScope, DecisionPoint, Delivery, Event, GRANT_LIFETIME_MS, Grant, Granted, History,
    Millis, Outcome, Policy, Prospect, Question, Reason, RedeemError, Root, SafetyBand, SessionEvent, SignOn,
    Signal, Task, Ucp, Verdict,
};
use sirl::{Currency, Field, FieldSet, Kind, Money, Tier};

const SHOP: &str = "https://shop.example";
const OTHER: &str = "https://other.example";
const APPROACH_C: &str = include_str!("../../../policies/approach_c.policy");

/// A request that the guard answers at an endpoint, on a page without any form.
#[derive(Clone)]
struct Order {
    scene: Scene,
    endpoint: Destination,
}

fn endpoint(at: &str) -> Destination {
    Destination { origin: origin(at), path: "/ucp/checkout-sessions".into(), method: "POST".into() }
}

fn order(kind: Kind, fields: &[Field]) -> Order {
    let mut scene = Scene::new(kind, fields);
    (scene.page.form, scene.page.destination, scene.page.target) = (None, Fact::Unknown, None);
    scene.page.controls.clear();
    scene.placements.clear();
    Order { scene, endpoint: endpoint(SHOP) }
}

fn address() -> Order {
    order(Kind::Address, &[])
}

fn purchase() -> Order {
    order(Kind::Purchase, &[])
}

impl Order {
    fn ask<T>(
        &self,
        point: &mut DecisionPoint,
        answer: impl FnOnce(&mut DecisionPoint, &Question<'_>) -> T,
    ) -> T {
        let scene = &self.scene;
        let page = Observed::simulated(scene.page.clone(), scene.number);
        let step = |history, event: &SessionEvent| point.after(history, *event);
        let history = scene.history.iter().fold(History::default(), step);
        let event =
            Event::Checkout { request: &scene.request, endpoint: &self.endpoint, amount: scene.amount };
        let question = Question {
            event,
            page: Some(&page),
            task: &scene.task,
            consent: scene.consent,
            history,
            safety: scene.safety,
            now: scene.now,
        };
        answer(point, &question)
    }

    fn decide(&self, point: &mut DecisionPoint) -> Verdict {
        self.ask(point, |point, question| point.decide(question))
    }

    fn grant(&self, point: &mut DecisionPoint) -> Grant<Ucp> {
        match self.decide(point) {
            Verdict::Grant(Granted::Ucp(grant)) => grant,
            other => panic!("{other:?}"),
        }
    }

    fn symbol(&self, point: &mut DecisionPoint, axis: Axis) -> &'static str {
        self.ask(point, |point, question| point.valuation(question).1.name(axis))
    }
}

type Change = (&'static str, fn(&mut Order), Reason);

fn each_refuses(policy: &str, order: &Order, changes: &[Change]) {
    let (mut point, _) = guard(policy);
    assert!(matches!(order.decide(&mut point), Verdict::Grant(Granted::Ucp(_))));
    for (name, change, expected) in changes {
        for consent in [Consent::None, Consent::Given] {
            let mut changed = order.clone();
            changed.scene.consent = consent;
            change(&mut changed);
            assert_eq!(reason(changed.decide(&mut point)), *expected, "{name}");
        }
    }
}

fn at(order: &mut Order, text: &str) {
    order.scene.page.origin = Fact::Known(origin(text));
    order.scene.page.top_origin = order.scene.page.origin.clone();
    order.endpoint = endpoint(text);
}

const EACH: &[Change] = &[
    (
        "kind not planned",
        |o| o.scene.task = Task::new(vec![origin(SHOP)], vec![], o.scene.task.budget(), Container::T2),
        Reason::UnplannedRequest,
    ),
    ("tainted", |o| o.scene.history.push(SessionEvent::Suspected), Reason::TaintedSession),
    ("T1", |o| o.scene.page.container = Fact::Known(Container::T1), Reason::InvalidContainer),
    (
        "container unknown",
        |o| o.scene.page.container = Fact::Unknown,
        Reason::SignalUnknown(Signal::Container),
    ),
    (
        "container above the task's",
        |o| o.scene.task = task(Container::T1),
        Reason::SignalUnknown(Signal::Container),
    ),
    ("another shop, with its endpoint", |o| at(o, OTHER), Reason::OriginMismatch),
    ("origin unknown", |o| o.scene.page.origin = Fact::Unknown, Reason::SignalUnknown(Signal::Origin)),
    ("other top origin", |o| o.scene.page.top_origin = Fact::Known(origin(OTHER)), Reason::OriginMismatch),
    ("tls broken", |o| o.scene.page.tls = Fact::Known(TlsState::Broken), Reason::TlsInvalid),
    ("no tls", |o| o.scene.page.tls = Fact::Known(TlsState::Insecure), Reason::TlsInvalid),
    ("tls unknown", |o| o.scene.page.tls = Fact::Unknown, Reason::SignalUnknown(Signal::Tls)),
    ("framed by itself", |o| o.scene.page.ancestors = Fact::Known(vec![origin(SHOP)]), Reason::FrameNotTop),
    ("ancestors unknown", |o| o.scene.page.ancestors = Fact::Unknown, Reason::SignalUnknown(Signal::Frame)),
    (
        "document unknown",
        |o| {
            o.scene.page.document = Fact::Unknown;
            o.scene.page.top_document = Fact::Unknown;
        },
        Reason::SignalUnknown(Signal::Document),
    ),
    ("endpoint elsewhere", |o| o.endpoint = endpoint(OTHER), Reason::WrongDestination),
    (
        "endpoint of another site of the task",
        |o| {
            let origins = vec![origin(SHOP), origin(OTHER)];
            o.scene.task = Task::new(origins, Kind::ALL.to_vec(), Some(usd(10_000)), Container::T2);
            o.endpoint = endpoint(OTHER);
        },
        Reason::WrongDestination,
    ),
    (
        "endpoint at another port",
        |o| o.endpoint = endpoint("https://shop.example:8443"),
        Reason::WrongDestination,
    ),
    (
        "endpoint over http",
        |o| {
            let origins = vec![origin(SHOP), origin("http://shop.example")];
            o.scene.task = Task::new(origins, Kind::ALL.to_vec(), Some(usd(10_000)), Container::T2);
            o.endpoint = endpoint("http://shop.example");
        },
        Reason::WrongDestination,
    ),
    ("claimed origin", |o| o.scene.request.claim.origin = Some(OTHER.into()), Reason::ClaimMismatch),
    ("claimed tls", |o| o.scene.request.claim.tls = Some(false), Reason::ClaimMismatch),
    (
        "fields of another kind",
        |o| o.scene.request.fields = FieldSet::EMPTY.with(Field::CardNumber),
        Reason::NoControl,
    ),
    ("refused", |o| o.scene.consent = Consent::Refused, Reason::ConsentDenied),
    ("expired", |o| o.scene.consent = Consent::Expired, Reason::ConsentExpired),
];

#[test]
fn each_fact_of_an_order_matters() {
    for policy in [DEFAULT, APPROACH_C] {
        for mut order in [address(), purchase()] {
            order.scene.safety = Fact::Known(SafetyBand::T2);
            each_refuses(policy, &order, EACH);
        }
    }
    let bare = |section: &str| {
        let head = DEFAULT.split("request address").next().unwrap();
        format!("{head}request {section}\nsession {{ after suspected_injection never T2 until new_task }}")
    };
    // A section that says nothing of the page and the endpoint.
    each_refuses(
        &bare("address { container covers the fields consent every time deliver ucp }"),
        &address(),
        EACH,
    );
    let buys = "purchase { container T2 consent every time, naming payee and amount deliver ucp }";
    each_refuses(&bare(buys), &purchase(), EACH);
}

#[test]
fn the_total_that_the_shop_signed_is_within_the_budget() {
    each_refuses(
        DEFAULT,
        &purchase(),
        &[
            ("second purchase", |o| o.scene.history.push(SessionEvent::Paid(usd(0))), Reason::LimitReached),
            ("over the budget", |o| o.scene.amount = Some(usd(10_001)), Reason::BudgetSpent),
            (
                "other currency",
                |o| o.scene.amount = Money::parse("1.00", Currency::new("EUR").unwrap()),
                Reason::BudgetSpent,
            ),
            (
                "no budget",
                |o| o.scene.task = Task::new(vec![origin(SHOP)], Kind::ALL.to_vec(), None, Container::T2),
                Reason::BudgetSpent,
            ),
            ("no total", |o| o.scene.amount = None, Reason::SignalUnknown(Signal::Amount)),
            ("claimed total", |o| o.scene.request.claim.total = Some(usd(1)), Reason::ClaimMismatch),
        ],
    );
    // What other purchases of the task cost counts, whichever way they were paid.
    let many = DEFAULT.replace("at most 1 purchase", "at most 9 purchases");
    let after = |spent: u64| {
        let mut order = purchase();
        order.scene.history = vec![SessionEvent::Paid(usd(spent))];
        order.decide(&mut guard(&many).0)
    };
    assert!(matches!(after(3_585), Verdict::Grant(Granted::Ucp(_))));
    assert_eq!(reason(after(3_586)), Reason::BudgetSpent);
}

#[test]
fn nothing_is_ordered_on_this_machine() {
    let mut order = address();
    at(&mut order, "http://localhost:3000");
    order.scene.page.tls = Fact::Known(TlsState::Loopback);
    let site = origin("http://localhost:3000");
    let task = Task::new(vec![site.clone()], Kind::ALL.to_vec(), None, Container::T2);
    order.scene.task = task.with_sites_on_this_machine([site]);
    let (mut point, _) = guard(DEFAULT);
    assert_eq!(reason(order.decide(&mut point)), Reason::TlsInvalid);
    assert_eq!(order.symbol(&mut point, Axis::Tls), "insecure");
    assert_eq!(order.symbol(&mut point, Axis::Destination), "task_over_http");
}

#[test]
fn the_page_s_form_takes_no_part() {
    let (mut point, _) = guard(DEFAULT);
    for plain in [address(), purchase()] {
        let mut order = plain.clone();
        // A form that is sent elsewhere, with a hidden control.
        order.scene.page.destination = goal(OTHER);
        order.scene.page.form = Some(browser_signals::NodeId(1));
        let mut hidden = crate::common::control(10);
        hidden.visible = Fact::Known(false);
        order.scene.page.controls = vec![hidden];
        let grant = order.grant(&mut point);
        let terms = grant.terms();
        assert_eq!((terms.form, &*terms.placements, &terms.provider), (None, &[][..], &None));
        assert_eq!(terms.destination.as_ref(), Some(&order.endpoint));
    }
}

#[test]
fn an_endpoint_is_judged_without_the_frame_of_a_provider_and_without_a_sign_on() {
    let named = include_str!("../../../policies/approach_a.policy").replacen(
        "request payment",
        "provider \"Pay\" { frame \"https://pay.example\" token \"https://api.pay.example\" }\nrequest payment",
        1,
    );
    let named = named.replacen("deliver fill", "deliver fill or ucp", 1);
    let mut framed = address();
    framed.scene.page.frame = FrameId::new("inner");
    framed.scene.page.document = Fact::Known(DocumentId::new("card fields"));
    framed.scene.page.origin = Fact::Known(origin("https://pay.example"));
    framed.scene.page.ancestors = Fact::Known(vec![origin(SHOP)]);
    let (mut point, _) = guard(&named);
    assert_eq!(framed.symbol(&mut point, Axis::Frame), "provider");
    // The frame of the provider is on another origin than the shop's endpoint.
    assert_eq!(framed.symbol(&mut point, Axis::Destination), "other");
    assert_eq!(reason(framed.decide(&mut point)), Reason::OriginMismatch);

    let (mut point, _) = guard(DEFAULT);
    for mut order in [address(), purchase()] {
        at(&mut order, OTHER);
        order.scene.task =
            order.scene.task.signing_on(SignOn { provider: origin(OTHER), site: origin(SHOP) });
        assert_eq!(reason(order.decide(&mut point)), Reason::OriginMismatch);
        assert_eq!(order.symbol(&mut point, Axis::Destination), "other");
    }
}

#[test]
fn a_way_belongs_to_its_event() {
    let only = |ways: &str, kind: Kind| {
        let shipped =
            if kind == Kind::Address { "deliver fill or ucp" } else { "deliver ucp or payment_api" };
        DEFAULT.replacen(shipped, &format!("deliver {ways}"), 1)
    };
    let in_page = |policy: &str, kind| Scene::new(kind, &[]).decide(&mut guard(policy).0);
    for (kind, ordered, other) in
        [(Kind::Address, address(), "fill"), (Kind::Purchase, purchase(), "payment_api")]
    {
        for ways in [format!("ucp or {other}"), format!("{other} or ucp")] {
            let policy = only(&ways, kind);
            assert!(matches!(ordered.decide(&mut guard(&policy).0), Verdict::Grant(Granted::Ucp(_))));
            let granted = in_page(&policy, kind);
            assert!(
                matches!(granted, Verdict::Grant(Granted::Fill(_) | Granted::PaymentApi(_))),
                "{granted:?}"
            );
            let names: Vec<_> = guard(&policy).0.deliveries(kind).iter().map(|way| way.as_str()).collect();
            assert_eq!(names.join(" or "), ways);
        }
        assert_eq!(reason(in_page(&only("ucp", kind), kind)), Reason::DeliveryForbidden);
        assert!(matches!(ordered.decide(&mut guard(&only("ucp", kind)).0), Verdict::Grant(_)));
        assert_eq!(reason(ordered.decide(&mut guard(&only(other, kind)).0)), Reason::DeliveryForbidden);
        assert!(matches!(in_page(&only(other, kind), kind), Verdict::Grant(_)));
        assert_eq!(reason(ordered.decide(&mut guard(&only("nothing", kind)).0)), Reason::DeliveryForbidden);
    }
    // Approach A pays in the shop's form, and orders nothing.
    let a = include_str!("../../../policies/approach_a.policy");
    for mut order in [address(), purchase()] {
        order.scene.safety = Fact::Known(SafetyBand::T2);
        assert_eq!(reason(order.decide(&mut guard(a).0)), Reason::DeliveryForbidden);
    }
    let (mut point, _) = guard(DEFAULT);
    for kind in
        Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Address | Kind::Contact | Kind::Purchase))
    {
        assert_eq!(reason(order(kind, &[]).decide(&mut point)), Reason::DeliveryForbidden, "{kind:?}");
        assert!(!point.deliveries(kind).contains(&Delivery::Ucp));
    }
    assert_eq!(point.deliveries(Kind::Payment), []);
}

#[test]
fn a_preflight_looks_at_both_ways() {
    let both = DEFAULT;
    let only = DEFAULT.replacen("deliver fill or ucp", "deliver ucp", 1);
    let seen = |policy: &str, container| {
        let (point, _) = guard(policy);
        point.preflight(Kind::Address, FieldSet::EMPTY, &task(container), &History::default())
    };
    for policy in [both, &only] {
        assert_eq!(seen(policy, Container::T2).prospect, Prospect::NeedsConsent);
        let low = seen(policy, Container::T1);
        assert_eq!((low.prospect, low.failed_rules[0].reason), (Prospect::Never, Reason::InvalidContainer));
    }
    assert!(!seen(&only, Container::T2).to_string().contains("visibility"));
    let (point, _) = guard(&DEFAULT.replacen("deliver fill or ucp", "deliver nothing", 1));
    let none = point.preflight(Kind::Address, FieldSet::EMPTY, &task(Container::T2), &History::default());
    assert_eq!(none.failed_rules[0].rule, "deliver nothing");
}

#[test]
fn the_user_is_asked_about_an_order_as_about_a_request() {
    let (mut point, _) = guard(DEFAULT);
    let ask = |mut order: Order, point: &mut DecisionPoint| {
        order.scene.consent = Consent::None;
        match order.decide(point) {
            Verdict::Ask(prompt) => prompt,
            other => panic!("{other:?}"),
        }
    };
    let prompt = ask(purchase(), &mut point);
    assert_eq!(
        (prompt.kind, prompt.scope, prompt.amount),
        (Some(Kind::Purchase), ConsentScope::EveryTime, Some(usd(6415)))
    );
    let prompt = ask(address(), &mut point);
    assert_eq!(
        (prompt.kind, prompt.scope, prompt.amount),
        (Some(Kind::Address), ConsentScope::Session, None)
    );
    assert_eq!(prompt.fields, address().scene.request.effective_fields());
    let mut flooded = purchase();
    flooded.scene.consent = Consent::None;
    flooded.scene.history = vec![SessionEvent::Prompted; 5];
    assert_eq!(reason(flooded.decide(&mut point)), Reason::QuestionsSpent);
}

#[test]
fn a_mandate_covers_an_order_while_all_looks_safe() {
    let decide = |policy: &str, safety: Fact<SafetyBand>| {
        let mut order = purchase();
        (order.scene.consent, order.scene.safety) = (Consent::Mandated, safety);
        order.decide(&mut guard(policy).0)
    };
    assert!(matches!(decide(APPROACH_C, Fact::Known(SafetyBand::T2)), Verdict::Grant(Granted::Ucp(_))));
    for low in [SafetyBand::Below, SafetyBand::T1] {
        assert!(
            matches!(decide(APPROACH_C, Fact::Known(low)), Verdict::Ask(prompt) if prompt.scope == ConsentScope::EveryTime)
        );
    }
    assert_eq!(reason(decide(APPROACH_C, Fact::Unknown)), Reason::SignalUnknown(Signal::Safety));
    assert!(matches!(decide(DEFAULT, Fact::Known(SafetyBand::T2)), Verdict::Ask(_)));
}

#[test]
fn a_site_rule_is_about_the_endpoint_too() {
    let decide = |rule: &str, order: &Order| order.decide(&mut guard(&format!("{DEFAULT}\n{rule}\n")).0);
    for order in [address(), purchase()] {
        for rule in [
            "site \"shop.example/ucp/*\" { never address, purchase }",
            "site \"shop.example\" { never address, purchase }",
            "site \"shop.example/pay\" { only address, purchase }",
        ] {
            assert_eq!(reason(decide(rule, &order)), Reason::SiteDenied, "{rule}");
        }
        for rule in [
            "site \"shop.example/ucp/*\" { only address, purchase }",
            "site \"shop.example/pay\" { never address, purchase }",
        ] {
            assert!(matches!(decide(rule, &order), Verdict::Grant(Granted::Ucp(_))), "{rule}");
        }
    }
}

#[test]
fn the_terms_of_an_order_name_the_endpoint() {
    let (mut point, verifier) = guard(DEFAULT);
    for (order, amount) in [(address(), None), (purchase(), Some(usd(6415)))] {
        let mut order = order;
        // The caller's total of an address is none.
        order.scene.amount = order.scene.amount.or(Some(usd(1)));
        let grant = order.grant(&mut point);
        assert!(format!("{grant:?}").starts_with("Grant<ucp>("), "{grant:?}");
        let redeemed = verifier.redeem(grant, &order.scene.later(), Millis(1_001)).unwrap();
        let terms = redeemed.terms();
        assert_eq!(
            (terms.kind, terms.fields),
            (order.scene.request.kind, order.scene.request.effective_fields())
        );
        assert_eq!(
            (terms.destination.as_ref(), terms.goes_to().as_ref()),
            (Some(&order.endpoint), Some(&order.endpoint))
        );
        assert_eq!((terms.amount, terms.tls, terms.form), (amount, TlsState::Valid, None));
        assert_eq!((terms.receivers(), &terms.origin), (vec![origin(SHOP)], &origin(SHOP)));
        assert_eq!((terms.observed, terms.expires), (order.scene.number, Millis(1_000 + GRANT_LIFETIME_MS)));
    }
}

#[test]
fn an_order_is_redeemed_on_the_same_page_alone() {
    let (mut point, verifier) = guard(DEFAULT);
    for order in [address(), purchase()] {
        for (name, change) in ANY {
            let mut changed = order.scene.clone();
            change(&mut changed.page);
            let answer = verifier.redeem(order.grant(&mut point), &changed.later(), order.scene.now).err();
            assert_eq!(answer, Some(RedeemError::Stale), "{name}");
        }
        let end = Millis(order.scene.now.0 + GRANT_LIFETIME_MS);
        let late = verifier.redeem(order.grant(&mut point), &order.scene.later(), end).err();
        assert_eq!(late, Some(RedeemError::Expired));
        let old = Observed::simulated(order.scene.page.clone(), order.scene.number);
        let stale = verifier.redeem(order.grant(&mut point), &old, order.scene.now).err();
        assert_eq!(stale, Some(RedeemError::NotFresh));
        let (_, other) = guard(APPROACH_C);
        let foreign = other.redeem(order.grant(&mut point), &order.scene.later(), order.scene.now).err();
        assert_eq!(foreign, Some(RedeemError::ForeignAuthority));
        // The page's form is another one now, which is nothing to the order.
        let mut moved = order.scene.clone();
        moved.page.destination = goal(OTHER);
        assert!(verifier.redeem(order.grant(&mut point), &moved.later(), order.scene.now).is_ok());
    }
}

#[test]
fn without_a_page_nothing_is_ordered() {
    let (mut point, _) = guard(DEFAULT);
    for order in [address(), purchase()] {
        let scene = &order.scene;
        let event =
            Event::Checkout { request: &scene.request, endpoint: &order.endpoint, amount: scene.amount };
        let (consent, history, safety) = (Consent::Given, History::default(), Fact::Unknown);
        let verdict = point.decide(&Question {
            event,
            page: None,
            task: &scene.task,
            consent,
            history,
            safety,
            now: scene.now,
        });
        assert_eq!(reason(verdict), Reason::SignalUnknown(Signal::Origin));
    }
}

#[test]
fn a_grant_of_an_order_allocates_nothing() {
    let (mut point, _) = guard(DEFAULT);
    for order in [address(), purchase()] {
        order.ask(&mut point, |point, question| {
            let mut verdict = None;
            let counted = measure(|| verdict = Some(point.decide(question)));
            assert!(matches!(verdict, Some(Verdict::Grant(Granted::Ucp(_)))));
            assert_eq!(counted.count_total, 0);
        });
    }
}

/// An order is told apart from the request in a page by an explanation, and both name the rules of the section.
#[test]
fn an_order_is_explained() {
    let policy = Policy::parse(DEFAULT).unwrap().compile().unwrap();
    let (mut point, _) = guard(DEFAULT);
    let mut order = purchase();
    order.endpoint = endpoint(OTHER);
    let (root, valuation) = order.ask(&mut point, |point, question| point.valuation(question));
    assert_eq!(
        (root, root.event_name(), root.need()),
        (Root::Checkout(Kind::Purchase, Tier::T2), "checkout_purchase", Some(Tier::T2))
    );
    let why = policy.explain(root, &valuation);
    assert_eq!(why.outcome, Outcome::Deny(Axis::Destination, Reason::WrongDestination));
    let told = why.to_string();
    assert!(
        told.starts_with("`purchase` with T2 fields at a checkout is refused: wrong_destination."),
        "{told}"
    );
    assert!(
        told.contains("every order by ucp: the endpoint is at the page's own origin, over https"),
        "{told}"
    );
    assert!(told.contains("It would be granted if destination were task"), "{told}");
    let none =
        Policy::parse(&DEFAULT.replacen("deliver ucp or payment_api", "deliver payment_api", 1)).unwrap();
    let why = none.compile().unwrap().explain(root, &valuation);
    assert_eq!(why.failing[0].rule, "the section does not say `deliver ucp`");
}
