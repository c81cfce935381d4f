//! What the agent does not get, and a person finishes by hand.

use crate::played::{BLOCK, Played};
use browser_signals::{Container, Verb};
use classifier::Safety;
use policy_dfa::Reason;
use portcullis::Action;
use portcullis::audit::AuditEvent;
use portcullis::consent::HandedOver;
use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY};

const PURCHASE: &str = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";

/// A person at the window of a shop that does not ask the browser for the payment.
fn at_a_shop_without_the_interface(policy: &str, by_hand: HandedOver) -> Played {
    let mut played = Played::under(policy, Container::T2);
    played.core = played.core.with_hand_over(true);
    played.paid = Err(Reason::NoPaymentInterface);
    played.by_hand = by_hand;
    played.safety = Safety::new(1.0).ok();
    played.act(Action::Verb(Verb::Read));
    played
}

#[test]
fn who_finishes_by_hand_ends_the_agents_part() {
    let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::Finished);
    let before = played.core.counts().prompts;
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"taken_over\"}");
    assert_eq!(played.offers.len(), 1);
    assert!(played.offers[0].contains("your purchase on https://shop.example"), "{}", played.offers[0]);
    assert!(!played.offers[0].contains("4111"), "{}", played.offers[0]);
    assert_eq!(played.core.counts().prompts, before + 2, "the question to pay, and the offer");
    let on_record = AuditEvent::HandOver {
        request: 1,
        kind: sirl::Kind::Purchase,
        origin: crate::played::origin(crate::played::SHOP),
        finished: true,
    };
    assert!(played.records.contains(&on_record));
    // What a person typed since is on the page: nothing is read, done or released any more.
    for verb in [Verb::Read, Verb::Back, Verb::Wait { milliseconds: 1 }] {
        assert_eq!(played.act(Action::Verb(verb)), "DENY.verb {\"reason\":\"taken_over\"}");
    }
    assert_eq!(played.request(BLOCK), "DENY.block {\"reason\":\"taken_over\"}");
    assert_eq!((played.commands.len(), played.fills, played.offers.len()), (0, 0, 1));
}

#[test]
fn who_declines_is_not_offered_the_same_again_and_the_agent_goes_on() {
    let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::GoOn);
    for _ in 0..2 {
        assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"no_payment_interface\"}");
    }
    assert_eq!(played.offers.len(), 1);
    assert!(played.act(Action::Verb(Verb::Read)).contains("Pay now"));
}

#[test]
fn who_says_nothing_may_be_typing_and_the_agent_reads_nothing_more() {
    // The window was closed, or the quarter of an hour is over; the page shows what was typed as its own words.
    let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::Silence);
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"taken_over\"}");
    played.reads = "- text: Deliver to 4 Rue Typed-By-Hand".to_owned();
    assert_eq!(played.act(Action::Verb(Verb::Read)), "DENY.verb {\"reason\":\"taken_over\"}");
    assert_eq!(played.request(BLOCK), "DENY.block {\"reason\":\"taken_over\"}");
    let silent = |event: &AuditEvent| matches!(event, AuditEvent::HandOver { finished: false, .. });
    assert!(played.records.iter().any(silent), "nobody said that they finished");
}

#[test]
fn without_somebody_at_a_window_nothing_is_offered() {
    let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::Finished);
    played.core = played.core.with_hand_over(false);
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"no_payment_interface\"}");
    assert_eq!(played.offers, [""; 0]);
}

#[test]
fn what_a_person_refused_or_what_is_not_theirs_to_mend_is_not_offered() {
    for reason in [Reason::PaymentDeclined, Reason::StaleDocument, Reason::BrowserLost] {
        let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::Finished);
        played.paid = Err(reason);
        assert!(played.request(PURCHASE).starts_with("DENY.purchase"));
        assert_eq!(played.offers, [""; 0], "{reason:?}");
    }
    let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::Finished);
    played.answer = portcullis::consent::Answer::No;
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"consent_denied\"}");
    assert_eq!(played.offers, [""; 0]);
}

#[test]
fn what_the_policy_forbids_is_not_handed_to_the_user_either() {
    // A page talked the agent into asking for the card: nobody is brought to type it there.
    let mut played = at_a_shop_without_the_interface(DEFAULT_POLICY, HandedOver::Finished);
    let card = "REQ.payment fields=[\"card_number\"]\nREQ.end";
    assert_eq!(played.request(card), "DENY.payment {\"reason\":\"delivery_forbidden\"}");
    assert_eq!(played.offers, [""; 0]);
}

#[test]
fn an_offer_stands_in_for_the_warning_of_a_page_that_looks_unsafe() {
    let mut played = at_a_shop_without_the_interface(APPROACH_C_POLICY, HandedOver::Finished);
    played.safety = Safety::new(0.1).ok();
    played.act(Action::Verb(Verb::Read));
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"taken_over\"}");
    assert!(played.offers[0].contains("like a scam"), "{}", played.offers[0]);
    assert_eq!((played.core.take_warnings().len(), played.core.counts().warnings), (0, 0));
}
