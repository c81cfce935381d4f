//! A saved login is restored exactly where the policy grants a password for a form of the same page.

use browser_signals::{Container, DocumentId, Fact, FrameId, Observed, Sink, TlsState};
use policy_dfa::{
    Consent, DecisionPoint, Grant, History, Millis, Reason, RedeemError, Restore, RestoreQuestion,
    SafetyBand, SessionEvent, Task, Verdict,
};
use sirl::{Field, Kind};

use crate::common::{DEFAULT, Scene, goal, guard, origin, task};

const SHOP: &str = "https://shop.example";
const EVIL: &str = "https://evil.example";

fn policies() -> Vec<(&'static str, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies");
    ["default", "wire", "approach_a", "approach_c", "tool_agent"]
        .map(|name| (name, std::fs::read_to_string(folder.join(format!("{name}.policy"))).unwrap()))
        .to_vec()
}

/// A login form of the shop that sends the password home, on a page that a classifier finds safe.
fn login() -> Scene {
    let mut scene = Scene::new(Kind::Login, &[Field::Password]);
    scene.page.sink = Fact::Known(Sink::LoginForm);
    scene.safety = Fact::Known(SafetyBand::T2);
    scene
}

fn restore(scene: &Scene, point: &mut DecisionPoint) -> Result<Grant<Restore>, Reason> {
    // The page of a restore has no form, and nobody has read it.
    let mut page = scene.page.clone();
    (page.form, page.destination, page.sink) = (None, Fact::Unknown, Fact::Unknown);
    (page.target, page.controls) = (None, Vec::new());
    let page = Observed::simulated(page, scene.number);
    let step = |history, event: &SessionEvent| point.after(history, *event);
    let history = scene.history.iter().fold(History::default(), step);
    let login = origin(SHOP);
    point.decide_restore(&RestoreQuestion {
        login: &login,
        page: &page,
        task: &scene.task,
        consent: scene.consent,
        history,
        now: scene.now,
    })
}

type Change = fn(&mut Scene);

/// One change of each fact that a restore can have.
const CHANGES: [(&str, Change); 17] = [
    ("nothing", |_| ()),
    ("container T1", |scene| scene.page.container = Fact::Known(Container::T1)),
    ("container unknown", |scene| scene.page.container = Fact::Unknown),
    ("task in T1", |scene| scene.task = task(Container::T1)),
    ("origin unknown", |scene| scene.page.origin = Fact::Unknown),
    ("top origin", |scene| scene.page.top_origin = Fact::Known(origin(EVIL))),
    ("broken", |scene| scene.page.tls = Fact::Known(TlsState::Broken)),
    ("insecure", |scene| scene.page.tls = Fact::Known(TlsState::Insecure)),
    ("tls unknown", |scene| scene.page.tls = Fact::Unknown),
    ("frame", |scene| scene.page.ancestors = Fact::Known(vec![origin(SHOP)])),
    ("frame unknown", |scene| scene.page.ancestors = Fact::Unknown),
    ("document", |scene| scene.page.document = Fact::Unknown),
    ("another task", |scene| {
        scene.task = Task::new(vec![origin(EVIL)], vec![Kind::Login], None, Container::T2);
    }),
    ("another kind", |scene| {
        scene.task = Task::new(vec![origin(SHOP)], vec![Kind::Address], None, Container::T2);
    }),
    ("suspected", |scene| scene.history.push(SessionEvent::Suspected)),
    ("released", |scene| scene.history.push(SessionEvent::Released(Kind::Login))),
    ("prompted", |scene| scene.history.extend([SessionEvent::Prompted; 9])),
];

#[test]
fn a_login_is_restored_where_a_password_would_be_filled_and_nowhere_else() {
    let (mut granted, mut refused) = (0, 0);
    for (name, text) in policies() {
        let (mut point, _) = guard(&text);
        for (first, one) in CHANGES {
            for (second, other) in CHANGES {
                let mut scene = login();
                one(&mut scene);
                other(&mut scene);
                let fills = matches!(scene.decide(&mut point), Verdict::Grant(_));
                let restores = restore(&scene, &mut point).is_ok();
                assert_eq!(restores, fills, "{name}: {first}, {second}");
                if fills { granted += 1 } else { refused += 1 }
            }
        }
    }
    assert!(granted > 20 && refused > 500, "{granted} {refused}");
}

#[test]
fn a_restore_needs_a_yes() {
    let (mut point, _) = guard(DEFAULT);
    for consent in [Consent::None, Consent::Refused, Consent::Expired] {
        let scene = Scene { consent, ..login() };
        assert_eq!(restore(&scene, &mut point).err(), Some(Reason::ConsentDenied), "{consent:?}");
    }
    assert!(restore(&login(), &mut point).is_ok());
}

#[test]
fn the_origin_of_the_login_counts_and_not_the_page_that_asks() {
    let (mut point, _) = guard(DEFAULT);
    for elsewhere in ["https://www.shop.example", "https://shop.example:8443", "http://shop.example", EVIL] {
        let mut scene = login();
        scene.page.origin = Fact::Known(origin(elsewhere));
        scene.page.top_origin = scene.page.origin.clone();
        scene.task = Task::new(vec![origin(SHOP), origin(elsewhere)], vec![Kind::Login], None, Container::T2);
        assert_eq!(restore(&scene, &mut point).err(), Some(Reason::OriginMismatch), "{elsewhere}");
    }
}

#[test]
fn a_policy_that_fills_no_login_restores_none() {
    let start = DEFAULT.find("request login {").unwrap();
    let end = start + DEFAULT[start..].find("\n}\n").unwrap() + 3;
    let rule = "request login {\n    consent every time\n    deliver nothing\n}\n";
    let (mut point, _) = guard(&format!("{}{rule}{}", &DEFAULT[..start], &DEFAULT[end..]));
    assert_eq!(restore(&login(), &mut point).err(), Some(Reason::DeliveryForbidden));
}

#[test]
fn a_grant_is_for_one_container_one_document_and_a_minute() {
    let (mut point, verifier) = guard(DEFAULT);
    let (scene, soon) = (login(), Millis(2_000));
    let terms_of = restore(&scene, &mut point).unwrap();
    let terms = terms_of.terms();
    assert_eq!((terms.kind, &terms.origin, terms.placements.len()), (Kind::Login, &origin(SHOP), 0));
    assert!(verifier.redeem(terms_of, &scene.later(), soon).is_ok());
    let changes: [Change; 4] = [
        |scene| scene.page.container_id = browser_signals::ContainerId::new("other"),
        |scene| scene.page.frame = FrameId::new("other"),
        |scene| scene.page.document = Fact::Known(DocumentId::new("other")),
        |scene| scene.page.tls = Fact::Known(TlsState::Broken),
    ];
    for change in changes {
        let grant = restore(&scene, &mut point).unwrap();
        let mut later = scene.clone();
        change(&mut later);
        assert_eq!(verifier.redeem(grant, &later.later(), soon).err(), Some(RedeemError::Stale));
    }
    let grant = restore(&scene, &mut point).unwrap();
    assert_eq!(verifier.redeem(grant, &scene.later(), Millis(70_000)).err(), Some(RedeemError::Expired));
    let grant = restore(&scene, &mut point).unwrap();
    let same = Observed::simulated(scene.page.clone(), scene.number);
    assert_eq!(verifier.redeem(grant, &same, soon).err(), Some(RedeemError::NotFresh));
    // A form on the page is no part of it.
    let grant = restore(&scene, &mut point).unwrap();
    let mut elsewhere = scene.clone();
    elsewhere.page.destination = goal(EVIL);
    assert!(verifier.redeem(grant, &elsewhere.later(), soon).is_ok());
}
