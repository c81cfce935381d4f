//! A scene in which a request is granted: one shop, one form, one request. A test changes one thing of it.

#![allow(dead_code, reason = "each test file uses a part")]

use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink,
    Snapshot, TlsState,
};
use policy_dfa::{
    Basis, Consent, DecisionPoint, Event, History, Millis, Placement, Policy, Question, Reason, SafetyBand,
    SessionEvent, Task, Verdict, Verifier, authority,
};
use sirl::{Claim, Currency, Field, FieldSet, Items, Kind, Money, Pointers, Request};

pub const DEFAULT: &str = include_str!("../../../policies/default.policy");

pub fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

pub fn usd(minor: u64) -> Money {
    Money { minor, currency: Currency::new("USD").unwrap() }
}

pub fn guard(text: &str) -> (DecisionPoint, Verifier) {
    let compiled = Policy::parse(text).unwrap().compile().unwrap();
    let checked = compiled.check().unwrap_or_else(|violations| {
        let all: Vec<_> = violations.iter().map(ToString::to_string).collect();
        panic!("{}", all.join("\n"))
    });
    authority(checked, [7; 16])
}

/// A request with its page, its task and its history.
#[derive(Clone)]
pub struct Scene {
    pub request: Request,
    pub placements: Vec<Placement>,
    pub amount: Option<Money>,
    pub page: Snapshot,
    pub number: u64,
    pub task: Task,
    pub consent: Consent,
    pub safety: Fact<SafetyBand>,
    /// The earlier events of the session, in order.
    pub history: Vec<SessionEvent>,
    pub now: Millis,
}

pub fn control(node: i64) -> Control {
    Control {
        node: NodeId(node),
        form: Some(NodeId(1)),
        tag: "input".to_owned(),
        input_type: "text".to_owned(),
        autocomplete: String::new(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: Default::default(),
    }
}

pub fn task(container: Container) -> Task {
    Task::new(vec![origin("https://shop.example")], Kind::ALL.to_vec(), Some(usd(10_000)), container)
}

impl Scene {
    /// A request for `fields`, on a page where it is granted with consent.
    pub fn new(kind: Kind, fields: &[Field]) -> Scene {
        let request = Request {
            kind,
            fields: fields.iter().copied().collect::<FieldSet>(),
            at: Pointers::default(),
            items: Items::default(),
            claim: Claim::default(),
        };
        let asked: Vec<Field> = request.effective_fields().iter().collect();
        let nodes = 10..;
        let placements: Vec<_> = asked
            .iter()
            .zip(nodes)
            .map(|(field, node)| Placement { field: *field, node: NodeId(node), basis: Basis::Page })
            .collect();
        let shop = origin("https://shop.example");
        let document = Fact::Known(DocumentId::new("doc"));
        let page = Snapshot {
            container: Fact::Known(Container::T2),
            container_id: ContainerId::new("context"),
            frame: FrameId::new("frame"),
            document: document.clone(),
            top_document: document,
            origin: Fact::Known(shop.clone()),
            path: Fact::Known("/checkout".into()),
            top_origin: Fact::Known(shop.clone()),
            ancestors: Fact::Known(Vec::new()),
            tls: Fact::Known(TlsState::Valid),
            sandboxed: Fact::Known(false),
            secure_context: Fact::Known(true),
            form: Some(NodeId(1)),
            destination: Fact::Known(Destination {
                origin: shop,
                path: "/order".into(),
                method: "POST".into(),
            }),
            sink: Fact::Known(Sink::AddressForm),
            target: Some(control(10)),
            controls: placements.iter().map(|placement| control(placement.node.0)).collect(),
            words: Default::default(),
        };
        Scene {
            request,
            placements,
            amount: (kind == Kind::Purchase).then(|| usd(6415)),
            page,
            number: 3,
            task: task(Container::T2),
            consent: Consent::Given,
            safety: Fact::Unknown,
            history: Vec::new(),
            now: Millis(1_000),
        }
    }

    pub fn address() -> Scene {
        Scene::new(Kind::Address, &[Field::City, Field::PostalCode])
    }

    pub fn decide(&self, decision_point: &mut DecisionPoint) -> Verdict {
        let page = Observed::simulated(self.page.clone(), self.number);
        let step = |history, event: &SessionEvent| decision_point.after(history, *event);
        let history = self.history.iter().fold(History::default(), step);
        decision_point.decide(&Question {
            event: Event::Request {
                request: &self.request,
                placements: &self.placements,
                amount: self.amount,
            },
            page: Some(&page),
            task: &self.task,
            consent: self.consent,
            history,
            safety: self.safety,
            now: self.now,
        })
    }

    /// A later observation of the page.
    pub fn later(&self) -> Observed<Snapshot> {
        Observed::simulated(self.page.clone(), self.number + 1)
    }
}

/// The destination of a form at this origin.
pub fn goal(text: &str) -> Fact<Destination> {
    Fact::Known(Destination { origin: origin(text), path: "/".into(), method: "POST".into() })
}

pub fn reason(verdict: Verdict) -> Reason {
    match verdict {
        Verdict::Deny(reason) => reason,
        other => panic!("not refused: {other:?}"),
    }
}
