//! Payment providers: card data go into the frame of a provider that the policy names, where every fact agrees, and into no
//! other frame.

use std::sync::Arc;

use crate::common::{DEFAULT, Scene, goal, guard, origin, reason};
use browser_signals::{Container, DocumentId, Fact, FrameId, TlsState};
use policy_dfa::{
    Consent, Granted, Outcome, Policy, Reason, RedeemError, Root, SafetyBand, Signal, Task, Valuation,
    VerbKind, Verdict, symbol,
};
use sirl::{Field, Kind, Tier};

const SHIPPED: &str = include_str!("../../../policies/approach_a.policy");
const FRAME: &str = "https://elements.pay.example";
const TOKEN: &str = "https://api.pay.example";
const SHOP: &str = "https://shop.example";
const PROVIDER: &str =
    "provider \"Pay\" { frame \"https://elements.pay.example\" token \"https://api.pay.example\" }";

/// The shipped policy for shops' own forms, with a provider.
fn named(frame: &str) -> String {
    let (before, payment) = SHIPPED.split_once("request payment {").unwrap();
    let payment = payment.replacen("frame top", frame, 1);
    format!("{before}{PROVIDER}\nrequest payment {{{payment}")
}

/// The same scene, where all that the agent was told looks safe.
fn safe(scene: Scene) -> Scene {
    Scene { safety: Fact::Known(SafetyBand::T2), ..scene }
}

/// A card's number and expiry for a frame of the provider in the shop's checkout.
fn framed() -> Scene {
    let mut scene = safe(Scene::new(Kind::Payment, &[Field::CardNumber, Field::CardExpiry]));
    scene.page.frame = FrameId::new("inner");
    scene.page.document = Fact::Known(DocumentId::new("card fields"));
    scene.page.origin = Fact::Known(origin(FRAME));
    scene.page.ancestors = Fact::Known(vec![origin(SHOP)]);
    scene.page.destination = goal(TOKEN);
    scene
}

/// The same with controls that no form owns.
fn without_form(mut scene: Scene) -> Scene {
    scene.page.form = None;
    scene.page.destination = Fact::Unknown;
    scene.page.controls.iter_mut().for_each(|control| control.form = None);
    scene
}

#[test]
fn a_card_goes_into_the_frame_of_a_named_provider() {
    for frame in ["frame top or provider", "frame provider"] {
        let (mut decision_point, verifier) = guard(&named(frame));
        for scene in [framed(), without_form(framed())] {
            let Verdict::Grant(Granted::Fill(grant)) = scene.decide(&mut decision_point) else {
                panic!("{frame}")
            };
            let provider = grant.terms().provider.clone().unwrap();
            assert_eq!((provider.provider().name(), provider.top_origin()), ("Pay", &origin(SHOP)));
            assert_eq!(grant.terms().receivers(), [origin(FRAME), origin(TOKEN)]);
            assert!(verifier.redeem(grant, &scene.later(), scene.now).is_ok());
        }
    }
    let bare = without_form(framed());
    let (mut decision_point, _) = guard(&named("frame provider"));
    let Verdict::Grant(Granted::Fill(grant)) = bare.decide(&mut decision_point) else { panic!() };
    assert_eq!(grant.terms().goes_to().unwrap().origin, origin(FRAME));
    let mut own_form = safe(Scene::new(Kind::Payment, &[Field::CardNumber]));
    assert_eq!(reason(own_form.decide(&mut decision_point)), Reason::FrameNotTop);
    let (mut decision_point, _) = guard(&named("frame top or provider"));
    let Verdict::Grant(Granted::Fill(grant)) = own_form.decide(&mut decision_point) else { panic!() };
    assert_eq!(grant.terms().provider, None);
    // The shop's own form does not go to the provider either.
    own_form.page.destination = goal(TOKEN);
    assert_eq!(reason(own_form.decide(&mut decision_point)), Reason::WrongDestination);
}

/// Takes a fact of the frame away, or replaces it.
type Change = (&'static str, fn(&mut Scene), Reason);

const CHANGES: [Change; 18] = [
    ("a look-alike", |s| at(s, "https://elements.pay.exemple"), Reason::OriginMismatch),
    ("a host below", |s| at(s, "https://x.elements.pay.example"), Reason::OriginMismatch),
    ("another port", |s| at(s, "https://elements.pay.example:8443"), Reason::OriginMismatch),
    ("in clear", |s| at(s, "http://elements.pay.example"), Reason::OriginMismatch),
    ("the token origin", |s| at(s, TOKEN), Reason::OriginMismatch),
    ("opaque", |s| s.page.origin = Fact::Unknown, Reason::SignalUnknown(Signal::Frame)),
    ("sandboxed", |s| s.page.sandboxed = Fact::Known(true), Reason::OriginMismatch),
    ("perhaps sandboxed", |s| s.page.sandboxed = Fact::Unknown, Reason::OriginMismatch),
    (
        "nested",
        |s| s.page.ancestors = Fact::Known(vec![origin("https://a.example"), origin(SHOP)]),
        Reason::OriginMismatch,
    ),
    (
        "nested in itself",
        |s| s.page.ancestors = Fact::Known(vec![origin(FRAME), origin(SHOP)]),
        Reason::OriginMismatch,
    ),
    ("top", |s| s.page.ancestors = Fact::Known(Vec::new()), Reason::SignalUnknown(Signal::Frame)),
    ("ancestors unknown", |s| s.page.ancestors = Fact::Unknown, Reason::SignalUnknown(Signal::Frame)),
    (
        "in a page of another site",
        |s| {
            s.page.ancestors = Fact::Known(vec![origin("https://other.example")]);
            s.page.top_origin = Fact::Known(origin("https://other.example"));
        },
        Reason::OriginMismatch,
    ),
    (
        "the top origin is another than the parent's",
        |s| s.page.ancestors = Fact::Known(vec![origin("https://other.example")]),
        Reason::SignalUnknown(Signal::Frame),
    ),
    ("the top document", |s| s.page.document = s.page.top_document.clone(), Reason::OriginMismatch),
    ("a broken connection", |s| s.page.tls = Fact::Known(TlsState::Broken), Reason::TlsInvalid),
    ("a form for the shop", |s| s.page.destination = goal(SHOP), Reason::WrongDestination),
    (
        "a form for two places",
        |s| s.page.destination = Fact::Unknown,
        Reason::SignalUnknown(Signal::Destination),
    ),
];

fn at(scene: &mut Scene, site: &str) {
    scene.page.origin = Fact::Known(origin(site));
}

#[test]
fn each_fact_about_the_frame_matters_when_it_is_decided_and_again_at_the_fill() {
    let (mut decision_point, verifier) = guard(&named("frame top or provider"));
    for (name, change, expected) in CHANGES {
        let mut scene = framed();
        change(&mut scene);
        assert_eq!(reason(scene.decide(&mut decision_point)), expected, "{name}");
        let Verdict::Grant(Granted::Fill(grant)) = framed().decide(&mut decision_point) else { panic!() };
        let redeemed = verifier.redeem(grant, &scene.later(), scene.now);
        assert_eq!(redeemed.err(), Some(RedeemError::Stale), "{name}");
    }
    let mut other_page = framed();
    other_page.page.top_document = Fact::Known(DocumentId::new("another page of the shop"));
    let Verdict::Grant(Granted::Fill(grant)) = framed().decide(&mut decision_point) else { panic!() };
    let redeemed = verifier.redeem(grant, &other_page.later(), other_page.now);
    assert_eq!(redeemed.err(), Some(RedeemError::Stale));
}

#[test]
fn no_other_policy_and_no_other_kind_fills_such_a_frame() {
    for policy in [DEFAULT, SHIPPED] {
        let verdict = framed().decide(&mut guard(policy).0);
        assert!(matches!(verdict, Verdict::Deny(_)), "{verdict:?}");
    }
    let (mut decision_point, _) = guard(&named("frame top or provider"));
    for (kind, field) in [(Kind::Login, Field::Email), (Kind::Address, Field::City)] {
        let mut scene = safe(Scene::new(kind, &[field]));
        let frame = framed().page;
        let (form, controls) = (scene.page.form, scene.page.controls.clone());
        scene.page = browser_signals::Snapshot { form, controls, ..frame };
        assert_eq!(reason(scene.decide(&mut decision_point)), Reason::OriginMismatch, "{kind:?}");
    }
    // The user is asked each time.
    let unasked = Scene { consent: Consent::None, ..framed() };
    assert!(matches!(unasked.decide(&mut decision_point), Verdict::Ask(_)));
    let mut elsewhere = framed();
    elsewhere.task =
        Task::new(vec![origin("https://other.example")], Kind::ALL.to_vec(), None, Container::T2);
    assert!(matches!(elsewhere.decide(&mut decision_point), Verdict::Deny(_)));
}

#[test]
fn the_shipped_policies_prove_that_no_card_goes_into_a_frame() {
    for (text, root) in [(DEFAULT, Kind::Payment), (SHIPPED, Kind::Payment)] {
        let policy = Policy::parse(text).unwrap().compile().unwrap().check().unwrap();
        let mut valuation = Valuation::FIRST.with(symbol::Consent::Given).with(symbol::Container::T2);
        valuation = valuation.with(symbol::Safety::T2).with(symbol::Frame::Provider);
        valuation = valuation.with(symbol::Origin::Provider).with(symbol::Destination::Provider);
        let outcome = policy.outcome(Root::Request(root, Tier::T2), &valuation);
        assert!(matches!(outcome, Outcome::Deny(..)), "{outcome:?}");
    }
    // A statement of the shipped policy stands against a policy that lets every frame in.
    let lax = SHIPPED.replacen("frame top", "frame any", 6);
    let violations = Policy::parse(&lax).unwrap().compile().unwrap().check().unwrap_err();
    let said: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|line| line.contains("never grant payment where frame is cross_origin")),
        "{said:?}"
    );
    // A provider changes nothing of what the shipped statements say.
    assert!(Policy::parse(&named("frame top or provider")).unwrap().compile().unwrap().check().is_ok());
}

#[test]
fn a_verb_reaches_into_the_frame_where_the_policy_says_so() {
    let verbs = named("frame provider").replacen(
        "verb click  { origin is the task's unless container is T0 }",
        "verb click { origin is the task's or provider's unless container is T0 }",
        1,
    );
    let of = |text: &str| Policy::parse(text).unwrap().compile().unwrap().check().unwrap();
    let valuation = |origin| {
        Valuation::FIRST
            .with(symbol::Container::T2)
            .with(symbol::Frame::Provider)
            .with::<symbol::Origin>(origin)
    };
    let click = |text: &str, origin| of(text).outcome(Root::Verb(VerbKind::Click), &valuation(origin));
    assert!(matches!(click(&verbs, symbol::Origin::Provider), Outcome::Grant(None)));
    assert!(matches!(click(&verbs, symbol::Origin::Other), Outcome::Deny(..)));
    assert!(matches!(click(&named("frame provider"), symbol::Origin::Provider), Outcome::Deny(..)));
}

#[test]
fn a_provider_is_written_in_every_form_of_a_policy() {
    let policy = Policy::parse(&named("frame top or provider")).unwrap();
    assert_eq!(Policy::parse(&policy.to_string()).unwrap(), policy);
    assert_eq!(Policy::from_json(&policy.to_json()).unwrap(), policy);
    let compiled = policy.compile().unwrap();
    let read = policy_dfa::Compiled::from_bytes(&compiled.to_bytes()).unwrap();
    assert_eq!((read.policy(), read.policy_hash()), (&policy, compiled.policy_hash()));
    let before = Policy::parse(SHIPPED).unwrap().compile().unwrap();
    let differs = policy_dfa::diff::Diff::between(&before, &compiled).to_string();
    assert!(differs.contains(&format!("a provider, new: {PROVIDER}")), "{differs}");
    assert!(differs.contains("newly granted by fill: `payment`"), "{differs}");
    let unused = SHIPPED.replacen("request payment", &format!("{PROVIDER}\nrequest payment"), 1);
    let warned = Policy::parse(&unused).unwrap().warnings();
    assert!(warned.iter().any(|warning| warning.help == "write there: frame top or provider"), "{warned:?}");
    assert_eq!(Arc::strong_count(&policy.providers()[0]), 2, "the compiled policy shares it");
}
