//! Verdicts of the shipped policy, with one change of the scene at a time.

use crate::common::{DEFAULT, Scene, goal, guard, origin, reason, task, usd};
use browser_signals::{Container, Fact, NodeId, TlsState};
use policy_dfa::{
    Consent, ConsentScope, Event, Granted, History, Millis, Question, Reason, SessionEvent, Signal, Task,
    VerbKind, Verdict,
};
use sirl::{Field, FieldSet, Kind, Money, Tier};

type Change = (&'static str, fn(&mut Scene), Reason);

/// Asserts that each change alone turns the grant into a denial with this reason.
fn each_refuses(scene: &Scene, changes: &[Change]) {
    let (mut decision_point, _) = guard(DEFAULT);
    assert!(matches!(scene.decide(&mut decision_point), Verdict::Grant(_)));
    for (name, change, expected) in changes {
        for consent in [Consent::None, Consent::Given] {
            let mut changed = Scene { consent, ..scene.clone() };
            change(&mut changed);
            let verdict = changed.decide(&mut decision_point);
            match verdict {
                Verdict::Deny(found) => assert_eq!(found, *expected, "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

const PAGE: &[Change] = &[
    (
        "kind not planned",
        |s| s.task = Task::new(s.task.origins().to_vec(), vec![], s.task.budget(), Container::T2),
        Reason::UnplannedRequest,
    ),
    ("tainted", |s| s.history.push(SessionEvent::Suspected), Reason::TaintedSession),
    ("T0", |s| s.page.container = Fact::Known(Container::T0), Reason::InvalidContainer),
    ("T1", |s| s.page.container = Fact::Known(Container::T1), Reason::InvalidContainer),
    ("container unknown", |s| s.page.container = Fact::Unknown, Reason::SignalUnknown(Signal::Container)),
    (
        "container above the task's",
        |s| s.task = task(Container::T1),
        Reason::SignalUnknown(Signal::Container),
    ),
    (
        "other origin",
        |s| {
            s.page.origin = Fact::Known(origin("https://shop.example.evil.test"));
            s.page.top_origin = s.page.origin.clone();
        },
        Reason::OriginMismatch,
    ),
    (
        "other port",
        |s| s.page.origin = Fact::Known(origin("https://shop.example:8443")),
        Reason::OriginMismatch,
    ),
    ("origin unknown", |s| s.page.origin = Fact::Unknown, Reason::SignalUnknown(Signal::Origin)),
    (
        "other top origin",
        |s| s.page.top_origin = Fact::Known(origin("https://evil.test")),
        Reason::OriginMismatch,
    ),
    ("top origin unknown", |s| s.page.top_origin = Fact::Unknown, Reason::SignalUnknown(Signal::TopOrigin)),
    ("tls broken", |s| s.page.tls = Fact::Known(TlsState::Broken), Reason::TlsInvalid),
    ("no tls", |s| s.page.tls = Fact::Known(TlsState::Insecure), Reason::TlsInvalid),
    ("tls unknown", |s| s.page.tls = Fact::Unknown, Reason::SignalUnknown(Signal::Tls)),
    (
        "framed by itself",
        |s| s.page.ancestors = Fact::Known(vec![origin("https://shop.example")]),
        Reason::FrameNotTop,
    ),
    ("ancestors unknown", |s| s.page.ancestors = Fact::Unknown, Reason::SignalUnknown(Signal::Frame)),
    (
        "ancestors against the top origin",
        |s| s.page.ancestors = Fact::Known(vec![origin("https://evil.test")]),
        Reason::SignalUnknown(Signal::Frame),
    ),
    (
        "top frame with another top document",
        |s| s.page.top_document = Fact::Unknown,
        Reason::SignalUnknown(Signal::Frame),
    ),
    (
        "document unknown",
        |s| {
            s.page.document = Fact::Unknown;
            s.page.top_document = Fact::Unknown
        },
        Reason::SignalUnknown(Signal::Document),
    ),
    ("claimed origin", |s| s.request.claim.origin = Some("https://evil.test".into()), Reason::ClaimMismatch),
    (
        "claimed origin, not an origin",
        |s| s.request.claim.origin = Some("shop".into()),
        Reason::ClaimMismatch,
    ),
    (
        "claimed top origin",
        |s| s.request.claim.top_origin = Some("http://shop.example".into()),
        Reason::ClaimMismatch,
    ),
    ("claimed container", |s| s.request.claim.container = Some(Tier::T1), Reason::ClaimMismatch),
    ("claimed tls", |s| s.request.claim.tls = Some(false), Reason::ClaimMismatch),
    ("claimed sink", |s| s.request.claim.sink = Some("login_form".into()), Reason::ClaimMismatch),
    ("claimed sink, not a sink", |s| s.request.claim.sink = Some("safe".into()), Reason::ClaimMismatch),
    ("refused", |s| s.consent = Consent::Refused, Reason::ConsentDenied),
    ("expired", |s| s.consent = Consent::Expired, Reason::ConsentExpired),
];

const FORM: &[Change] = &[
    ("goes elsewhere", |s| s.page.destination = goal("https://collect.test"), Reason::WrongDestination),
    (
        "goes over http",
        |s| {
            let origins = vec![origin("https://shop.example"), origin("http://shop.example")];
            s.task = Task::new(origins, Kind::ALL.to_vec(), None, Container::T2);
            s.page.destination = goal("http://shop.example");
        },
        Reason::TlsInvalid,
    ),
    (
        "goes nowhere known",
        |s| s.page.destination = Fact::Unknown,
        Reason::SignalUnknown(Signal::Destination),
    ),
    ("hidden", |s| s.page.controls[1].visible = Fact::Known(false), Reason::Occluded),
    ("covered", |s| s.page.controls[0].hit = Fact::Known(false), Reason::Occluded),
    (
        "visibility unknown",
        |s| s.page.controls[0].hit = Fact::Unknown,
        Reason::SignalUnknown(Signal::Visibility),
    ),
    ("not of the kind", |s| s.request.fields = s.request.fields.with(Field::CardNumber), Reason::NoControl),
    (
        "no control",
        |s| {
            s.placements.pop();
        },
        Reason::NoControl,
    ),
    ("no controls at all", |s| s.placements.clear(), Reason::NoControl),
    ("a control not asked for", |s| s.request.fields = FieldSet::EMPTY.with(Field::City), Reason::NoControl),
    ("one control twice", |s| s.placements[1].node = s.placements[0].node, Reason::NoControl),
    ("control not on the page", |s| s.placements[0].node = NodeId(99), Reason::NoControl),
    ("control of another form", |s| s.page.controls[0].form = Some(NodeId(2)), Reason::NoControl),
    ("not editable", |s| s.page.controls[0].editable = false, Reason::NoControl),
    ("text area", |s| s.page.controls[1].tag = "textarea".into(), Reason::NoControl),
    ("editable element", |s| s.page.controls[1].tag = "div".into(), Reason::NoControl),
    ("search box", |s| s.page.controls[1].input_type = "search".into(), Reason::NoControl),
];

#[test]
fn each_fact_of_an_address_request_matters() {
    each_refuses(&Scene::address(), PAGE);
    each_refuses(&Scene::address(), FORM);
}

#[test]
fn each_fact_of_a_purchase_matters() {
    let scene = Scene::new(Kind::Purchase, &[]);
    each_refuses(&scene, PAGE);
    each_refuses(
        &scene,
        &[
            ("second purchase", |s| s.history.push(SessionEvent::Paid(usd(0))), Reason::LimitReached),
            ("over the budget", |s| s.amount = Some(usd(10_001)), Reason::BudgetSpent),
            (
                "other currency",
                |s| {
                    s.amount = sirl::Money::parse("1.00", sirl::Currency::new("EUR").unwrap());
                },
                Reason::BudgetSpent,
            ),
            (
                "no budget",
                |s| s.task = Task::new(s.task.origins().to_vec(), Kind::ALL.to_vec(), None, Container::T2),
                Reason::BudgetSpent,
            ),
            ("no amount", |s| s.amount = None, Reason::SignalUnknown(Signal::Amount)),
            ("claimed total", |s| s.request.claim.total = Some(usd(1)), Reason::ClaimMismatch),
            (
                "card fields",
                |s| s.request.fields = FieldSet::EMPTY.with(Field::CardNumber),
                Reason::NoControl,
            ),
        ],
    );
}

#[test]
fn a_card_goes_into_no_form_whose_page_names_more_than_the_budget() {
    let policy = include_str!("../../../policies/approach_a.policy");
    let decided = |amount: Option<Money>, budget: Option<u64>| {
        let mut scene = Scene::new(Kind::Payment, &[Field::CardNumber, Field::CardExpiry, Field::CardCode]);
        scene.task =
            Task::new(scene.task.origins().to_vec(), Kind::ALL.to_vec(), budget.map(usd), Container::T2);
        (scene.amount, scene.safety) = (amount, Fact::Known(policy_dfa::SafetyBand::T2));
        scene.decide(&mut guard(policy).0)
    };
    // The named total is within the budget, or there is nothing to compare.
    for (amount, budget) in [(Some(usd(100)), Some(100)), (None, Some(100)), (Some(usd(101)), None)] {
        let verdict = decided(amount, budget);
        assert!(matches!(verdict, Verdict::Grant(Granted::Fill(_))), "{amount:?} {budget:?}: {verdict:?}");
    }
    let euros = Money::parse("1.00", sirl::Currency::new("EUR").unwrap());
    for amount in [Some(usd(101)), euros] {
        assert_eq!(reason(decided(amount, Some(100))), Reason::BudgetSpent, "{amount:?}");
    }
}

#[test]
fn a_repeated_fill_can_be_decided_without_the_first() {
    let once = History::default();
    let policy = guard(DEFAULT).0;
    let charged = policy.after(once, SessionEvent::Charged(usd(4200)));
    assert_eq!((charged.released(Kind::Payment), charged.spent_minor()), (1, 4200));
    assert_eq!(charged.without_payment(usd(4200)), once);
    assert_eq!(once.without_payment(usd(4200)), once, "nothing is taken from nothing");
    assert_eq!(policy.after(charged, SessionEvent::Uncounted(Kind::Payment)), charged);
}

#[test]
fn money_is_counted_over_the_session() {
    let after = |policy: &str, spent: &[u64]| {
        let history = spent.iter().map(|minor| SessionEvent::Paid(usd(*minor))).collect();
        Scene { history, ..Scene::new(Kind::Purchase, &[]) }.decide(&mut guard(policy).0)
    };
    // The task's budget is 100.00, the purchase 64.15.
    let many = DEFAULT.replace("at most 1 purchase", "at most 9 purchases");
    assert!(matches!(after(&many, &[3_000, 585]), Verdict::Grant(Granted::PaymentApi(_))));
    assert_eq!(reason(after(&many, &[3_586])), Reason::BudgetSpent);
    assert_eq!(reason(after(&many, &[u64::MAX])), Reason::BudgetSpent);
    let capped = DEFAULT.replace("at most 1 purchase", "at most 9 purchases, 64.15 USD");
    assert!(matches!(after(&capped, &[]), Verdict::Grant(Granted::PaymentApi(_))));
    assert_eq!(reason(after(&capped, &[1])), Reason::BudgetSpent);
    let foreign = DEFAULT.replace("at most 1 purchase", "at most 9 purchases, 64.15 EUR");
    assert_eq!(reason(after(&foreign, &[])), Reason::BudgetSpent);
}

#[test]
fn an_after_rule_bars_events_until_its_end() {
    let text = DEFAULT.replace(
        "    after suspected_injection",
        "    after identity never contact, T2 until submit\n    after suspected_injection",
    );
    let decide = |history: &[SessionEvent]| {
        Scene { history: history.to_vec(), ..Scene::address() }.decide(&mut guard(&text).0)
    };
    let identity = SessionEvent::Released(Kind::Identity);
    assert!(matches!(decide(&[]), Verdict::Grant(_)));
    assert!(matches!(decide(&[SessionEvent::Released(Kind::Login)]), Verdict::Grant(_)));
    assert_eq!(reason(decide(&[identity])), Reason::SessionRule);
    assert!(matches!(decide(&[identity, SessionEvent::Done(VerbKind::Submit)]), Verdict::Grant(_)));
    assert_eq!(reason(decide(&[SessionEvent::Done(VerbKind::Submit), identity])), Reason::SessionRule);
    assert!(matches!(decide(&[identity, SessionEvent::NewTask]), Verdict::Grant(_)));
    assert_eq!(reason(decide(&[SessionEvent::Suspected, identity])), Reason::TaintedSession);
}

#[test]
fn any_kind_and_any_verb_can_be_counted() {
    let text = DEFAULT.replace("at most 1 purchase", "at most 2 address, 1 purchase");
    let after = |times: usize, kind: Kind| {
        let history = vec![SessionEvent::Released(kind); times];
        Scene { history, ..Scene::address() }.decide(&mut guard(&text).0)
    };
    assert!(matches!(after(1, Kind::Address), Verdict::Grant(_)));
    assert_eq!(reason(after(2, Kind::Address)), Reason::LimitReached);
    assert!(matches!(after(9, Kind::Contact), Verdict::Grant(_)));
}

#[test]
fn low_tier_fields_may_go_into_a_text_area_and_a_t1_container() {
    let (mut decision_point, _) = guard(DEFAULT);
    let mut scene = Scene::new(Kind::Contact, &[Field::Name, Field::Email]);
    scene.page.controls[0].tag = "textarea".to_owned();
    scene.page.container = Fact::Known(Container::T1);
    assert!(matches!(scene.decide(&mut decision_point), Verdict::Grant(Granted::Fill(_))));
    scene.page.container = Fact::Known(Container::T0);
    assert_eq!(reason(scene.decide(&mut decision_point)), Reason::InvalidContainer);
}

#[test]
fn cards_are_never_delivered_to_a_form() {
    let (mut decision_point, _) = guard(DEFAULT);
    for consent in [Consent::None, Consent::Given] {
        let scene = Scene { consent, ..Scene::new(Kind::Payment, &[]) };
        assert_eq!(reason(scene.decide(&mut decision_point)), Reason::DeliveryForbidden);
    }
}

#[test]
fn true_claims_and_claims_that_are_not_compared_change_nothing() {
    let (mut decision_point, _) = guard(DEFAULT);
    let mut scene = Scene::address();
    let claim = &mut scene.request.claim;
    claim.origin = Some("https://shop.example".to_owned());
    claim.top_origin = Some("https://SHOP.example:443/".to_owned());
    claim.container = Some(Tier::T2);
    claim.tls = Some(true);
    claim.sink = Some("address_form".to_owned());
    claim.origin_request = Some("website".to_owned());
    claim.purpose = Some("ignore the policy".to_owned());
    claim.control = Some("e99".to_owned());
    assert!(matches!(scene.decide(&mut decision_point), Verdict::Grant(_)));
}

#[test]
fn a_prompt_precedes_a_grant() {
    let (mut decision_point, _) = guard(DEFAULT);
    let ask = |scene: Scene, decision_point: &mut _| match (Scene { consent: Consent::None, ..scene })
        .decide(decision_point)
    {
        Verdict::Ask(prompt) => prompt,
        other => panic!("{other:?}"),
    };
    let prompt = ask(Scene::address(), &mut decision_point);
    assert_eq!(
        (prompt.kind, prompt.scope, prompt.amount),
        (Some(Kind::Address), ConsentScope::Session, None)
    );
    assert_eq!(prompt.fields, [Field::City, Field::PostalCode].into_iter().collect());
    let prompt = ask(Scene::new(Kind::Purchase, &[]), &mut decision_point);
    assert_eq!((prompt.scope, prompt.amount), (ConsentScope::EveryTime, Some(usd(6415))));
    let mut flooded = Scene { consent: Consent::None, ..Scene::address() };
    flooded.history = vec![SessionEvent::Prompted; 5];
    assert_eq!(reason(flooded.decide(&mut decision_point)), Reason::QuestionsSpent);
    flooded.consent = Consent::Given;
    assert!(matches!(flooded.decide(&mut decision_point), Verdict::Grant(_)));
}

#[test]
fn without_a_page_no_request_is_granted() {
    let (mut decision_point, _) = guard(DEFAULT);
    let scene = Scene::address();
    let verdict = decision_point.decide(&Question {
        event: Event::Request { request: &scene.request, placements: &scene.placements, amount: None },
        page: None,
        task: &scene.task,
        consent: Consent::Given,
        history: History::default(),
        safety: Fact::Unknown,
        now: Millis(0),
    });
    assert_eq!(reason(verdict), Reason::SignalUnknown(Signal::Origin));
}
