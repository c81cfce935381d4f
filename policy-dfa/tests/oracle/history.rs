//! The history of a session agrees with the oracle's own evaluation of the session rules: after each event, the
//! signals of every root are compared.

use browser_signals::{Container, Destination, Fact, Origin};
use policy_dfa::{
    Axis, Carried, Consent, Event, History, Millis, Policy, Question, Root, SessionEvent, Task, VerbKind,
};
use proptest::prelude::*;
use sirl::{Claim, Currency, FieldSet, Items, Kind, Money, Pointers, Request};

use crate::DEFAULT;
use crate::generate::{Choices, session};
use crate::model::{Model, event};
use crate::session::{Past, name};

const VERBS: [VerbKind; 8] = [
    VerbKind::Open,
    VerbKind::Read,
    VerbKind::Click,
    VerbKind::Type,
    VerbKind::Choose,
    VerbKind::Press,
    VerbKind::Submit,
    VerbKind::Idle,
];

/// A random event. Those that trigger rules are more frequent.
fn any_event(c: &mut Choices<'_>) -> SessionEvent {
    let money = Money { minor: 100, currency: Currency::new("USD").unwrap() };
    match c.below(14) {
        12 => SessionEvent::Charged(money),
        13 => SessionEvent::Uncounted(c.pick(&Kind::ALL)),
        0 | 1 => SessionEvent::Suspected,
        2 => SessionEvent::Refused,
        3 => SessionEvent::Prompted,
        4 => SessionEvent::Paid(money),
        5 => SessionEvent::NewTask,
        n if n < 9 => SessionEvent::Released(c.pick(&Kind::ALL)),
        _ => SessionEvent::Done(c.pick(&VERBS)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_history_agrees_with_the_session_rules(
        bytes in prop::collection::vec(any::<u8>(), 97),
        steps in prop::collection::vec(any::<u8>(), 83),
    ) {
        let rules = session(&mut Choices::new(&bytes));
        let (before, rest) = DEFAULT.split_once("session {").unwrap();
        let text = format!("{before}{rules}{}", rest.split_once('}').unwrap().1);
        let policy = Policy::parse(&text).unwrap();
        let model = Model::read(&policy.to_json());
        let checked = policy.compile().unwrap().check().unwrap();
        let task = Task::new(vec![], vec![], None, Container::T2);
        let endpoint = Destination {
            origin: Origin::parse("https://shop.example").unwrap(),
            path: "/ucp".into(),
            method: "POST".into(),
        };
        let c = &mut Choices::new(&steps);
        let (mut history, mut past) = (History::default(), Past::default());
        let mut events: Vec<SessionEvent> = Vec::new();
        for _ in 0..40 {
            for kind in Kind::ALL {
                // Each field alone, so that every tier occurs.
                let fields = kind.allowed_fields().iter().map(Some).chain([None]);
                for field in fields {
                    let fields: FieldSet = field.into_iter().collect();
                    let (at, items) = (Pointers::default(), Items::default());
                    let request = Request { kind, fields, at, items, claim: Claim::default() };
                    let asked = Event::Request { request: &request, placements: &[], amount: None };
                    compare(&checked, &model, (asked, &task), (&history, &past), &events);
                    if matches!(kind, Kind::Address | Kind::Contact | Kind::Purchase) {
                        let ordered = Event::Checkout { request: &request, endpoint: &endpoint, amount: None };
                        compare(&checked, &model, (ordered, &task), (&history, &past), &events);
                    }
                }
            }
            for verb in VERBS {
                let asked = Event::Verb { verb, to: None, carries: Fact::Known(Carried::Own) };
                compare(&checked, &model, (asked, &task), (&history, &past), &events);
            }
            let next = any_event(c);
            history = checked.after(history, next);
            past = model.then(&past, &name(next));
            events.push(next);
        }
    }
}

fn compare(
    checked: &policy_dfa::Compiled<policy_dfa::Checked>,
    model: &Model,
    (asked, task): (Event<'_>, &Task),
    (history, past): (&History, &Past),
    events: &[SessionEvent],
) {
    let question = Question {
        event: asked,
        page: None,
        task,
        consent: Consent::None,
        history: *history,
        safety: Fact::Unknown,
        now: Millis(0),
    };
    let root: Root = checked.root(&asked);
    let valuation = checked.valuation(&question);
    let mut expected = model.history_symbols(past, event(root)).to_vec();
    expected.push((Axis::Prompts, model.prompts_symbol(past)));
    for (axis, symbol) in expected {
        assert_eq!(
            valuation.name(axis),
            symbol,
            "{} of {root} after {events:?}\n{}",
            axis.as_str(),
            checked.policy()
        );
    }
}
