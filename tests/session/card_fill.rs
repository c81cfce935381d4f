//! A card in a shop's form under approach A: the total that the page names, what counts as a payment, and what the request may charge.

use browser_signals::{Container, Destination, Fact, Snapshot, Verb};
use classifier::Safety;
use policy_dfa::Reason;
use portcullis::APPROACH_A_POLICY;
use portcullis::Action;
use portcullis::consent::Answer;
use sirl::Field;

use crate::played::{Played, checkout, control};

const CARD: &str = "REQ.payment fields=[\"card_number\",\"card_expiry\",\"card_code\"]\nREQ.end";
const LIMIT: &str = "DENY.payment {\"reason\":\"limit_reached\"}";

/// A checkout that takes a card, at this path.
fn card_form(path: &str) -> Snapshot {
    let way = Destination { path: "/pay".into(), ..checkout().destination.known().cloned().unwrap() };
    Snapshot {
        path: Fact::Known(path.into()),
        destination: Fact::Known(way),
        controls: vec![control(1, "cc-number"), control(2, "cc-exp"), control(3, "cc-csc")],
        ..checkout()
    }
}

/// A task with a card and a budget of 100.00 USD, at a page that names this total.
fn at_checkout(total: &str) -> Played {
    under(APPROACH_A_POLICY, total)
}

fn under(policy: &str, total: &str) -> Played {
    let values =
        [("card:task", Field::CardNumber, "4111111111111111"), ("card:task", Field::CardExpiry, "12/29")];
    let mut played = Played::with(policy, Container::T2, &values, "buy a kettle");
    (played.answer, played.code, played.safety) = (Answer::Once, Some("739"), Safety::new(1.0).ok());
    played.looks = vec![card_form("/checkout")];
    read(&mut played, total);
    played
}

fn read(played: &mut Played, total: &str) {
    played.reads = format!("- text: \"1 x kettle\"\n- text: \"{total}\"");
    played.act(Action::Verb(Verb::Read));
}

fn is_granted(played: &mut Played) -> bool {
    played.request(CARD).starts_with("GRANT.payment")
}

#[test]
fn the_question_quotes_the_lines_before_the_total() {
    let mut played = at_checkout("Order total: 42.00 USD");
    assert!(is_granted(&mut played));
    let question = played.prompts[0].clone();
    assert!(question.contains("1 x kettle") && question.contains("Order total: 42.00 USD"), "{question}");
    assert!(question.contains("this site can charge any amount"), "{question}");
}

#[test]
fn a_total_above_the_budget_is_refused_without_a_question() {
    for total in [
        "Total: 100.01 USD",
        "Gesamtsumme: 120,00 USD",
        "Total: 1 234,50 USD",
        "Total: 1'234.50 USD",
        "Subtotal: 4.00 USD\"\n- text: \"Total: $ 1,000.00",
    ] {
        let mut played = at_checkout(total);
        assert_eq!(played.request(CARD), "DENY.payment {\"reason\":\"budget_spent\"}", "{total}");
        assert!(played.prompts.is_empty());
    }
    for total in [
        "Total: 100.00 USD",
        "Subtotal: 120.00 USD\"\n- text: \"Total: 99.00 USD",
        "Pay below",
        // Which of two totals is due, or what a total is, the user says.
        "Total: 120.00 USD\"\n- text: \"Total due: 90.00 USD",
        "Total savings: 120.00 USD",
        "Total: 900.00 EUR",
    ] {
        let mut played = at_checkout(total);
        assert!(is_granted(&mut played), "{total}");
        assert_eq!(played.prompts.len(), 1, "{total}");
    }
}

#[test]
fn every_line_about_a_total_is_quoted() {
    let mut played = at_checkout("Total: 42.00 USD\"\n- text: \"Total incl. fees: 950.00 USD");
    assert!(is_granted(&mut played));
    let question = &played.prompts[0];
    assert!(question.contains("Total: 42.00 USD") && question.contains("950.00 USD"), "{question}");
}

#[test]
fn a_claimed_total_must_be_the_one_that_the_page_names() {
    let claims = |page: &str, total: &str| {
        let block = format!(
            "REQ.payment fields=[\"card_number\"] ctx={{\"total\":{total},\"currency\":\"USD\"}}\nREQ.end"
        );
        at_checkout(page).request(&block)
    };
    let mismatch = "DENY.payment {\"reason\":\"claim_mismatch\"}";
    assert_eq!(claims("Order total: 42.00 USD", "24.00"), mismatch);
    assert_eq!(claims("Pay below", "42.00"), mismatch, "no total is named");
    assert!(claims("Order total: 42.00 USD", "42.00").starts_with("GRANT.payment"));
}

/// Reads the same page again and asks for the same fill.
fn again(played: &mut Played) -> String {
    read(played, "Order total: 42.00 USD");
    played.request(CARD)
}

#[test]
fn the_same_payment_is_tried_again_with_a_question_and_another_is_not() {
    let mut played = at_checkout("Order total: 42.00 USD");
    assert!(is_granted(&mut played));
    assert_eq!(played.request(CARD), LIMIT, "what the page says now has not been read");
    assert!(again(&mut played).starts_with("GRANT"), "the shop refused the card, or forgot the form");
    assert_eq!(played.prompts.len(), 2);
    assert!(
        played.prompts[1].contains("your card was filled here before in this task"),
        "{}",
        played.prompts[1]
    );
    // Another total, another page, another destination, or no total.
    read(&mut played, "Order total: 42.01 USD");
    assert_eq!(played.request(CARD), LIMIT);
    played.looks = vec![card_form("/other")];
    assert_eq!(again(&mut played), LIMIT);
    let mut elsewhere = card_form("/checkout");
    let way = Destination { path: "/tip".into(), ..elsewhere.destination.known().cloned().unwrap() };
    elsewhere.destination = Fact::Known(way);
    played.looks = vec![elsewhere];
    assert_eq!(again(&mut played), LIMIT);
    played.looks = vec![card_form("/checkout")];
    read(&mut played, "Thank you");
    assert_eq!(played.request(CARD), LIMIT);
    // The second repetition is the last.
    assert!(again(&mut played).starts_with("GRANT"));
    assert_eq!(again(&mut played), LIMIT);
    assert_eq!((played.fills, played.prompts.len()), (3, 3));
}

#[test]
fn two_fills_in_one_block_are_two_payments() {
    let mut played = at_checkout("Order total: 42.00 USD");
    let both = CARD.replace("\nREQ.end", "") + "\n" + CARD;
    let answer = played.request(&both);
    assert!(answer.starts_with("GRANT.payment") && answer.ends_with(LIMIT), "{answer}");
    assert_eq!(played.fills, 1);
}

#[test]
fn an_action_after_the_reading_makes_the_total_unknown() {
    let mut played = at_checkout("Order total: 42.00 USD");
    assert!(is_granted(&mut played));
    read(&mut played, "Order total: 42.00 USD");
    played.act(Action::Verb(Verb::Back));
    assert_eq!(played.request(CARD), LIMIT);
}

#[test]
fn a_repetition_is_asked_about_under_a_yes_for_the_session() {
    let (before, payment) = APPROACH_A_POLICY.split_once("request payment {").unwrap();
    let lasting = payment.replacen("consent every time", "consent once per session", 1);
    let mut played = under(&format!("{before}request payment {{{lasting}"), "Order total: 42.00 USD");
    played.answer = Answer::Session;
    assert!(is_granted(&mut played));
    assert!(again(&mut played).starts_with("GRANT"));
    assert_eq!(played.prompts.len(), 2);
}

#[test]
fn a_page_that_redirects_the_form_gets_the_card_once() {
    let mut played = at_checkout("Order total: 42.00 USD");
    played.filled = Err(Reason::WrongDestination);
    assert_eq!(played.request(CARD), "DENY.payment {\"reason\":\"wrong_destination\"}");
    played.filled = Ok(());
    assert_eq!(again(&mut played), LIMIT);
}

#[test]
fn what_was_charged_is_spent() {
    let two = APPROACH_A_POLICY.replace("at most 1 payment", "at most 2 payment");
    let mut played = under(&two, "Order total: 60.00 USD");
    assert!(is_granted(&mut played));
    played.looks = vec![card_form("/other")];
    read(&mut played, "Order total: 60.00 USD");
    assert_eq!(played.request(CARD), "DENY.payment {\"reason\":\"budget_spent\"}");
    // The repetition is no second charge.
    played.looks = vec![card_form("/checkout")];
    read(&mut played, "Order total: 60.00 USD");
    assert!(is_granted(&mut played));
}

#[test]
fn a_fill_of_the_expiry_alone_spends_nothing() {
    let mut played = at_checkout("Order total: 42.00 USD");
    let expiry = "REQ.payment fields=[\"card_expiry\"]\nREQ.end";
    assert!(played.request(expiry).starts_with("GRANT.payment"));
    read(&mut played, "Order total: 50.00 USD");
    assert!(is_granted(&mut played), "no number and no code was placed");
    assert_eq!(again(&mut played), LIMIT, "the number went to the order of 50.00");
}

#[test]
fn the_greatest_amount_of_the_page_goes_with_the_released_card() {
    let mut played = at_checkout("Order total: 42.00 USD\"\n- text: \"instead of 55.00 USD");
    assert!(is_granted(&mut played));
    let releases = played.releases.all();
    assert!(!releases.is_empty() && releases.iter().all(|one| one.total.map(|it| it.minor) == Some(5500)));
}
