//! Values shown to the model: only with the guard's option, never of T2, and typed only at the granted origin.

use crate::played::{Played, SHOP, control, origin};
use browser_signals::{Container, ElementRef, Verb};
use classifier::Safety;
use policy_dfa::Delivery;
use portcullis::Action;
use portcullis::audit::AuditEvent;
use portcullis::{APPROACH_A_POLICY, APPROACH_A_TOLD_POLICY};
use sirl::{Field, FieldSet, Kind};

const EMAIL: &str = "canary.quarry@mail.test";
const PHONE: &str = "+1 628 555 3418";
const CONTACT: &str =
    "REQ.contact fields=[\"email\",\"phone\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";

fn asked(policy: &str, tells: bool) -> (Played, String) {
    let values = [
        ("contact:task", Field::Email, EMAIL),
        ("contact:task", Field::Phone, PHONE),
        ("address:task", Field::Street, "17 Quarry Road"),
    ];
    let mut played = Played::for_task(policy, (Container::T2, &[Kind::Contact]), &values, "buy a kettle");
    played.core = played.core.with_values_shown_to_the_model(tells);
    played.looks[0].controls = vec![control(1, "email"), control(2, "tel")];
    played.safety = Safety::new(1.0).ok();
    played.act(Action::Verb(Verb::Read));
    let reply = played.request(CONTACT);
    (played, reply)
}

fn types(played: &mut Played, text: &str) -> String {
    let target = ElementRef("e4".into());
    played.act(Action::Verb(Verb::typed(target, text)))
}

#[test]
fn a_guard_without_the_option_shows_the_model_no_value() {
    let (_, reply) = asked(APPROACH_A_TOLD_POLICY, false);
    assert_eq!(reply, "DENY.contact {\"reason\":\"delivery_forbidden\"}");
    // The option does not change the policy that fills.
    let (played, reply) = asked(APPROACH_A_POLICY, true);
    assert!(
        reply.starts_with("GRANT.contact {\"delivered\":\"filled\"") && !reply.contains(EMAIL),
        "{reply}"
    );
    assert_eq!(played.fills, 1);
}

#[test]
fn a_value_shown_to_the_model_can_be_typed_alone_at_the_granted_origin_only() {
    let (mut played, reply) = asked(APPROACH_A_TOLD_POLICY, true);
    assert_eq!(
        reply,
        format!(
            "GRANT.contact {{\"delivered\":\"model\",\"values\":{{\"phone\":\"{PHONE}\",\"email\":\"{EMAIL}\"}}}}"
        )
    );
    assert_eq!((played.fills, played.core.counts().releases), (0, 1));
    assert_eq!(played.commands, [format!("narrow {:?}", [origin(SHOP), origin(SHOP)])], "before it is told");
    for value in [EMAIL, PHONE] {
        assert_eq!(types(&mut played, value), "ok", "{value}");
    }
    for more in [format!("{EMAIL} and more"), "17 Quarry Road".to_owned()] {
        let (mut played, _) = asked(APPROACH_A_TOLD_POLICY, true);
        assert!(types(&mut played, &more).starts_with("DENY.verb"), "{more}");
    }
    let url = format!("https://shop.example/?q={EMAIL}");
    assert!(played.act(Action::Verb(Verb::Open { url })).starts_with("DENY.verb"));
    // A page of another origin.
    let (mut played, _) = asked(APPROACH_A_TOLD_POLICY, true);
    played.looks[0].origin = browser_signals::Fact::Known(origin("https://other.example"));
    assert!(types(&mut played, EMAIL).starts_with("DENY.verb"));
}

#[test]
fn the_record_names_the_field_and_never_the_value() {
    let (played, _) = asked(APPROACH_A_TOLD_POLICY, true);
    let intent = AuditEvent::Intent {
        request: 1,
        kind: Kind::Contact,
        fields: FieldSet::EMPTY.with(Field::Email).with(Field::Phone),
        origin: origin(SHOP),
        delivery: Delivery::Model,
        amount: None,
    };
    assert!(played.records.contains(&intent), "{:?}", played.records);
    assert!(!format!("{:?}", played.records).contains("canary"));
}

#[test]
fn no_policy_shows_the_model_an_address() {
    let wrong = APPROACH_A_TOLD_POLICY.replacen("deliver fill", "deliver model", 1);
    let policy = policy_dfa::Policy::parse(&wrong).unwrap().compile().unwrap();
    assert!(policy.check().is_err());
}
