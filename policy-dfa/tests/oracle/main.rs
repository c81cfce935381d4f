//! The automaton against a slow reading of the same rules, guard by guard.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod model;

use model::{ANY, Answer, Clause, Model, Request, SAME, SINKS, TOP, Test, VERBS};
use policy_dfa::{
    Axis, Compiled, ConsentScope, Delivery, Outcome, Policy, Root, Unchecked, Valuation, VerbKind, symbol,
};
use proptest::prelude::*;
use sirl::{Kind, Tier};

/// Random bytes, spent one choice after the other.
struct Choices<'a>(&'a [u8], usize);

impl Choices<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % self.0.len()].wrapping_add((self.1 / self.0.len()) as u8)) % n
    }

    fn rarely(&mut self) -> bool {
        self.below(16) == 0
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn some<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let first = self.below(all.len());
        (0..all.len()).filter(|i| *i == first || self.below(2) == 0).map(|i| all[i].clone()).collect()
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for place in 0..all.len() {
            let other = self.below(all.len());
            all.swap(place, other);
        }
    }
}

fn always(test: Test) -> Clause {
    Clause { test, when: None, soft: false }
}

/// A rule that is nearly right: each guard is there, but for a slip now and then.
fn request(kind: Kind, c: &mut Choices<'_>) -> Request {
    let buys = kind == Kind::Purchase;
    let mut clauses = Vec::new();
    let mut add = |test: Test, c: &mut Choices<'_>| {
        if !c.rarely() {
            clauses.push(always(test));
        }
    };
    add(if c.rarely() { Test::AtLeast(Tier::T1) } else { Test::Covers }, c);
    add(Test::Origin, c);
    add(Test::Tls, c);
    add(Test::Frame(if buys { TOP } else { c.pick(&[TOP, SAME, ANY]) }), c);
    if !buys {
        add(Test::Goal, c);
        add(Test::Https, c);
        add(Test::Visible, c);
    }
    if c.below(4) == 0 {
        let sinks = c.some(&SINKS);
        add(Test::Sink(sinks), c);
    }
    if c.below(2) == 0 {
        add(Test::Safety, c);
    }
    c.shuffle(&mut clauses);
    let consent = match c.below(16) {
        0 => None,
        n if n < 5 => Some(ConsentScope::Session),
        n if n < 8 => Some(ConsentScope::Site),
        _ => Some(ConsentScope::EveryTime),
    };
    let deliver = match c.below(24) {
        _ if buys => vec![Delivery::PaymentApi],
        0 => vec![],
        1 => vec![Delivery::Model],
        2 => vec![Delivery::Wire, Delivery::Fill],
        _ => vec![Delivery::Fill],
    };
    Request { kind, clauses, consent, deliver }
}

fn verb(kind: VerbKind, c: &mut Choices<'_>) -> Vec<Clause> {
    let mut tests = vec![
        Test::AtLeast(c.pick(&Tier::ALL)),
        Test::Goal,
        Test::Https,
        c.pick(&[Test::Flow, Test::FlowOwn]),
    ];
    if kind != VerbKind::Open {
        let sinks = c.some(&SINKS);
        tests.extend([
            Test::Origin,
            Test::Tls,
            Test::Frame(c.pick(&[TOP, SAME, ANY])),
            Test::Sink(sinks),
            Test::Visible,
        ]);
    }
    c.shuffle(&mut tests);
    let kept = c.below(tests.len() + 1);
    let dress = |test: Test, c: &mut Choices<'_>| {
        let when = match c.below(4) {
            0 => Some((Axis::Container, c.pick(&[vec!["T0"], vec!["T1", "T2"], vec!["T0", "T2"]]))),
            1 => Some((Axis::Sink, c.pick(&[vec!["free_text"], vec!["payment_form", "login_form"]]))),
            _ => None,
        };
        Clause { test, when, soft: c.below(3) == 0 }
    };
    tests.into_iter().take(kept).map(|test| dress(test, c)).collect()
}

fn model(bytes: &[u8]) -> Model {
    let c = &mut Choices(bytes, 0);
    let mut kinds: Vec<_> = Kind::ALL.into_iter().collect();
    c.shuffle(&mut kinds);
    kinds.truncate(1 + c.below(3));
    let verbs: Vec<_> = VERBS.iter().filter(|_| c.below(2) == 0).map(|(verb, _)| *verb).collect();
    Model {
        requests: kinds.into_iter().map(|kind| request(kind, c)).collect(),
        verbs: verbs.into_iter().map(|kind| (kind, verb(kind, c))).collect(),
        denied_kinds: if c.below(2) == 0 { c.some(&Kind::ALL) } else { vec![] },
        denied_verbs: if c.below(2) == 0 { c.some(&VERBS.map(|(verb, _)| verb)) } else { vec![] },
        purchases: c.below(2) == 0,
        prompts: c.below(2) == 0,
        tainted: c.pick(&[None, Some(Tier::T1), Some(Tier::T2)]),
    }
}

fn compiled(text: &str) -> Compiled<Unchecked> {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).compile().unwrap()
}

fn seen(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Deny(_, reason) => Answer::Deny(reason.code()),
        Outcome::Ask(scope) => Answer::Ask(scope),
        Outcome::Grant(way) => Answer::Grant(way),
    }
}

/// All is well and the user said yes.
fn good() -> Valuation {
    Valuation::FIRST.with(symbol::Container::T2).with(symbol::Safety::T2).with(symbol::Consent::Given)
}

/// Every valuation that differs from the good one on at most two axes.
fn near() -> Vec<Valuation> {
    let places = |axis: &Axis| 0..axis.symbols().len() as u8;
    let mut all = Vec::new();
    for (i, first) in Axis::ALL.iter().enumerate() {
        for second in &Axis::ALL[i + 1..] {
            for (a, b) in places(first).flat_map(|a| places(second).map(move |b| (a, b))) {
                let mut valuation = good();
                valuation.set(*first, a);
                valuation.set(*second, b);
                all.push(valuation);
            }
        }
    }
    all.sort_by_key(|valuation| Axis::ALL.iter().map(|axis| valuation.get(*axis)).collect::<Vec<_>>());
    all.dedup();
    all
}

fn can_occur(root: Root) -> bool {
    match root {
        Root::Verb(_) => true,
        Root::Request(Kind::Purchase, need) => need == Tier::T2,
        Root::Request(kind, need) => kind.allowed_fields().iter().any(|field| field.tier() == need),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// On random policies the automaton says what the rules say, and the check finds a violation exactly
    /// where a search of its own does.
    #[test]
    fn automaton_and_check_agree_with_the_rules(
        bytes in prop::collection::vec(any::<u8>(), 97),
        wild in prop::collection::vec(prop::collection::vec(any::<u8>(), Axis::COUNT), 40),
    ) {
        let model = model(&bytes);
        let text = model.text();
        let automaton = compiled(&text);
        let mut valuations = near();
        valuations.extend(wild.iter().map(|bytes| {
            let mut valuation = Valuation::FIRST;
            for (axis, byte) in Axis::ALL.iter().zip(bytes) {
                valuation.set(*axis, byte % axis.symbols().len() as u8);
            }
            valuation
        }));
        let mut broken = false;
        for root in Root::all() {
            for valuation in &valuations {
                let answer = model.answer(root, valuation);
                prop_assert_eq!(seen(automaton.outcome(root, valuation)), answer.clone(), "{:?} {:?}\n{}", root, valuation, text);
                broken |= can_occur(root) && model.breaks(root, valuation, &answer);
            }
        }
        let verdict = automaton.check();
        prop_assert_eq!(verdict.is_err(), broken, "{:?}\n{}", verdict.err(), text);
    }

    /// The order in which clauses are written changes nothing; the canonical text says the same.
    #[test]
    fn order_and_printing_change_nothing(bytes in prop::collection::vec(any::<u8>(), 97), swap in any::<u8>()) {
        let mut model = model(&bytes);
        let policy = Policy::parse(&model.text()).unwrap();
        let printed = Policy::parse(&policy.to_string()).unwrap();
        prop_assert_eq!(&printed, &policy);
        for request in &mut model.requests {
            let places = request.clauses.len().max(1);
            request.clauses.rotate_left(usize::from(swap) % places);
        }
        for (_, clauses) in &mut model.verbs {
            clauses.reverse();
        }
        let shuffled = Policy::parse(&model.text()).unwrap();
        prop_assert_eq!(shuffled.compile().unwrap().policy_hash(), policy.compile().unwrap().policy_hash());
    }
}

/// The shipped policy, in the words of this test.
fn shipped() -> Model {
    let page =
        |container| [always(container), always(Test::Origin), always(Test::Tls), always(Test::Frame(TOP))];
    let form = |kind, scope| {
        let mut clauses = page(Test::Covers).to_vec();
        clauses.extend([Test::Goal, Test::Https, Test::Visible].map(always));
        Request { kind, clauses, consent: Some(scope), deliver: vec![Delivery::Fill] }
    };
    let (session, every) = (ConsentScope::Session, ConsentScope::EveryTime);
    let above = || Some((Axis::Container, vec!["T1", "T2"]));
    let home = Clause { test: Test::Origin, when: above(), soft: false };
    Model {
        requests: vec![
            form(Kind::Address, session),
            form(Kind::Contact, session),
            form(Kind::Login, session),
            form(Kind::Otp, every),
            form(Kind::Identity, every),
            Request {
                kind: Kind::Purchase,
                clauses: page(Test::AtLeast(Tier::T2)).to_vec(),
                consent: Some(every),
                deliver: vec![Delivery::PaymentApi],
            },
        ],
        verbs: vec![
            (
                VerbKind::Open,
                vec![
                    Clause { test: Test::Goal, when: above(), soft: false },
                    always(Test::Https),
                    always(Test::Flow),
                ],
            ),
            (VerbKind::Click, vec![home.clone()]),
            (VerbKind::Choose, vec![home.clone()]),
            (VerbKind::Press, vec![home]),
            (
                VerbKind::Type,
                [Test::Origin, Test::Sink(vec!["other", "free_text"]), Test::Flow].map(always).to_vec(),
            ),
            (VerbKind::Submit, [Test::Origin, Test::Goal, Test::Https, Test::Flow].map(always).to_vec()),
        ],
        purchases: true,
        prompts: true,
        tainted: Some(Tier::T2),
        ..Model::default()
    }
}

/// The shipped policy on every root, for every valuation of the axes that matter to what it grants: all
/// that differ on two axes, and for an address the whole product of the page's axes.
#[test]
fn the_shipped_policy_agrees_everywhere() {
    let model = shipped();
    let automaton = compiled(include_str!("../../../policies/default.policy"));
    for root in Root::all() {
        for valuation in near() {
            assert_eq!(
                seen(automaton.outcome(root, &valuation)),
                model.answer(root, &valuation),
                "{root:?} {valuation:?}"
            );
        }
    }
    let axes = [
        Axis::Container,
        Axis::Origin,
        Axis::TopOrigin,
        Axis::Tls,
        Axis::Frame,
        Axis::Destination,
        Axis::Placement,
        Axis::Visibility,
        Axis::Consent,
        Axis::Claim,
    ];
    let root = Root::Request(Kind::Address, Tier::T2);
    let mut valuation = Valuation::FIRST;
    let (mut cases, mut grants) = (0, 0);
    loop {
        let answer = model.answer(root, &valuation);
        assert_eq!(seen(automaton.outcome(root, &valuation)), answer, "{valuation:?}");
        cases += 1;
        grants += usize::from(matches!(answer, Answer::Grant(_)));
        // The next valuation, counting through the axes.
        let step = axes.iter().find(|axis| {
            let next = valuation.get(**axis) + 1;
            let room = usize::from(next) < axis.symbols().len();
            valuation.set(**axis, if room { next } else { 0 });
            room
        });
        if step.is_none() {
            break;
        }
    }
    assert_eq!((cases, grants), (4 * 3 * 3 * 4 * 4 * 5 * 4 * 3 * 4 * 2, 1));
}
