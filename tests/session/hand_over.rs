//! The hand-over: the user finishes by hand a request that the agent is refused.

use crate::played::{BLOCK, Played};
use browser_signals::{Container, Verb};
use classifier::Safety;
use policy_dfa::Reason;
use portcullis::Action;
use portcullis::audit::AuditEvent;
use portcullis::consent::HandedOver;
use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY};

const PURCHASE: &str = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";

/// A user at the window of a shop without the browser's payment interface.
fn at_a_shop_without_payment_interface(policy: &str, by_hand: HandedOver) -> Played {
    let mut played = Played::under(policy, Container::T2);
    played.core = played.core.with_hand_over(true);
    played.paid = Err(Reason::NoPaymentInterface);
    played.by_hand = by_hand;
    played.safety = Safety::new(1.0).ok();
    played.act(Action::Verb(Verb::Read));
    played
}

#[test]
fn a_finished_hand_over_ends_the_agents_part() {
    let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::Finished);
    let before = played.core.counts().prompts;
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"taken_over\"}");
    assert_eq!(played.offers.len(), 1);
    assert!(played.offers[0].contains("your purchase on https://shop.example"), "{}", played.offers[0]);
    assert!(!played.offers[0].contains("4111"), "{}", played.offers[0]);
    assert_eq!(played.core.counts().prompts, before + 2, "the prompt to pay, and the offer");
    let on_record = AuditEvent::HandOver {
        request: 1,
        kind: sirl::Kind::Purchase,
        origin: crate::played::origin(crate::played::SHOP),
        finished: true,
    };
    assert!(played.records.contains(&on_record));
    // The user may have typed values into the page, so the guard reads, does and releases nothing any more.
    for verb in [Verb::Read, Verb::Back, Verb::Wait { milliseconds: 1 }] {
        assert_eq!(played.act(Action::Verb(verb)), "DENY.verb {\"reason\":\"taken_over\"}");
    }
    assert_eq!(played.request(BLOCK), "DENY.block {\"reason\":\"taken_over\"}");
    assert_eq!((played.commands.len(), played.fills, played.offers.len()), (0, 0, 1));
}

#[test]
fn a_declined_hand_over_is_not_offered_again_and_the_agent_goes_on() {
    let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::GoOn);
    for _ in 0..2 {
        assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"no_payment_interface\"}");
    }
    assert_eq!(played.offers.len(), 1);
    assert!(played.act(Action::Verb(Verb::Read)).contains("Pay now"));
}

#[test]
fn after_an_unanswered_hand_over_the_agent_reads_nothing_more() {
    // The window was closed or the offer expired. The page shows the typed text as its own.
    let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::Silence);
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"taken_over\"}");
    played.reads = "- text: Deliver to 4 Rue Typed-By-Hand".to_owned();
    assert_eq!(played.act(Action::Verb(Verb::Read)), "DENY.verb {\"reason\":\"taken_over\"}");
    assert_eq!(played.request(BLOCK), "DENY.block {\"reason\":\"taken_over\"}");
    let silent = |event: &AuditEvent| matches!(event, AuditEvent::HandOver { finished: false, .. });
    assert!(played.records.iter().any(silent), "the record does not say that the user finished");
}

#[test]
fn without_a_user_at_a_window_no_hand_over_is_offered() {
    let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::Finished);
    played.core = played.core.with_hand_over(false);
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"no_payment_interface\"}");
    assert_eq!(played.offers, [""; 0]);
}

#[test]
fn no_hand_over_is_offered_for_a_refusal_by_the_user_or_one_they_cannot_mend() {
    for reason in [Reason::PaymentDeclined, Reason::StaleDocument, Reason::BrowserLost] {
        let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::Finished);
        played.paid = Err(reason);
        assert!(played.request(PURCHASE).starts_with("DENY.purchase"));
        assert_eq!(played.offers, [""; 0], "{reason:?}");
    }
    let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::Finished);
    played.answer = portcullis::consent::Answer::No;
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"consent_denied\"}");
    assert_eq!(played.offers, [""; 0]);
}

#[test]
fn a_request_that_the_policy_forbids_is_not_handed_over() {
    // A page made the agent ask for the card. The user is not led to type it there.
    let mut played = at_a_shop_without_payment_interface(DEFAULT_POLICY, HandedOver::Finished);
    let card = "REQ.payment fields=[\"card_number\"]\nREQ.end";
    assert_eq!(played.request(card), "DENY.payment {\"reason\":\"delivery_forbidden\"}");
    assert_eq!(played.offers, [""; 0]);
}

#[test]
fn a_hand_over_replaces_the_warning_of_an_unsafe_page() {
    // A policy of the user's own may refuse where the shipped one asks.
    let refuses = APPROACH_C_POLICY.replace(" else ask", "");
    let mut played = at_a_shop_without_payment_interface(&refuses, HandedOver::Finished);
    played.safety = Safety::new(0.1).ok();
    played.act(Action::Verb(Verb::Read));
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"taken_over\"}");
    assert!(played.offers[0].contains("like a scam"), "{}", played.offers[0]);
    assert_eq!((played.core.take_warnings().len(), played.core.counts().warnings), (0, 0));
}
