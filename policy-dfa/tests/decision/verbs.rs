//! Verbs and sites under the shipped policy.

use crate::common::{DEFAULT, Scene, goal, guard, origin, reason, task};
use browser_signals::{Container, Fact, Observed, Sink};
use policy_dfa::{
    Carried, Consent, ConsentScope, Event, Goal, Granted, History, Millis, Question, Reason, Signal, Task,
    VerbKind, Verdict,
};
use sirl::Kind;

#[test]
fn a_denied_site_is_denied_as_page_and_as_destination() {
    let text = format!("{DEFAULT}\nsite \"*.bank.example\" {{ never address, open }}");
    let (mut decision_point, _) = guard(&text);
    let all = vec![origin("https://my.bank.example"), origin("https://shop.example")];
    let mut scene =
        Scene { task: Task::new(all, Kind::ALL.to_vec(), None, Container::T2), ..Scene::address() };
    assert!(matches!(scene.decide(&mut decision_point), Verdict::Grant(_)));
    scene.page.destination = goal("https://my.bank.example");
    assert_eq!(reason(scene.decide(&mut decision_point)), Reason::SiteDenied);
    scene.page.container = Fact::Unknown;
    assert_eq!(reason(scene.decide(&mut decision_point)), Reason::SiteDenied);
    let open = |to: &str, decision_point: &mut policy_dfa::DecisionPoint| {
        verb(VerbKind::Open, Some(to), None, Container::T0, Fact::Known(Carried::Own), decision_point)
    };
    assert_eq!(reason(open("https://my.bank.example", &mut decision_point)), Reason::SiteDenied);
    assert!(matches!(open("https://bank.example", &mut decision_point), Verdict::Grant(Granted::Verb)));
}

fn verb(
    verb: VerbKind,
    to: Option<&str>,
    page: Option<browser_signals::Snapshot>,
    container: Container,
    carries: Fact<Carried>,
    decision_point: &mut policy_dfa::DecisionPoint,
) -> Verdict {
    let to = to.map(origin);
    let page = page.map(|page| Observed::simulated(page, 1));
    decision_point.decide(&Question {
        event: Event::Verb { verb, to: to.as_ref().map(|origin| Goal { origin, path: "/" }), carries },
        page: page.as_ref(),
        task: &task(container),
        consent: Consent::None,
        history: History::default(),
        safety: Fact::Unknown,
        now: Millis(0),
    })
}

#[test]
fn above_t0_only_origins_of_the_task_can_be_opened() {
    let (mut decision_point, _) = guard(DEFAULT);
    let mut open =
        |to: &str, tier, flow| verb(VerbKind::Open, Some(to), None, tier, flow, &mut decision_point);
    let stays = Fact::Known(Carried::Here);
    for tier in [Container::T0, Container::T1, Container::T2] {
        assert!(matches!(open("https://shop.example", tier, stays), Verdict::Grant(Granted::Verb)));
        assert_eq!(
            reason(open("https://shop.example", tier, Fact::Known(Carried::Elsewhere))),
            Reason::CrossOriginFlow
        );
        assert_eq!(
            reason(open("https://shop.example", tier, Fact::Unknown)),
            Reason::SignalUnknown(Signal::Flow)
        );
    }
    assert!(matches!(open("https://other.test", Container::T0, stays), Verdict::Grant(Granted::Verb)));
    assert_eq!(reason(open("http://other.test", Container::T0, stays)), Reason::TlsInvalid);
    for tier in [Container::T1, Container::T2] {
        assert_eq!(reason(open("https://other.test", tier, stays)), Reason::OutsideTask);
    }
    let nowhere = verb(VerbKind::Open, None, None, Container::T2, stays, &mut decision_point);
    assert_eq!(reason(nowhere), Reason::SignalUnknown(Signal::Destination));
}

#[test]
fn verbs_on_a_page() {
    let (mut decision_point, _) = guard(DEFAULT);
    let page = |sink, goal_text| {
        let mut page = Scene::address().page;
        page.sink = sink;
        page.destination = goal(goal_text);
        Some(page)
    };
    let home = "https://shop.example";
    let mut act = |kind, page, flow| verb(kind, None, page, Container::T2, flow, &mut decision_point);
    let stays = Fact::Known(Carried::Here);
    for sink in [Sink::PaymentForm, Sink::AddressForm, Sink::LoginForm] {
        assert_eq!(reason(act(VerbKind::Type, page(Fact::Known(sink), home), stays)), Reason::FormProtected);
    }
    for sink in [Sink::FreeText, Sink::Other] {
        assert!(matches!(act(VerbKind::Type, page(Fact::Known(sink), home), stays), Verdict::Grant(_)));
    }
    let chat = || page(Fact::Known(Sink::FreeText), home);
    assert_eq!(
        reason(act(VerbKind::Type, page(Fact::Unknown, home), stays)),
        Reason::SignalUnknown(Signal::Sink)
    );
    assert_eq!(reason(act(VerbKind::Type, chat(), Fact::Known(Carried::Elsewhere))), Reason::CrossOriginFlow);
    assert_eq!(reason(act(VerbKind::Type, chat(), Fact::Unknown)), Reason::SignalUnknown(Signal::Flow));
    assert!(matches!(act(VerbKind::Submit, chat(), stays), Verdict::Grant(Granted::Verb)));
    let away = page(Fact::Known(Sink::Other), "https://collect.test");
    assert_eq!(reason(act(VerbKind::Submit, away, stays)), Reason::WrongDestination);
    for kind in [VerbKind::Click, VerbKind::Choose, VerbKind::Press, VerbKind::Type, VerbKind::Submit] {
        let mut embedded = chat().unwrap();
        embedded.origin = Fact::Known(origin("https://chat.test"));
        assert_eq!(reason(act(kind, Some(embedded), stays)), Reason::OriginMismatch);
        assert!(matches!(act(kind, chat(), stays), Verdict::Grant(Granted::Verb)));
        assert!(matches!(
            act(kind, None, stays),
            Verdict::Deny(Reason::SignalUnknown(_) | Reason::OriginMismatch)
        ));
    }
    for kind in [VerbKind::Read, VerbKind::Idle] {
        assert!(matches!(act(kind, None, Fact::Unknown), Verdict::Grant(Granted::Verb)));
    }
}

#[test]
fn a_soft_guard_asks_and_an_unknown_still_refuses() {
    let text = DEFAULT.replace(
        "verb click  { origin is the task's unless container is T0 }",
        "verb click { origin is the task's else ask visible }",
    );
    let (mut decision_point, _) = guard(&text);
    let mut page = Scene::address().page;
    let mut act = |page: &browser_signals::Snapshot| {
        verb(VerbKind::Click, None, Some(page.clone()), Container::T2, Fact::Unknown, &mut decision_point)
    };
    assert!(matches!(act(&page), Verdict::Grant(Granted::Verb)));
    page.origin = Fact::Known(origin("https://other.test"));
    match act(&page) {
        Verdict::Ask(prompt) => assert_eq!((prompt.kind, prompt.scope), (None, ConsentScope::EveryTime)),
        other => panic!("{other:?}"),
    }
    page.target.as_mut().unwrap().hit = Fact::Known(false);
    assert_eq!(reason(act(&page)), Reason::Occluded);
    page.origin = Fact::Unknown;
    assert_eq!(reason(act(&page)), Reason::SignalUnknown(Signal::Origin));
}
