//! `decide` never allocates. The allocator of this test counts, on the test's own thread.

use crate::common::{DEFAULT, Scene, guard, origin, task, usd};
use allocation_counter::measure;
use browser_signals::{Container, Fact, Observed};
use policy_dfa::{
    Carried, Consent, ConsentScope, DecisionPoint, Event, Goal, Granted, History, Millis, Question, Reason,
    SafetyBand, SessionEvent, Signal, VerbKind, Verdict,
};
use sirl::{Claim, Field, Kind, Tier};

/// Decides several times, since a first call could differ. Returns the last verdict and the number of allocations,
/// including those of dropping the other verdicts.
fn count(decision_point: &mut DecisionPoint, question: &Question<'_>) -> (Verdict, u64) {
    let mut verdict = None;
    let counted = measure(|| {
        for _ in 0..3 {
            verdict = Some(decision_point.decide(question));
        }
    });
    (verdict.unwrap(), counted.count_total)
}

fn ask_for(scene: &Scene, policy: &str) -> (Verdict, u64) {
    ask_at(scene, policy, Fact::Unknown)
}

fn ask_at(scene: &Scene, policy: &str, safety: Fact<SafetyBand>) -> (Verdict, u64) {
    let page = Observed::simulated(scene.page.clone(), scene.number);
    let (mut decision_point, _verifier) = guard(policy);
    let step = |history, event: &SessionEvent| decision_point.after(history, *event);
    let history = scene.history.iter().fold(History::default(), step);
    let question = Question {
        event: Event::Request {
            request: &scene.request,
            placements: &scene.placements,
            amount: scene.amount,
        },
        page: Some(&page),
        task: &scene.task,
        consent: scene.consent,
        history,
        safety,
        now: scene.now,
    };
    count(&mut decision_point, &question)
}

/// A true claim with everything that is compared.
fn claim() -> Claim {
    Claim {
        origin: Some("https://SHOP.example:443/checkout".to_owned()),
        top_origin: Some("https://shop.example".to_owned()),
        container: Some(Tier::T2),
        tls: Some(true),
        sink: Some("address form".to_owned()),
        ..Claim::default()
    }
}

/// The default policy with `site` rules, whose patterns are matched with every host.
fn with_sites() -> String {
    format!(
        "{DEFAULT}\nsite \"*.bank.example\" {{ never address, type, open }}\nsite \"*.bank.example/account/*\" {{ never login }}\n"
    )
}

#[test]
fn the_allocation_counter_counts() {
    assert_eq!(measure(|| drop(std::hint::black_box(Box::new(7_u8)))).count_total, 1);
    let scene = Scene::address();
    assert!(measure(|| drop(scene.placements.clone())).count_total > 0);
}

#[test]
fn a_grant_to_fill_allocates_nothing() {
    for fields in [&[Field::City][..], &[]] {
        let mut scene = Scene::new(Kind::Address, fields);
        scene.request.claim = claim();
        for policy in [DEFAULT.to_owned(), with_sites()] {
            let (verdict, allocations) = ask_for(&scene, &policy);
            assert!(matches!(verdict, Verdict::Grant(Granted::Fill(_))), "{verdict:?}");
            assert_eq!(allocations, 0);
        }
    }
}

#[test]
fn a_grant_of_a_purchase_allocates_nothing() {
    let mut scene = Scene::new(Kind::Purchase, &[]);
    scene.request.claim = Claim { sink: None, total: Some(usd(6415)), ..claim() };
    let (verdict, allocations) = ask_for(&scene, DEFAULT);
    assert!(matches!(verdict, Verdict::Grant(Granted::PaymentApi(_))), "{verdict:?}");
    assert_eq!(allocations, 0);
}

#[test]
fn a_prompt_allocates_nothing() {
    let mut scene = Scene::address();
    scene.request.claim = claim();
    scene.consent = Consent::None;
    let (verdict, allocations) = ask_for(&scene, DEFAULT);
    assert!(matches!(verdict, Verdict::Ask(_)), "{verdict:?}");
    assert_eq!(allocations, 0);
}

#[test]
fn a_prompt_for_a_low_safety_allocates_nothing() {
    let policy = include_str!("../../../policies/approach_c.policy");
    for (safety, scope) in
        [(SafetyBand::Below, ConsentScope::EveryTime), (SafetyBand::T2, ConsentScope::Session)]
    {
        let scene = Scene { consent: Consent::None, ..Scene::address() };
        let (verdict, allocations) = ask_at(&scene, policy, Fact::Known(safety));
        assert!(matches!(&verdict, Verdict::Ask(prompt) if prompt.scope == scope), "{verdict:?}");
        assert_eq!(allocations, 0);
    }
}

/// The name of a fault, the change of the scene that causes it, and the expected reason.
type Fault = (&'static str, fn(&mut Scene), Reason);

#[test]
fn a_refusal_allocates_nothing() {
    let cases: [Fault; 7] = [
        ("another origin", |s| s.page.origin = Fact::Known(origin("https://x.test")), Reason::OriginMismatch),
        ("unknown frame", |s| s.page.ancestors = Fact::Unknown, Reason::SignalUnknown(Signal::Frame)),
        (
            "another host",
            |s| s.request.claim.origin = Some("https://evil.test".into()),
            Reason::ClaimMismatch,
        ),
        ("no address", |s| s.request.claim.origin = Some("the shop".into()), Reason::ClaimMismatch),
        ("another sink", |s| s.request.claim.sink = Some("payment".into()), Reason::ClaimMismatch),
        ("no control", |s| s.placements.clear(), Reason::NoControl),
        ("a no", |s| s.consent = Consent::Refused, Reason::ConsentDenied),
    ];
    for (what, change, reason) in cases {
        let mut scene = Scene::address();
        scene.request.claim = claim();
        change(&mut scene);
        let (verdict, allocations) = ask_for(&scene, DEFAULT);
        assert!(matches!(verdict, Verdict::Deny(given) if given == reason), "{what}: {verdict:?}");
        assert_eq!(allocations, 0, "{what}");
    }
}

#[test]
fn a_verb_allocates_nothing() {
    let seen = Observed::simulated(Scene::address().page, 3);
    let (near, far) = (origin("https://shop.example"), origin("https://evil.test"));
    let task = task(Container::T2);
    let mut decision_point = guard(&with_sites()).0;
    for (verb, to, foreign, granted) in [
        (VerbKind::Open, Some(&near), false, true),
        (VerbKind::Open, Some(&far), false, false),
        (VerbKind::Read, None, false, true),
        (VerbKind::Click, None, false, true),
        (VerbKind::Type, None, true, false),
        (VerbKind::Submit, None, false, true),
        (VerbKind::Idle, None, false, true),
    ] {
        let question = Question {
            event: Event::Verb {
                verb,
                to: to.map(|origin| Goal { origin, path: "/account" }),
                carries: Fact::Known(if foreign { Carried::Elsewhere } else { Carried::Here }),
            },
            page: to.is_none().then_some(&seen),
            task: &task,
            consent: Consent::None,
            history: History::default(),
            safety: Fact::Unknown,
            now: Millis(1_000),
        };
        let (verdict, allocations) = count(&mut decision_point, &question);
        assert_eq!(matches!(verdict, Verdict::Grant(Granted::Verb)), granted, "{verb:?}: {verdict:?}");
        assert_eq!(allocations, 0, "{verb:?}");
    }
}
