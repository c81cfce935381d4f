//! A grant is redeemed only by its own authority, before its expiry, and on an unchanged page.

use crate::common::{DEFAULT, Scene, goal, guard, origin};
use browser_signals::{
    Container, ContainerId, DocumentId, Fact, FrameId, NodeId, Observed, Snapshot, TlsState,
};
use policy_dfa::{
    DecisionPoint, Fill, GRANT_LIFETIME_MS, Grant, Granted, Millis, PaymentApi, Policy, RedeemError, Verdict,
    authority,
};
use sirl::Kind;

fn fill(scene: &Scene, decision_point: &mut DecisionPoint) -> Grant<Fill> {
    match scene.decide(decision_point) {
        Verdict::Grant(Granted::Fill(grant)) => grant,
        other => panic!("{other:?}"),
    }
}

fn purchase(scene: &Scene, decision_point: &mut DecisionPoint) -> Grant<PaymentApi> {
    match scene.decide(decision_point) {
        Verdict::Grant(Granted::PaymentApi(grant)) => grant,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_terms_of_a_grant_match_the_question() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let scene = Scene::address();
    let grant = fill(&scene, &mut decision_point);
    assert_eq!(format!("{grant:?}"), "Grant<fill>(address #1)");
    let redeemed = verifier.redeem(grant, &scene.later(), Millis(1_001)).unwrap();
    let terms = redeemed.terms();
    assert_eq!((terms.kind, terms.fields, terms.request), (Kind::Address, scene.request.fields, 1));
    assert_eq!((&*terms.placements, terms.form), (&*scene.placements, scene.page.form));
    assert_eq!(Some(&terms.origin), scene.page.origin.known());
    assert_eq!(terms.destination.as_ref(), scene.page.destination.known());
    assert_eq!((terms.observed, terms.expires), (scene.number, Millis(1_000 + GRANT_LIFETIME_MS)));
    assert_eq!((terms.policy, terms.amount), (decision_point.policy_hash(), None));
    assert_eq!(fill(&scene, &mut decision_point).terms().request, 2);
}

#[test]
fn a_grant_of_another_authority_is_refused() {
    let scene = Scene::address();
    let (mut decision_point, _) = guard(DEFAULT);
    let later = scene.later();
    // Another policy with the same entropy, and the same policy with other entropy.
    let careless = DEFAULT.replace("at most 1 purchase", "at most 9 purchases");
    let (_, other_policy) = guard(&careless);
    let checked = Policy::parse(DEFAULT).unwrap().compile().unwrap().check().unwrap();
    let (_, other_entropy) = authority(checked, [8; 16]);
    for verifier in [other_policy, other_entropy] {
        let grant = fill(&scene, &mut decision_point);
        assert_eq!(verifier.redeem(grant, &later, scene.now).err(), Some(RedeemError::ForeignAuthority));
    }
}

#[test]
fn a_grant_expires() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let scene = Scene::address();
    let end = scene.now.0 + GRANT_LIFETIME_MS;
    let (early, late) = (fill(&scene, &mut decision_point), fill(&scene, &mut decision_point));
    assert!(verifier.redeem(early, &scene.later(), Millis(end - 1)).is_ok());
    assert_eq!(verifier.redeem(late, &scene.later(), Millis(end)).err(), Some(RedeemError::Expired));
}

#[test]
fn a_grant_needs_a_later_observation() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let scene = Scene::address();
    for number in [0, scene.number] {
        let grant = fill(&scene, &mut decision_point);
        let old = Observed::simulated(scene.page.clone(), number);
        assert_eq!(verifier.redeem(grant, &old, scene.now).err(), Some(RedeemError::NotFresh));
    }
}

pub(crate) type Change = (&'static str, fn(&mut Snapshot));

/// Changes of the page, each of which alone makes every grant stale.
pub(crate) const ANY: &[Change] = &[
    ("container", |page| page.container_id = ContainerId::new("other")),
    ("frame", |page| page.frame = FrameId::new("other")),
    ("document", |page| page.document = Fact::Known(DocumentId::new("other"))),
    ("document unknown", |page| page.document = Fact::Unknown),
    ("origin", |page| page.origin = Fact::Known(origin("https://shop.example:444"))),
    ("origin unknown", |page| page.origin = Fact::Unknown),
    ("certificate", |page| page.tls = Fact::Known(TlsState::Broken)),
    ("certificate unknown", |page| page.tls = Fact::Unknown),
];

const FORM: &[Change] = &[
    ("form", |page| page.form = Some(NodeId(2))),
    ("no form", |page| page.form = None),
    ("destination", |page| page.destination = goal("https://collect.test")),
    ("path", |page| {
        page.destination =
            page.destination.clone().map(|goal| browser_signals::Destination { path: "/chat".into(), ..goal })
    }),
    ("destination unknown", |page| page.destination = Fact::Unknown),
    ("node", |page| page.controls[0].node = NodeId(77)),
    ("owner", |page| page.controls[1].form = Some(NodeId(2))),
    ("read-only", |page| page.controls[1].editable = false),
];

#[test]
fn a_changed_page_is_stale() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let scene = Scene::address();
    for (name, change) in ANY.iter().chain(FORM) {
        let mut changed = scene.clone();
        change(&mut changed.page);
        let grant = fill(&scene, &mut decision_point);
        let answer = verifier.redeem(grant, &changed.later(), scene.now).err();
        assert_eq!(answer, Some(RedeemError::Stale), "{name}");
    }
}

#[test]
fn a_purchase_depends_on_the_page_and_not_on_its_forms() {
    let (mut decision_point, verifier) = guard(DEFAULT);
    let scene = Scene::new(Kind::Purchase, &[]);
    for (name, change) in ANY {
        let mut changed = scene.clone();
        change(&mut changed.page);
        let grant = purchase(&scene, &mut decision_point);
        assert_eq!(
            verifier.redeem(grant, &changed.later(), scene.now).err(),
            Some(RedeemError::Stale),
            "{name}"
        );
    }
    let mut moved = scene.clone();
    FORM.iter().take(5).for_each(|(_, change)| change(&mut moved.page));
    let redeemed = verifier.redeem(purchase(&scene, &mut decision_point), &moved.later(), scene.now).unwrap();
    let terms = redeemed.terms();
    assert_eq!((terms.amount, terms.form, &terms.destination), (scene.amount, None, &None));
    assert_eq!(Some(&terms.origin), scene.page.top_origin.known());
}

#[test]
fn the_container_of_the_task_bounds_that_of_the_page() {
    let (mut decision_point, _) = guard(DEFAULT);
    let mut scene = Scene::address();
    scene.task = crate::common::task(Container::T0);
    assert!(matches!(scene.decide(&mut decision_point), Verdict::Deny(_)));
}
