//! Plain http on this machine: it counts as such only where policy, list and browser agree, and never for cards and
//! government identity numbers.

use crate::common::{DEFAULT, Scene, goal, guard, origin, reason};
use browser_signals::{Container, Fact, Observed, TlsState};
use policy_dfa::{
    Axis, Carried, Consent, Event, Goal, Granted, History, Millis, Outcome, Policy, Question, Reason,
    RedeemError, Root, Task, Valuation, VerbKind, Verdict, symbol,
};
use sirl::{Field, FieldSet, Kind, Tier};

const SITE: &str = "http://localhost:3000";

/// A request on a site of this machine that the user listed.
fn at(site: &str, kind: Kind) -> Scene {
    let mut scene = Scene::new(kind, &[]);
    scene.page.origin = Fact::Known(origin(site));
    scene.page.top_origin = scene.page.origin.clone();
    scene.page.destination = goal(site);
    scene.page.tls = Fact::Known(TlsState::Loopback);
    let task = Task::new(vec![origin(site)], Kind::ALL.to_vec(), scene.task.budget(), Container::T2);
    scene.task = task.with_sites_on_this_machine([origin(site)]);
    scene
}

#[test]
fn the_shipped_policy_fills_logins_and_addresses_on_listed_sites_of_this_machine() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    for site in [SITE, "http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost"] {
        for kind in [Kind::Login, Kind::Address, Kind::Contact, Kind::Otp] {
            let scene = at(site, kind);
            let Verdict::Grant(Granted::Fill(grant)) = scene.decide(&mut decision_point) else {
                panic!("{site} {kind:?}");
            };
            assert_eq!(grant.terms().tls, TlsState::Loopback);
            assert!(verifier.redeem(grant, &scene.later(), scene.now).is_ok(), "{site} {kind:?}");
        }
    }
}

#[test]
fn each_fact_about_this_machine_matters() {
    type Change = (&'static str, fn(&mut Scene), Reason);
    let plain = |site: &str| (Fact::Known(origin(site)), goal(site));
    let moved = |scene: &mut Scene, site: &str| {
        let kinds = Kind::ALL.to_vec();
        (scene.page.origin, scene.page.destination) = plain(site);
        scene.page.top_origin = scene.page.origin.clone();
        scene.task = Task::new(vec![origin(site)], kinds, None, Container::T2)
            .with_sites_on_this_machine([origin(site)]);
    };
    let changes: &[Change] = &[
        ("not reached on loopback", |s| s.page.tls = Fact::Known(TlsState::Insecure), Reason::TlsInvalid),
        (
            "not listed",
            |s| s.task = Task::new(s.task.origins().to_vec(), Kind::ALL.to_vec(), None, Container::T2),
            Reason::TlsInvalid,
        ),
        (
            "another port is listed",
            |s| s.task = s.task.clone().with_sites_on_this_machine([origin("http://localhost:3001")]),
            Reason::TlsInvalid,
        ),
        (
            "the form is sent to another port",
            |s| {
                let origins = [SITE, "http://localhost:3001"].map(origin);
                s.task = Task::new(origins.to_vec(), Kind::ALL.to_vec(), None, Container::T2)
                    .with_sites_on_this_machine(origins);
                s.page.destination = goal("http://localhost:3001");
            },
            Reason::TlsInvalid,
        ),
    ];
    let (mut decision_point, _) = guard(DEFAULT);
    for (name, change, expected) in changes {
        let mut scene = at(SITE, Kind::Login);
        change(&mut scene);
        assert_eq!(reason(scene.decide(&mut decision_point)), *expected, "{name}");
    }
    // Names below `localhost`, other hosts and `https` are no sites of this machine, whatever the list says.
    for site in ["http://x.localhost:3000", "http://shop.example", "http://127.0.0.2:80", "http://10.0.0.1"] {
        let mut scene = at(SITE, Kind::Login);
        moved(&mut scene, site);
        assert_eq!(reason(scene.decide(&mut decision_point)), Reason::TlsInvalid, "{site}");
    }
    let silent = DEFAULT.replace(" or loopback", "");
    let (mut decision_point, _) = guard(&silent);
    assert_eq!(reason(at(SITE, Kind::Login).decide(&mut decision_point)), Reason::TlsInvalid);
}

#[test]
fn cards_and_government_numbers_never_go_over_a_connection_in_clear() {
    let (mut decision_point, _) = guard(DEFAULT);
    assert_eq!(reason(at(SITE, Kind::Identity).decide(&mut decision_point)), Reason::TlsInvalid);
    assert_eq!(reason(at(SITE, Kind::Purchase).decide(&mut decision_point)), Reason::TlsInvalid);
    let shop = include_str!("../../../policies/approach_a.policy");
    let (mut decision_point, _) = guard(shop);
    assert_eq!(reason(at(SITE, Kind::Payment).decide(&mut decision_point)), Reason::TlsInvalid);
    // A name alone is harmless, but a request for an identity says what it is for.
    let mut scene = at(SITE, Kind::Identity);
    scene.request.fields = FieldSet::EMPTY.with(Field::Name);
    assert_eq!(reason(scene.decide(&mut guard(DEFAULT).0)), Reason::TlsInvalid);
}

/// Every valuation that a policy tells apart: what is granted on a loopback connection is what is granted on a valid one,
/// and nothing else differs.
#[test]
fn over_all_valuations_loopback_is_like_valid_for_the_kinds_that_name_it_and_like_plain_http_for_the_others()
{
    let policy = Policy::parse(DEFAULT).unwrap().compile().unwrap().check().unwrap();
    let mut compared = 0;
    for root in Root::all() {
        let named = matches!(
            root,
            Root::Request(Kind::Login | Kind::Address | Kind::Contact | Kind::Otp, _)
                | Root::Verb(VerbKind::Open | VerbKind::Submit)
        );
        let mut open: Vec<Vec<(Axis, u8)>> = vec![Vec::new()];
        while let Some(fixed) = open.pop() {
            let mut asked = None;
            let read = |fixed: &[(Axis, u8)], axis: Axis| {
                fixed.iter().find(|(known, _)| *known == axis).map(|(_, symbol)| *symbol)
            };
            let found = policy.outcome_by(root, |axis| {
                read(&fixed, axis).unwrap_or_else(|| {
                    asked.get_or_insert(axis);
                    0
                })
            });
            if let Some(axis) = asked {
                open.extend((0..axis.symbols().len() as u8).map(|symbol| {
                    let mut more = fixed.clone();
                    more.push((axis, symbol));
                    more
                }));
                continue;
            }
            let on_loopback =
                |axis: Axis, symbol: u8| axis.symbols()[usize::from(symbol)].ends_with("loopback");
            if !fixed.iter().any(|(axis, symbol)| on_loopback(*axis, *symbol)) {
                continue;
            }
            compared += 1;
            let instead = |axis: Axis, symbol: u8| match (axis, axis.symbols()[usize::from(symbol)], named) {
                (Axis::Tls, "loopback", true) => symbol_of(axis, "valid"),
                (Axis::Tls, "loopback", false) => symbol_of(axis, "insecure"),
                (Axis::Destination, "task_on_loopback", true) => symbol_of(axis, "task"),
                (Axis::Destination, "task_on_loopback", false) => symbol_of(axis, "task_over_http"),
                (Axis::Destination, "other_on_loopback", true) => symbol_of(axis, "other"),
                (Axis::Destination, "other_on_loopback", false) => symbol_of(axis, "other_over_http"),
                _ => symbol,
            };
            let other = policy.outcome_by(root, |axis| instead(axis, read(&fixed, axis).unwrap_or(0)));
            assert_eq!(found, other, "{root:?} {fixed:?}");
        }
    }
    assert!(compared > 100, "{compared}");
}

fn symbol_of(axis: Axis, name: &str) -> u8 {
    axis.symbols().iter().position(|symbol| *symbol == name).unwrap() as u8
}

#[test]
fn an_address_on_this_machine_is_opened_only_where_it_is_listed() {
    let (mut decision_point, _) = guard(DEFAULT);
    let mut open = |site: &str, listed: &[&str], container: Container, task: &[&str]| {
        let site = origin(site);
        let task = Task::new(task.iter().map(|it| origin(it)).collect(), Vec::new(), None, container);
        let task = task.with_sites_on_this_machine(listed.iter().map(|it| origin(it)));
        let goal = Goal { origin: &site, path: "/" };
        let event = Event::Verb { verb: VerbKind::Open, to: Some(goal), carries: Fact::Known(Carried::Own) };
        decision_point.decide(&Question {
            event,
            page: None,
            task: &task,
            consent: Consent::None,
            history: History::default(),
            safety: Fact::Unknown,
            now: Millis(0),
        })
    };
    let granted = |verdict| matches!(verdict, Verdict::Grant(Granted::Verb));
    assert!(granted(open(SITE, &[SITE], Container::T2, &[SITE])));
    assert!(granted(open(SITE, &[SITE], Container::T0, &[])));
    assert_eq!(reason(open(SITE, &[], Container::T0, &[])), Reason::TlsInvalid);
    assert_eq!(reason(open("http://localhost:3001", &[SITE], Container::T0, &[])), Reason::TlsInvalid);
    let elsewhere = ["https://shop.example"];
    let led_on = reason(open(SITE, &[SITE], Container::T0, &elsewhere));
    assert_eq!(led_on, Reason::TlsInvalid, "the task is about another site");
    let other = "http://x.localhost:3000";
    assert_eq!(reason(open(other, &[other], Container::T0, &[])), Reason::TlsInvalid);
    assert_eq!(reason(open(SITE, &[SITE], Container::T2, &["https://shop.example"])), Reason::OutsideTask);
}

#[test]
fn a_grant_holds_for_its_own_kind_of_connection_alone() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let mut redeem = |scene: &Scene, change: fn(&mut Scene)| {
        let Verdict::Grant(Granted::Fill(grant)) = scene.decide(&mut decision_point) else { panic!() };
        let mut later = scene.clone();
        change(&mut later);
        verifier.redeem(grant, &Observed::simulated(later.page, scene.number + 1), scene.now).err()
    };
    let (here, secure) = (at(SITE, Kind::Login), Scene::new(Kind::Login, &[]));
    assert_eq!(redeem(&here, |_| {}), None);
    assert_eq!(redeem(&secure, |_| {}), None);
    let stale = Some(RedeemError::Stale);
    assert_eq!(redeem(&here, |s| s.page.tls = Fact::Known(TlsState::Insecure)), stale);
    assert_eq!(redeem(&here, |s| s.page.tls = Fact::Known(TlsState::Valid)), stale);
    assert_eq!(redeem(&here, |s| s.page.tls = Fact::Unknown), stale);
    assert_eq!(redeem(&secure, |s| s.page.tls = Fact::Known(TlsState::Loopback)), stale);
}

/// Anybody on this machine could have written the page, so its form must not lead away from it.
#[test]
fn what_a_page_in_clear_asks_for_stays_at_its_origin() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let shop = "https://shop.example";
    let mut scene = at(SITE, Kind::Login);
    scene.task = Task::new([SITE, shop].map(origin).to_vec(), Kind::ALL.to_vec(), None, Container::T2)
        .with_sites_on_this_machine([origin(SITE)]);
    scene.page.destination = goal(shop);
    if let Verdict::Grant(Granted::Fill(grant)) = scene.decide(&mut decision_point) {
        let redeemed = verifier.redeem(grant, &scene.later(), scene.now);
        assert_eq!(redeemed.err(), Some(RedeemError::Stale));
    }
    scene.page.destination = goal(SITE);
    let Verdict::Grant(Granted::Fill(grant)) = scene.decide(&mut decision_point) else {
        panic!("the control: the form stays");
    };
    assert!(verifier.redeem(grant, &scene.later(), scene.now).is_ok());
}

#[test]
fn loopback_is_proved_per_kind() {
    let claims = |statement: &str| {
        let text = format!("{DEFAULT}\nprove {statement}\n");
        Policy::parse(&text).unwrap().compile().unwrap().check().is_ok()
    };
    assert!(claims("never grant T2 where tls is broken or insecure or unknown"));
    assert!(claims(
        "never grant login where destination is task_over_http or other_over_http or other_on_loopback"
    ));
    assert!(claims("never grant identity where destination is task_on_loopback"));
    assert!(claims("never grant purchase where tls is loopback"));
    assert!(!claims("never grant T1 where tls is not valid"));
    assert!(!claims("never grant login where tls is loopback"));
    // A policy that does not name it keeps the statement of before.
    let silent = DEFAULT.replace(" or loopback", "");
    let silent = silent.replace("prove never grant payment where tls is loopback\n", "");
    assert!(silent.contains("prove never grant T1 where tls is not valid\n"));
    let policy = Policy::parse(&silent).unwrap().compile().unwrap().check().unwrap();
    let all = Tier::ALL.map(|need| Root::Request(Kind::Login, need));
    for root in all {
        let refused = |symbol| {
            matches!(
                policy.outcome(root, &granted_case(symbol)),
                Outcome::Deny(Axis::Tls, Reason::TlsInvalid)
            )
        };
        assert!(refused(symbol::Tls::Loopback) && refused(symbol::Tls::Insecure));
    }
}

/// A case in which everything but the connection is right.
fn granted_case(tls: symbol::Tls) -> Valuation {
    Valuation::FIRST.with(symbol::Container::T2).with(tls)
}
