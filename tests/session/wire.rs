//! Wires: the page gets placeholders, the request gets the values, and the outcome is known later.

use crate::played::{Played, checkout, control};
use browser_signals::{Container, Destination, Fact, Snapshot};
use policy_dfa::{Delivery, Reason};
use portcullis::audit::AuditEvent;
use portcullis::consent::Answer;
use sirl::{Field, FieldSet};

const POLICY: &str = include_str!("../../policies/wire.policy");
const BLOCK: &str = "REQ.payment fields=[\"card_number\",\"card_expiry\"]\nREQ.end";

/// A page with a card form.
fn card_form() -> Snapshot {
    let mut page = checkout();
    page.controls = vec![control(1, "cc-number"), control(2, "cc-exp"), control(3, "cc-csc")];
    for (control, name) in page.controls.iter_mut().zip(["number", "expiry", "code"]) {
        control.name = name.to_owned();
    }
    page
}

fn at_the_till() -> Played {
    let mut played = Played::under(POLICY, Container::T2);
    played.looks = vec![card_form()];
    played
}

#[test]
fn card_fields_go_by_wire_and_the_outcome_follows() {
    let mut played = at_the_till();
    let reply = played.request(BLOCK);
    assert_eq!(reply, "GRANT.payment {\"delivered\":\"wired\",\"fields\":[\"card_number\",\"card_expiry\"]}");
    assert_eq!((played.fills, played.prompts.len(), played.core.counts().releases), (0, 1, 1));
    let [(number, fields)] = played.wires.as_slice() else { panic!("one wire") };
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["number", "expiry"]);
    assert!(fields[0].1.starts_with("400000") && fields[0].1 != "4111111111111111");
    let intent = played.records.iter().any(|record| {
        matches!(record, AuditEvent::Intent { request, delivery: Delivery::Wire, .. } if request == number)
    });
    assert!(intent);
    assert!(!played.records.iter().any(|record| matches!(record, AuditEvent::Outcome { .. })));
    let number = *number;
    assert_eq!(played.core.end_wire(number + 1, None), None, "none that was never open");
    let ended = played.core.end_wire(number, None);
    assert_eq!(ended, Some(AuditEvent::Outcome { request: number, failed: None }));
    assert_eq!(played.core.end_wire(number, None), None, "an outcome is recorded once");
}

#[test]
fn every_wire_is_asked_about_and_has_its_own_placeholders() {
    let mut played = at_the_till();
    played.answer = Answer::Once;
    played.request(BLOCK);
    played.request(BLOCK);
    assert_eq!((played.prompts.len(), played.wires.len()), (2, 2));
    assert_ne!(played.wires[0].1, played.wires[1].1);
    played.answer = Answer::No;
    assert_eq!(played.request(BLOCK), "DENY.payment {\"reason\":\"consent_denied\"}");
    assert_eq!(played.wires.len(), 2);
}

#[test]
fn a_wire_that_could_not_be_placed_or_sent_is_recorded_as_failed() {
    let mut played = at_the_till();
    played.placed = Err(Reason::NoControl);
    assert_eq!(played.request(BLOCK), "DENY.payment {\"reason\":\"no_control\"}");
    let failed = |record: &AuditEvent| matches!(record, AuditEvent::Outcome { failed: Some(_), .. });
    assert!(played.records.iter().any(failed));
    let number = played.wires[0].0;
    assert_eq!(played.core.end_wire(number, None), None, "its outcome is on record");

    played.placed = Ok(());
    played.request(BLOCK);
    let number = played.wires[1].0;
    let late = played.core.end_wire(number, Some(Reason::ConsentExpired));
    assert!(late.is_some_and(|record| failed(&record)));
    assert_eq!(played.core.counts().denials.get("consent_expired"), Some(&1));
}

#[test]
fn a_get_form_or_one_for_another_site_gets_no_placeholder() {
    let to = |origin: &str, method: &str| {
        let mut played = at_the_till();
        played.looks[0].destination = Fact::Known(Destination {
            origin: crate::played::origin(origin),
            path: "/pay".into(),
            method: method.into(),
        });
        let reply = played.request(BLOCK);
        assert!(played.wires.is_empty());
        reply
    };
    assert_eq!(to("https://shop.example", "GET"), "DENY.payment {\"reason\":\"delivery_forbidden\"}");
    assert_eq!(to("https://evil.example", "POST"), "DENY.payment {\"reason\":\"wrong_destination\"}");
    assert_eq!(to("http://shop.example", "POST"), "DENY.payment {\"reason\":\"wrong_destination\"}");
    let mut nameless = at_the_till();
    nameless.looks[0].controls[0].name.clear();
    assert_eq!(nameless.request(BLOCK), "DENY.payment {\"reason\":\"no_control\"}");
}

#[test]
fn a_security_code_is_asked_for_if_the_form_has_a_field_for_it() {
    let mut played = at_the_till();
    played.code = Some("987");
    let block = "REQ.payment fields=[\"card_number\",\"card_expiry\",\"card_code\"]\nREQ.end";
    assert!(played.request(block).starts_with("GRANT.payment"));
    assert_eq!((played.codes_asked, played.wires[0].1.len()), (1, 3));
    let code = FieldSet::EMPTY.with(Field::CardCode);
    assert!(!played.vault.lock().unwrap().has(code, None), "the code outlived the release");
}
