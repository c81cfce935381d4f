//! What a granted login or one-time code wants of a source.

use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Sink,
    Snapshot, TlsState,
};
use policy_dfa::{
    Basis, Consent, Event, Granted, History, Millis, Placement, Policy, Question, Task, Verdict, authority,
};
use sirl::{Claim, Field, FieldSet, Kind, Pointers, Request};
use vault::Vault;
use vault::sources::Wanted;

use super::origin;

const POLICY: &str = include_str!("../../../../policies/default.policy");

pub fn login(site: &str) -> Wanted {
    wanted(site, Kind::Login, &[(Field::Username, "username"), (Field::Password, "current-password")])
}

pub fn code(site: &str) -> Wanted {
    wanted(site, Kind::Otp, &[(Field::OneTimeCode, "one-time-code")])
}

fn wanted(site: &str, kind: Kind, fields: &[(Field, &str)]) -> Wanted {
    let checked = Policy::parse(POLICY).unwrap().compile().unwrap().check().unwrap();
    let (mut point, verifier) = authority(checked, [3; 16]);
    let (site, document) = (origin(site), DocumentId::new("loader"));
    let control = |(node, (_, token)): (i64, &(Field, &str))| Control {
        node: NodeId(node),
        form: Some(NodeId(1)),
        tag: "input".into(),
        input_type: if *token == "current-password" { "password".into() } else { "text".into() },
        autocomplete: (*token).into(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: Default::default(),
    };
    let page = Snapshot {
        container: Fact::Known(Container::T2),
        container_id: ContainerId::new("context"),
        frame: FrameId::new("frame"),
        document: Fact::Known(document.clone()),
        top_document: Fact::Known(document),
        origin: Fact::Known(site.clone()),
        path: Fact::Known("/login".into()),
        top_origin: Fact::Known(site.clone()),
        ancestors: Fact::Known(Vec::new()),
        tls: Fact::Known(TlsState::Valid),
        sandboxed: Fact::Known(false),
        secure_context: Fact::Known(true),
        form: Some(NodeId(1)),
        destination: Fact::Known(Destination {
            origin: site.clone(),
            path: "/login".into(),
            method: "POST".into(),
        }),
        sink: Fact::Known(Sink::LoginForm),
        target: None,
        controls: (11..).zip(fields).map(control).collect(),
        words: Default::default(),
    };
    let request = Request {
        kind,
        fields: fields.iter().map(|(field, _)| *field).collect::<FieldSet>(),
        at: Pointers::default(),
        claim: Claim::default(),
    };
    let placements: Vec<Placement> = (11..)
        .zip(fields)
        .map(|(node, (field, _))| Placement { field: *field, node: NodeId(node), basis: Basis::Page })
        .collect();
    let verdict = point.decide(&Question {
        event: Event::Request { request: &request, placements: &placements, amount: None },
        page: Some(&Observed::simulated(page, 1)),
        task: &Task::new(vec![site], vec![Kind::Login, Kind::Otp], None, Container::T2),
        consent: Consent::Given,
        history: History::default(),
        safety: Fact::Unknown,
        now: Millis(1_000),
    });
    let Verdict::Grant(Granted::Fill(grant)) = verdict else { panic!("{verdict:?}") };
    let mut entropy = |out: &mut [u8]| out.fill(7);
    Vault::ephemeral(&mut entropy, verifier).wanted(&grant).unwrap()
}
