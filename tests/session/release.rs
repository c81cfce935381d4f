//! Releases and refusals, by page.

use crate::played::{BLOCK, Played, SHOP, checkout, control, origin};
use browser_signals::{
    Container, Destination, DocumentId, ElementRef, Fact, NodeId, Snapshot, TlsState, Verb,
};
use policy_dfa::{Millis, Reason};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use portcullis::audit::AuditEvent;
use portcullis::session::ActionResult;
use portcullis::session::core::{Command, Event};

#[test]
fn an_address_is_filled_after_one_prompt_and_then_without_one() {
    let mut played = Played::new(Container::T2);
    let reply = played.request(BLOCK);
    assert_eq!(reply, "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"city\",\"street\"]}");
    assert_eq!((played.fills, played.prompts.len()), (1, 1));
    assert!(played.request(BLOCK).starts_with("GRANT.address"));
    assert_eq!((played.fills, played.prompts.len()), (2, 1));
    let intent = played.records.iter().position(|r| matches!(r, AuditEvent::Intent { .. })).unwrap();
    assert!(matches!(played.records[intent + 1], AuditEvent::Outcome { failed: None, .. }));
}

/// Changes one fact of the page and expects this reason, no prompt and no release.
fn denied(change: impl Fn(&mut Snapshot), reason: &str) {
    let mut played = Played::new(Container::T2);
    change(&mut played.looks[0]);
    let reply = played.request(BLOCK);
    assert_eq!(reply, format!("DENY.address {{\"reason\":\"{reason}\"}}"));
    assert_eq!((played.fills, played.prompts.len()), (0, 0), "{reason}");
    assert!(
        played.records.iter().any(|r| matches!(r, AuditEvent::Refused { .. })),
        "{reason} is not on record"
    );
    assert_eq!(played.core.counts().denials.get(reason), Some(&1));
}

#[test]
fn a_wrong_page_is_refused_with_its_reason_and_without_a_prompt() {
    denied(|page| page.container = Fact::Known(Container::T1), "invalid_container");
    denied(|page| page.container = Fact::Unknown, "signal_unknown:container");
    denied(|page| page.tls = Fact::Known(TlsState::Broken), "tls_invalid");
    denied(|page| page.tls = Fact::Known(TlsState::Insecure), "tls_invalid");
    denied(|page| page.tls = Fact::Unknown, "signal_unknown:tls");
    // Without the document's id the frame is unknown, and the policy checks the frame first.
    denied(|page| page.document = Fact::Unknown, "signal_unknown:frame");
    denied(|page| page.destination = Fact::Unknown, "signal_unknown:destination");
    denied(|page| page.ancestors = Fact::Known(vec![origin(SHOP)]), "frame_not_top");
    denied(
        |page| {
            page.destination = Fact::Known(Destination {
                origin: origin("https://evil.example"),
                path: "/address".into(),
                method: "POST".into(),
            });
        },
        "wrong_destination",
    );
    denied(|page| page.controls[0].hit = Fact::Known(false), "occluded");
    denied(|page| page.controls.truncate(1), "no_control");
}

#[test]
fn a_page_of_another_origin_contradicts_the_claim_or_the_task() {
    let elsewhere = |page: &mut Snapshot| {
        page.origin = Fact::Known(origin("https://shop.example:8443"));
        page.top_origin = page.origin.clone();
    };
    let mut played = Played::new(Container::T2);
    elsewhere(&mut played.looks[0]);
    let reply = played.request("REQ.address fields=[\"street\",\"city\"]\nREQ.end");
    assert_eq!(reply, "DENY.address {\"reason\":\"origin_mismatch\"}");
}

#[test]
fn a_false_claim_denies() {
    for claim in [
        "{\"origin\":\"https://other.example\"}",
        "{\"container\":\"T0\"}",
        "{\"tls\":false}",
        "{\"top_origin\":\"https://shop.example.\"}",
        "{\"origin\":\"not an origin\"}",
    ] {
        let mut played = Played::new(Container::T2);
        let reply = played.request(&format!("REQ.address fields=[\"street\",\"city\"] ctx={claim}\nREQ.end"));
        assert_eq!(reply, "DENY.address {\"reason\":\"claim_mismatch\"}", "{claim}");
        assert_eq!((played.fills, played.prompts.len()), (0, 0));
    }
}

#[test]
fn a_page_that_changes_between_decision_and_fill_gets_nothing() {
    let changes: [fn(&mut Snapshot); 5] = [
        |page| page.document = Fact::Known(DocumentId::new("another")),
        |page| page.controls[0].node = NodeId(9),
        |page| page.controls[0].form = Some(NodeId(101)),
        |page| page.destination = Fact::Unknown,
        |page| {
            page.destination = Fact::Known(Destination {
                origin: origin("https://evil.example"),
                path: "/".into(),
                method: "POST".into(),
            });
        },
    ];
    for change in changes {
        let mut played = Played::new(Container::T2);
        let mut changed = checkout();
        change(&mut changed);
        // The looks are the survey, the look of the decision, and the fresh look before the release.
        played.looks = vec![checkout(), checkout(), changed];
        assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"stale_document\"}");
        assert_eq!(played.fills, 0);
        let outcome = played.records.iter().any(|r| matches!(r, AuditEvent::Outcome { failed: Some(_), .. }));
        assert!(outcome, "the failed release is not on record");
    }
}

#[test]
fn a_fill_with_unknown_outcome_counts_as_a_release_and_is_recorded_as_unknown() {
    let policy = DEFAULT_POLICY.replace("at most 1 purchase", "at most 1 purchase, 1 address");
    let mut played = Played::under(&policy, Container::T2);
    played.filled = Err(Reason::Unconfirmed);
    let reply = played.request(BLOCK);
    assert_eq!(reply, "GRANT.address {\"delivered\":\"unconfirmed\",\"fields\":[\"city\",\"street\"]}");
    let unconfirmed =
        |r: &AuditEvent| matches!(r, AuditEvent::Outcome { failed: Some(Reason::Unconfirmed), .. });
    assert_eq!(played.records.iter().filter(|r| unconfirmed(r)).count(), 1);
    assert!(!played.records.iter().any(|r| matches!(r, AuditEvent::Refused { .. })));
    assert_eq!((played.core.counts().releases, played.core.counts().denials.len()), (1, 0));
    // The policy's history counts it.
    played.filled = Ok(());
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"limit_reached\"}");
    assert_eq!(played.fills, 1);
}

#[test]
fn a_fill_that_failed_is_no_release() {
    for (failed, reason) in [(Reason::StaleDocument, "stale_document"), (Reason::BrowserLost, "browser_lost")]
    {
        let mut played = Played::new(Container::T2);
        played.filled = Err(failed);
        assert_eq!(played.request(BLOCK), format!("DENY.address {{\"reason\":\"{reason}\"}}"));
        assert_eq!(played.core.counts().releases, 0);
    }
}

#[test]
fn values_that_a_page_may_have_seen_count_although_it_redirected_the_form() {
    let policy = DEFAULT_POLICY.replace("at most 1 purchase", "at most 1 purchase, 1 address");
    let mut played = Played::under(&policy, Container::T2);
    played.filled = Err(Reason::WrongDestination);
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"wrong_destination\"}");
    assert_eq!(played.core.counts().releases, 0);
    played.filled = Ok(());
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"limit_reached\"}");
    assert_eq!(played.fills, 1);
}

/// A block of two requests. One is granted, and the refusal of the other cannot be recorded.
#[test]
fn a_granted_request_keeps_its_reply_although_another_refusal_is_not_recorded() {
    let mut played = Played::new(Container::T2);
    played.unrecorded = |event| matches!(event, AuditEvent::Refused { .. });
    let block = BLOCK.replace("REQ.end", "REQ.login fields=[\"password\"]\nREQ.end");
    let reply = played.request(&block);
    let lines: Vec<&str> = reply.lines().collect();
    assert_eq!(
        lines,
        [
            "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"city\",\"street\"]}",
            "DENY.login {\"reason\":\"audit_unavailable\"}",
        ]
    );
    assert_eq!(played.fills, 1);
}

#[test]
fn without_a_record_nothing_is_released_or_done() {
    let mut played = Played::new(Container::T2);
    played.recording = false;
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"audit_unavailable\"}");
    let click = Verb::click(ElementRef("e1".into()));
    assert_eq!(played.act(Action::Verb(click)), "DENY.verb {\"reason\":\"audit_unavailable\"}");
    assert_eq!(played.fills, 0);
}

#[test]
fn a_locked_vault_releases_nothing() {
    let mut played = Played::new(Container::T2);
    played.vault.lock().unwrap().lock();
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"vault_locked\"}");
}

#[test]
fn card_data_is_never_filled() {
    let mut played = Played::new(Container::T2);
    played.looks[0].controls.push(control(3, "cc-number"));
    let reply =
        played.request("REQ.payment fields=[\"card_number\"] ctx={\"sink\":\"payment_form\"}\nREQ.end");
    assert!(reply.starts_with("DENY.payment"), "{reply}");
    assert_eq!((played.fills, played.prompts.len()), (0, 0));
}

#[test]
fn a_block_that_cannot_be_read_releases_nothing() {
    let mut played = Played::new(Container::T2);
    let reply = played.request("REQ.address fields=[\"shoe_size\"]\nREQ.end");
    assert!(reply.starts_with("DENY.block {\"reason\":\"malformed_request\"}"), "{reply}");
    assert_eq!(played.fills, 0);
}

#[test]
fn a_plan_is_answered_with_the_kinds_that_can_never_be_granted() {
    let plan = "PLAN.address\nPLAN.payment\nPLAN.contact\nPLAN.purchase\nPLAN.payment\nPLAN.end";
    let mut played = Played::new(Container::T2);
    let refused = |lines: &[&str]| {
        let each = lines.iter().map(|line| {
            let (kind, reason) = line.split_once(' ').unwrap();
            format!("DENY.{kind} {{\"reason\":\"{reason}\"}}\n")
        });
        each.collect::<String>() + "PLAN.end"
    };
    assert_eq!(played.request(plan), refused(&["payment delivery_forbidden", "contact unplanned_request"]));
    assert_eq!(played.fills, 0);
    let mut low = Played::new(Container::T0);
    let expected = [
        "address invalid_container",
        "payment delivery_forbidden",
        "contact unplanned_request",
        "purchase invalid_container",
    ];
    assert_eq!(low.request(plan), refused(&expected));
}

#[test]
fn kinds_outside_the_schema_are_refused() {
    let mut played = Played::new(Container::T2);
    let schema = sirl::Schema::parse("kind contact { email }").unwrap();
    played.core = played.core.with_schema(schema);
    for text in ["REQ.address\nREQ.end", "PLAN.address\nPLAN.end"] {
        let reply = played.request(text);
        assert!(reply.starts_with("DENY.block {\"reason\":\"malformed_request\"}"), "{reply}");
    }
    assert_eq!(played.fills, 0);
}

#[test]
fn an_unexpected_event_ends_the_action_without_a_release() {
    let mut played = Played::new(Container::T2);
    let command = played.core.step(Event::Done(Ok(())), Millis(0));
    assert!(
        matches!(command, Command::Answer(outcome) if outcome.result == ActionResult::Refused(Reason::BrowserLost))
    );
}
