//! Purchases: each one causes a prompt, within the budget.

use crate::played::Played;
use browser_signals::{Container, Verb};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use portcullis::consent::Answer;
use sirl::{Field, FieldSet};

#[test]
fn a_purchase_is_asked_about_each_time_with_payee_and_amount() {
    let mut played = Played::new(Container::T2);
    played.act(Action::Verb(Verb::Read));
    let block = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";
    let reply = played.request(block);
    assert!(
        reply.starts_with("GRANT.purchase {\"status\":\"success\",\"method\":\"PaymentRequest\""),
        "{reply}"
    );
    assert!(reply.contains("\"card\":\"card:task\",\"amount\":64.15"), "{reply}");
    assert!(played.prompts[0].contains("pay 64.15 USD to:\n      shop.example\n"), "{}", played.prompts[0]);
    // The policy allows one purchase.
    assert_eq!(played.request(block), "DENY.purchase {\"reason\":\"limit_reached\"}");
    assert_eq!(played.payments, 1);
}

#[test]
fn a_security_code_is_asked_for_once_for_each_payment_and_is_gone_after_it() {
    let two = DEFAULT_POLICY.replace("at most 1 purchase", "at most 2 purchases");
    let mut played = Played::under(&two, Container::T2);
    played.act(Action::Verb(Verb::Read));
    let block = "REQ.purchase ctx={\"total\":30.00,\"currency\":\"USD\"}\nREQ.end";
    let code = FieldSet::EMPTY.with(Field::CardCode);
    for (given, asked, paid) in [(Some("987"), 1, 1), (None, 2, 1)] {
        played.code = given;
        assert!(played.request(block).starts_with("GRANT.purchase"));
        assert_eq!((played.codes_asked, played.codes_paid), (asked, paid));
        assert!(!played.vault.lock().unwrap().has(code, None), "the code outlived the payment");
    }
    played.answer = Answer::No;
    played.request(block);
    assert_eq!(played.codes_asked, 2, "who says no to a payment is not asked for a code");
}

#[test]
fn a_purchase_above_the_budget_is_refused_without_a_prompt() {
    let mut played = Played::new(Container::T2);
    played.act(Action::Verb(Verb::Read));
    let block = "REQ.purchase ctx={\"total\":100.01,\"currency\":\"USD\"}\nREQ.end";
    assert_eq!(played.request(block), "DENY.purchase {\"reason\":\"budget_spent\"}");
    let other = "REQ.purchase ctx={\"total\":1.00,\"currency\":\"EUR\"}\nREQ.end";
    assert!(played.request(other).starts_with("DENY.purchase"));
    assert_eq!((played.payments, played.prompts.len()), (0, 0));
}
