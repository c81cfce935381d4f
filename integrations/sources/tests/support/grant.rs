//! The fields that a granted login or one-time code takes from a source.

use browser_signals::{Container, Fact, NodeId, Observed, Sink, Snapshot};
use policy_dfa::{
    Basis, Consent, Event, Granted, History, Millis, Placement, Policy, Question, Task, Verdict, authority,
};
use sirl::{Claim, Field, FieldSet, Items, Kind, Pointers, Request};
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
    let site = origin(site);
    let tokens: Vec<&str> = fields.iter().map(|(_, token)| *token).collect();
    let page = Snapshot::simulated_form(&site, "/login", Sink::LoginForm, &tokens);
    let request = Request {
        kind,
        fields: fields.iter().map(|(field, _)| *field).collect::<FieldSet>(),
        at: Pointers::default(),
        items: Items::default(),
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
