//! Questions, and the answers that count for them.

use crate::played::{BLOCK, Played, SHOP, checkout, origin};
use browser_signals::{Container, Destination, DocumentId, ElementRef, Fact, Snapshot, Verb};
use policy_dfa::{ConsentScope, Millis};
use portcullis::DEFAULT_POLICY;
use portcullis::action::Action;
use portcullis::consent::ticket::{ANSWER_WITHIN, SubjectOf};
use portcullis::consent::{Answer, ConsentPrompt, Ticket};
use portcullis::session::core::MOST_PROMPTS;
use sirl::Kind;

#[test]
fn a_no_is_a_no_and_is_not_asked_again() {
    let mut played = Played::new(Container::T2);
    played.answer = Answer::No;
    for _ in 0..2 {
        assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"consent_denied\"}");
    }
    assert_eq!((played.fills, played.prompts.len()), (0, 1));
}

#[test]
fn a_late_yes_is_a_no() {
    for (thinks, filled) in [(ANSWER_WITHIN.0 - 1, 1), (ANSWER_WITHIN.0, 0)] {
        let mut played = Played::new(Container::T2);
        played.thinks = thinks;
        played.request(BLOCK);
        assert_eq!((played.fills, played.prompts.len()), (filled, 1));
    }
}

#[test]
fn a_yes_to_another_prompt_is_a_no() {
    let other = {
        let ticket = Ticket::new([1; 16], SubjectOf::policy(&[0; 32]).finish(), Millis(0));
        ConsentPrompt::new(Vec::new(), Vec::new(), ConsentScope::Session, ticket).answered(Answer::Session)
    };
    let mut played = Played::new(Container::T2);
    played.stale = Some(other);
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"consent_denied\"}");
    assert_eq!((played.fills, played.prompts.len()), (0, 1));
}

#[test]
fn a_never_outlives_the_task_and_is_not_asked_again() {
    let mut played = Played::new(Container::T2);
    played.act(Action::Verb(Verb::Read));
    played.answer = Answer::Never;
    let pay = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";
    for _ in 0..2 {
        assert_eq!(played.request(pay), "DENY.purchase {\"reason\":\"consent_denied\"}");
    }
    assert_eq!((played.payments, played.prompts.len()), (0, 1));
    let kept = played.core.take_standing().unwrap();
    assert_eq!(kept.len(), 1);
    assert!(!kept[0].given && kept[0].kind == Kind::Purchase && kept[0].to == origin(SHOP));
}

#[test]
fn a_task_that_asks_without_end_is_not_listened_to() {
    let unlimited: String = DEFAULT_POLICY.replace("at most 1 purchase, 5 prompts", "at most 1 purchase");
    let mut played = Played::under(&unlimited, Container::T2);
    played.act(Action::Verb(Verb::Read));
    played.answer = Answer::No;
    let pay = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";
    for _ in 0..MOST_PROMPTS {
        assert_eq!(played.request(pay), "DENY.purchase {\"reason\":\"consent_denied\"}");
    }
    assert_eq!(played.request(pay), "DENY.purchase {\"reason\":\"budget_spent\"}");
    assert_eq!(played.prompts.len(), MOST_PROMPTS as usize);
    assert!(
        played.prompts[3].contains("! the agent was refused 3 times in this task"),
        "{}",
        played.prompts[3]
    );
}

#[test]
fn a_prompt_names_the_records_and_where_they_go() {
    let mut played = Played::new(Container::T2);
    played.request(BLOCK);
    let prompt = &played.prompts[0];
    assert!(prompt.contains("it is sent to https://shop.example"), "{prompt}");
    assert!(prompt.contains("from your address:task"), "{prompt}");
}

#[test]
fn a_yes_to_a_verb_is_for_the_page_that_was_asked_about() {
    let asking = DEFAULT_POLICY.replace(
        "verb click  { origin is the task's unless container is T0 }",
        "verb click { origin is the task's else ask }",
    );
    assert_ne!(asking, DEFAULT_POLICY);
    let elsewhere = |document: &str| {
        let mut page = checkout();
        page.origin = Fact::Known(origin("https://other.example"));
        page.document = Fact::Known(DocumentId::new(document));
        page
    };
    let click = || Action::Verb(Verb::Click { target: ElementRef("e1".into()) });
    for (after, reply) in [("d", "ok"), ("e", "DENY.verb {\"reason\":\"stale_document\"}")] {
        let mut played = Played::under(&asking, Container::T2);
        played.looks = vec![elsewhere("d"), elsewhere(after)];
        assert_eq!(played.act(click()), reply);
        assert_eq!(played.prompts.len(), 1);
        assert!(
            played.prompts[0].contains("let the agent click on https://other.example"),
            "{}",
            played.prompts[0]
        );
    }
}

#[test]
fn a_yes_is_not_spent_on_another_page() {
    let changes: [fn(&mut Snapshot); 2] = [
        |page| {
            page.document = Fact::Known(DocumentId::new("another"));
            page.top_document = page.document.clone();
        },
        |page| {
            page.destination = Fact::Known(Destination {
                origin: origin(SHOP),
                path: "/elsewhere".into(),
                method: "POST".into(),
            });
        },
    ];
    for change in changes {
        let mut played = Played::new(Container::T2);
        let mut moved = checkout();
        change(&mut moved);
        // The page moves while the user reads the prompt.
        played.looks = vec![checkout(), moved];
        assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"stale_document\"}");
        assert_eq!((played.fills, played.prompts.len()), (0, 1));
    }
}
