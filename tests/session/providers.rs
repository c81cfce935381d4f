//! A payment in the frames of a provider, one for each field: one question, one payment, and all of it or nothing.

use browser_signals::{Container, DocumentId, Fact, FrameId, NodeId, Snapshot};
use classifier::Safety;
use policy_dfa::Reason;
use portcullis::APPROACH_A_POLICY;
use portcullis::audit::AuditEvent;
use portcullis::consent::Answer;
use sirl::Field;

use crate::played::{Played, SHOP, checkout, control, origin};

const FRAME: &str = "https://elements.pay.example";
const TOKEN: &str = "https://api.pay.example";
const ALL: &str = "REQ.payment fields=[\"card_number\",\"card_expiry\",\"card_code\"]\nREQ.end";

fn policy() -> String {
    let (before, payment) = APPROACH_A_POLICY.split_once("request payment {").unwrap();
    let provider = format!("provider \"Pay\" {{ frame \"{FRAME}\" token \"{TOKEN}\" }}");
    format!(
        "{before}{provider}\nrequest payment {{{}",
        payment.replacen("frame top", "frame top or provider", 1)
    )
}

/// A frame of the provider with one control that no form owns.
fn field(node: i64, autocomplete: &str) -> Snapshot {
    let mut control = control(node, autocomplete);
    control.form = None;
    Snapshot {
        frame: FrameId::new(format!("frame {node}").as_str()),
        document: Fact::Known(DocumentId::new(format!("fields {node}").as_str())),
        origin: Fact::Known(origin(FRAME)),
        path: Fact::Known("/field".into()),
        ancestors: Fact::Known(vec![origin(SHOP)]),
        form: None,
        destination: Fact::Unknown,
        controls: vec![control],
        ..checkout()
    }
}

fn read(played: &mut Played, total: &str) {
    played.reads = format!("- text: \"{total}\"");
    played.act(portcullis::Action::Verb(portcullis::signals::Verb::Read));
}

fn framed() -> Played {
    let values =
        [("card:task", Field::CardNumber, "4111111111111111"), ("card:task", Field::CardExpiry, "12/29")];
    let mut played = Played::with(&policy(), Container::T2, &values, "buy a kettle");
    played.answer = Answer::Once;
    played.code = Some("739");
    played.safety = Safety::new(1.0).ok();
    read(&mut played, "Order total: 42.00 USD");
    played.beside = vec![field(11, "cc-number"), field(12, "cc-exp"), field(13, "cc-csc")];
    played
}

fn intents(played: &Played) -> usize {
    played.records.iter().filter(|event| matches!(event, AuditEvent::Intent { .. })).count()
}

#[test]
fn one_request_fills_a_frame_a_field_with_one_question() {
    let mut played = framed();
    let answer = played.request(ALL);
    assert_eq!(
        answer,
        "GRANT.payment {\"delivered\":\"filled\",\"fields\":[\"card_number\",\"card_expiry\",\"card_code\"]}"
    );
    let [question] = played.prompts.as_slice() else { panic!("{:?}", played.prompts) };
    assert_eq!(question.matches("fill your payment").count(), 1, "{question}");
    assert!(question.contains("Order total: 42.00 USD"), "the total is the shop's: {question}");
    // Each fill is a grant of its own, with a look of its own, and they are one payment.
    assert_eq!((played.fills, intents(&played)), (3, 3));
    let releases = played.releases.all();
    assert!(releases.iter().all(|one| [origin(FRAME), origin(TOKEN)].contains(&one.destination.origin)));
    assert_eq!(releases.len(), 6);
    assert_eq!(played.request(ALL), "DENY.payment {\"reason\":\"limit_reached\"}");
}

#[test]
fn a_claimed_total_holds_for_every_part() {
    let mut played = framed();
    let claims = |total: &str| {
        ALL.replace("\nREQ.end", &format!(" ctx={{\"total\":{total},\"currency\":\"USD\"}}\nREQ.end"))
    };
    assert_eq!(played.request(&claims("41.00")), "DENY.payment {\"reason\":\"claim_mismatch\"}");
    let answer = played.request(&claims("42.00"));
    assert!(answer.starts_with("GRANT.payment") && !answer.contains("DENY"), "{answer}");
    assert_eq!(played.fills, 3);
}

#[test]
fn nothing_is_filled_unless_every_part_would_be() {
    type Spoil = (fn(&mut Snapshot), &'static str);
    let spoils: [Spoil; 3] = [
        (|page| page.controls[0].hit = Fact::Known(false), "occluded"),
        (|page| page.controls[0].autocomplete = "off".into(), "no_control"),
        (|page| page.sandboxed = Fact::Known(true), "no_control"),
    ];
    for (spoil, reason) in spoils {
        let mut played = framed();
        spoil(&mut played.beside[2]);
        assert_eq!(played.request(ALL), format!("DENY.payment {{\"reason\":\"{reason}\"}}"));
        assert_eq!((played.fills, played.prompts.len()), (0, 0), "{reason}");
    }
}

#[test]
fn a_failure_in_the_middle_is_told_and_the_payment_is_spent() {
    let mut played = framed();
    played.filled = Err(Reason::StaleDocument);
    played.filled_from = 1;
    let answer = played.request(ALL);
    assert_eq!(
        answer,
        "GRANT.payment {\"delivered\":\"filled\",\"fields\":[\"card_number\"]}\n\
         DENY.payment {\"reason\":\"stale_document\"}"
    );
    assert_eq!(played.fills, 2, "nothing goes into the frames after the one that failed");
    // A provider's frame does not say on which page of the shop it is, so nothing repeats a fill there.
    read(&mut played, "Order total: 42.00 USD");
    assert_eq!(played.request(ALL), "DENY.payment {\"reason\":\"limit_reached\"}");
}

#[test]
fn a_no_is_one_refusal() {
    let mut played = framed();
    played.answer = Answer::No;
    assert_eq!(played.request(ALL), "DENY.payment {\"reason\":\"consent_denied\"}");
    assert_eq!((played.fills, played.prompts.len()), (0, 1));
}

#[test]
fn a_frame_that_is_gone_or_new_after_the_question_gets_nothing() {
    let mut played = framed();
    let other = Snapshot { document: Fact::Known(DocumentId::new("other")), ..field(12, "cc-exp") };
    // The survey sees the frames as they were, and the look after the question another document in one of them.
    played.swapped = Some((1, other));
    assert_eq!(played.request(ALL), "DENY.payment {\"reason\":\"stale_document\"}");
    assert_eq!(played.fills, 0);
}

#[test]
fn the_shops_own_form_is_left_alone_where_a_providers_frame_takes_the_card() {
    let mut played = framed();
    for (at, token) in [(0, "cc-number"), (1, "cc-exp")] {
        played.looks[0].controls[at].autocomplete = token.into();
    }
    played.looks[0].controls.push(control(NodeId(3).0, "cc-csc"));
    assert!(played.request(ALL).starts_with("GRANT.payment "));
    assert!(
        played
            .commands
            .iter()
            .filter(|it| it.starts_with("fill"))
            .all(|it| it.contains("elements.pay.example"))
    );
}
