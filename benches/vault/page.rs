//! A page that asks for an address, and the grant for it.

use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink,
    Snapshot, TlsState,
};
use policy_dfa::{
    Basis, Consent, DecisionPoint, Event, Fill, Grant, Granted, History, Millis, Placement, Question, Task,
    Verdict,
};
use sirl::{Claim, Field, FieldSet, Items, Kind, Pointers, Request};

pub const NOW: Millis = Millis(1_000);

/// The fields and the controls that take them.
pub const FIELDS: [(Field, i64); 3] = [(Field::Street, 11), (Field::City, 12), (Field::Name, 13)];

fn shop() -> Origin {
    Origin::parse("https://shop.example").unwrap()
}

fn control(node: i64, autocomplete: &str) -> Control {
    Control {
        node: NodeId(node),
        form: Some(NodeId(10)),
        tag: "input".into(),
        input_type: "text".into(),
        autocomplete: autocomplete.into(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: Default::default(),
    }
}

/// The `number`-th snapshot of the page.
pub fn seen(number: u64) -> Observed<Snapshot> {
    let document = DocumentId::new("loader-1");
    let page = Snapshot {
        container: Fact::Known(Container::T2),
        container_id: ContainerId::new("context-1"),
        frame: FrameId::new("frame-1"),
        document: Fact::Known(document.clone()),
        top_document: Fact::Known(document),
        origin: Fact::Known(shop()),
        path: Fact::Known("/checkout".into()),
        top_origin: Fact::Known(shop()),
        ancestors: Fact::Known(Vec::new()),
        tls: Fact::Known(TlsState::Valid),
        sandboxed: Fact::Known(false),
        secure_context: Fact::Known(true),
        form: Some(NodeId(10)),
        destination: Fact::Known(Destination {
            origin: shop(),
            path: "/address".into(),
            method: "POST".into(),
        }),
        sink: Fact::Known(Sink::AddressForm),
        target: None,
        controls: FIELDS
            .iter()
            .zip(["address-line1", "address-level2", "name"])
            .map(|((_, node), autocomplete)| control(*node, autocomplete))
            .collect(),
        words: Default::default(),
    };
    Observed::simulated(page, number)
}

/// The grant for the three fields, decided on the `number`-th snapshot.
pub fn grant(point: &mut DecisionPoint, number: u64) -> Grant<Fill> {
    let page = seen(number);
    let fields: FieldSet = FIELDS.iter().map(|(field, _)| *field).collect();
    let (at, items) = (Pointers::default(), Items::default());
    let request = Request { kind: Kind::Address, fields, at, items, claim: Claim::default() };
    let placements: Vec<Placement> = FIELDS
        .iter()
        .map(|(field, node)| Placement { node: NodeId(*node), field: *field, basis: Basis::Page })
        .collect();
    let question = Question {
        event: Event::Request { request: &request, placements: &placements, amount: None },
        page: Some(&page),
        task: &Task::new(vec![shop()], vec![Kind::Address], None, Container::T2),
        consent: Consent::Given,
        history: History::default(),
        safety: Fact::Unknown,
        now: NOW,
    };
    match point.decide(&question) {
        Verdict::Grant(Granted::Fill(grant)) => grant,
        _ => panic!("the policy grants it"),
    }
}
