//! A small policy, a simulated page and a vault, for the tests of releases.

#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink,
    Snapshot, TlsState,
};
use policy_dfa::{
    Basis, Consent, DecisionPoint, Event, Fill, Grant, Granted, History, Millis, Model, PaymentApi,
    Placement, Policy, Question, Task, Verdict, Verifier, Wire, authority,
};
use sirl::{Claim, Currency, Field, FieldSet, Items, Kind, Money, Pointers, Request};
use vault::{Binding, Secret, Vault};

const POLICY: &str = r#"
policy "test" version 1
tier T1 { name country region city phone email }
tier T2 { street postal_code card_number card_expiry card_code government_id password one_time_code }
request address {
    container covers the fields
    origin is the task's
    tls valid
    frame top
    destination origin is the task's
    destination https
    visible
    consent once per session
    deliver fill
}
request contact {
    container covers the fields
    origin is the task's
    tls valid
    frame top
    destination origin is the task's
    destination https
    visible
    consent once per session
    deliver fill
}
request login {
    container covers the fields
    origin is the task's
    tls valid
    frame top
    destination origin is the task's
    destination https
    visible
    consent once per session
    deliver fill
}
request otp {
    container covers the fields
    origin is the task's
    tls valid
    frame top
    destination origin is the task's
    destination https
    visible
    consent once per session
    deliver fill
}
request purchase {
    container T2
    origin is the task's
    tls valid
    frame top
    consent every time, naming payee and amount
    deliver payment_api
}
request payment {
    container covers the fields
    origin is the task's
    tls valid
    frame top
    destination origin is the task's
    destination https
    visible
    consent every time
    deliver wire
}
session { at most 5 purchases }
prove never deliver payment to model
"#;

pub const NOW: Millis = Millis(1_000);

/// Bytes that differ from call to call and are the same in every run.
pub fn entropy(seed: u64) -> impl FnMut(&mut [u8]) {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    move |out: &mut [u8]| {
        for byte in out {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (state >> 56) as u8;
        }
    }
}

pub fn guard(seed: u8) -> (DecisionPoint, Verifier) {
    let checked = Policy::parse(POLICY).expect("policy").compile().expect("compile").check().expect("check");
    authority(checked, [seed; 16])
}

/// Does the same under a policy that shows contacts to the model.
pub fn model_guard(seed: u8) -> (DecisionPoint, Verifier) {
    let (before, contact) = POLICY.split_once("request contact").expect("a rule for contacts");
    let policy = [before, "request contact", &contact.replacen("deliver fill", "deliver model", 1)].concat();
    let checked = Policy::parse(&policy).expect("policy").compile().expect("compile").check().expect("check");
    authority(checked, [seed; 16])
}

/// Makes a vault with a card, an address and a contact.
pub fn filled(verifier: Verifier) -> Vault {
    let mut entropy = entropy(1);
    let mut vault = Vault::ephemeral(&mut entropy, verifier);
    for (handle, field, value) in [
        ("contact:me", Field::Name, "Maria Quintela"),
        ("contact:me", Field::Email, "maria.quintela@mail.example"),
        ("card:personal", Field::CardNumber, "4111 1111 1111 1111"),
        ("card:personal", Field::CardExpiry, "12/31"),
        ("address:home", Field::Street, "Rua das Flores 77"),
        ("address:home", Field::City, "Coimbra"),
        ("address:home", Field::PostalCode, "3000-214"),
    ] {
        vault.insert(handle, field, Secret::new(value), &Binding::Anywhere, &mut entropy).expect("insert");
    }
    vault
}

pub fn shop() -> Origin {
    Origin::parse("https://shop.example").expect("origin")
}

fn control(node: i64, form: i64, autocomplete: &str) -> Control {
    Control {
        node: NodeId(node),
        form: Some(NodeId(form)),
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

/// A form with controls for a street, a city and a name, nodes 11 to 13, owned by node 10.
pub fn page() -> Snapshot {
    let document = DocumentId::new("loader-1");
    Snapshot {
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
        controls: [(11, "address-line1"), (12, "address-level2"), (13, "name")]
            .map(|(node, autocomplete)| control(node, 10, autocomplete))
            .to_vec(),
        words: Default::default(),
    }
}

pub fn seen(page: Snapshot, number: u64) -> Observed<Snapshot> {
    Observed::simulated(page, number)
}

pub fn amount() -> Money {
    Money::parse("64.15", Currency::new("USD").expect("currency")).expect("money")
}

fn decide(
    point: &mut DecisionPoint,
    kind: Kind,
    fields: &[(Field, i64)],
    page: &Observed<Snapshot>,
) -> Verdict {
    let request = Request {
        kind,
        fields: fields.iter().map(|(f, _)| *f).collect::<FieldSet>(),
        at: Pointers::default(),
        items: Items::default(),
        claim: Claim::default(),
    };
    let placements: Vec<_> = fields
        .iter()
        .map(|(field, node)| Placement { field: *field, node: NodeId(*node), basis: Basis::Page })
        .collect();
    let budget = Money::parse("500.00", Currency::new("USD").expect("currency"));
    let kinds = vec![Kind::Address, Kind::Contact, Kind::Payment, Kind::Purchase, Kind::Login, Kind::Otp];
    let task = Task::new(vec![shop()], kinds, budget, Container::T2);
    point.decide(&Question {
        event: Event::Request {
            request: &request,
            placements: &placements,
            amount: (kind == Kind::Purchase).then(amount),
        },
        page: Some(page),
        task: &task,
        consent: Consent::Given,
        history: History::default(),
        safety: Fact::Unknown,
        now: NOW,
    })
}

/// Makes a grant to fill `fields` into these nodes, decided on observation number 1.
pub fn fill_grant(point: &mut DecisionPoint, kind: Kind, fields: &[(Field, i64)]) -> Grant<Fill> {
    fill_grant_on(point, kind, fields, page())
}

/// Makes a grant to fill `fields` into these nodes of this page, decided on observation number 1.
pub fn fill_grant_on(
    point: &mut DecisionPoint,
    kind: Kind,
    fields: &[(Field, i64)],
    page: Snapshot,
) -> Grant<Fill> {
    match decide(point, kind, fields, &seen(page, 1)) {
        Verdict::Grant(Granted::Fill(grant)) => grant,
        other => panic!("no fill was granted: {other:?}"),
    }
}

/// Makes a grant to send `fields` of these nodes on the wire, decided on observation number 1 of this page.
pub fn wire_grant(point: &mut DecisionPoint, fields: &[(Field, i64)], page: Snapshot) -> Grant<Wire> {
    match decide(point, Kind::Payment, fields, &seen(page, 1)) {
        Verdict::Grant(Granted::Wire(grant)) => grant,
        other => panic!("no wire was granted: {other:?}"),
    }
}

/// Makes a grant to show the model fields of a contact, decided on observation number 1.
pub fn model_grant(point: &mut DecisionPoint, fields: &[(Field, i64)]) -> Grant<Model> {
    match decide(point, Kind::Contact, fields, &seen(page(), 1)) {
        Verdict::Grant(Granted::Model(grant)) => grant,
        other => panic!("nothing may be shown: {other:?}"),
    }
}

/// Makes a grant to pay, decided on observation number 1.
pub fn payment_grant(point: &mut DecisionPoint) -> Grant<PaymentApi> {
    match decide(point, Kind::Purchase, &[], &seen(page(), 1)) {
        Verdict::Grant(Granted::PaymentApi(grant)) => grant,
        other => panic!("no payment was granted: {other:?}"),
    }
}
