//! Consent prompts, and their valid answers.

use crate::played::{BLOCK, Played, SHOP, checkout, control, origin};
use browser_signals::{Container, Control, Destination, DocumentId, ElementRef, Fact, Sink, Snapshot, Verb};
use policy_dfa::{ConsentScope, Millis};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use portcullis::consent::{ANSWER_TIMEOUT, SubjectBuilder};
use portcullis::consent::{Answer, ConsentPrompt, Ticket};
use portcullis::session::core::MAX_PROMPTS;
use sirl::{Field, Kind};

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
    for (thinks, filled) in [(ANSWER_TIMEOUT.0 - 1, 1), (ANSWER_TIMEOUT.0, 0)] {
        let mut played = Played::new(Container::T2);
        played.thinks = thinks;
        played.request(BLOCK);
        assert_eq!((played.fills, played.prompts.len()), (filled, 1));
    }
}

#[test]
fn a_yes_to_another_prompt_is_a_no() {
    let other = {
        let ticket = Ticket::new([1; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        ConsentPrompt::new(Vec::new(), Vec::new(), ConsentScope::Session, ticket).answered(Answer::Session)
    };
    let mut played = Played::new(Container::T2);
    played.stale = Some(other);
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"consent_denied\"}");
    assert_eq!((played.fills, played.prompts.len()), (0, 1));
}

#[test]
fn a_never_outlives_the_task_and_is_not_asked_about_again() {
    let mut played = Played::new(Container::T2);
    played.act(Action::Verb(Verb::Read));
    played.answer = Answer::Never;
    let pay = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";
    for _ in 0..2 {
        assert_eq!(played.request(pay), "DENY.purchase {\"reason\":\"consent_denied\"}");
    }
    assert_eq!((played.payments, played.prompts.len()), (0, 1));
    let kept = played.core.take_standing().unwrap().new;
    assert_eq!(kept.len(), 1);
    assert!(!kept[0].given && kept[0].kind == Kind::Purchase && kept[0].to == origin(SHOP));
}

#[test]
fn a_task_has_a_maximum_number_of_prompts() {
    let unlimited: String = DEFAULT_POLICY.replace("at most 1 purchase, 5 prompts", "at most 1 purchase");
    let mut played = Played::under(&unlimited, Container::T2);
    played.act(Action::Verb(Verb::Read));
    played.answer = Answer::No;
    let pay = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";
    for _ in 0..MAX_PROMPTS {
        assert_eq!(played.request(pay), "DENY.purchase {\"reason\":\"consent_denied\"}");
    }
    assert_eq!(played.request(pay), "DENY.purchase {\"reason\":\"questions_spent\"}");
    assert_eq!(played.prompts.len(), MAX_PROMPTS as usize);
    assert!(
        played.prompts[3].contains("! the agent was refused 3 times in this task"),
        "{}",
        played.prompts[3]
    );
}

#[test]
fn a_prompt_names_the_records_and_their_destination() {
    let mut played = Played::new(Container::T2);
    played.request(BLOCK);
    let prompt = &played.prompts[0];
    assert!(prompt.contains("it is sent to https://shop.example"), "{prompt}");
    assert!(prompt.contains("from your address:task"), "{prompt}");
    assert!(prompt.contains("into a form for an address on /checkout, sent to /address"), "{prompt}");
}

const CONTACT: &str = "REQ.contact ctx={\"origin\":\"https://shop.example\"}\nREQ.end";

/// A form for name, e-mail and phone on the page at `path`, with more controls if given.
fn contact(path: &str, action: &str, more: Option<Control>) -> Snapshot {
    let asks = ["name", "email", "tel"].iter().zip(1..).map(|(hint, node)| control(node, hint));
    let mut page = checkout();
    page.path = Fact::Known(path.into());
    page.destination =
        Fact::Known(Destination { origin: origin(SHOP), path: action.into(), method: "POST".into() });
    page.sink = Fact::Known(Sink::Other);
    page.controls = asks.chain(more).collect();
    page
}

fn with_contact() -> Played {
    let values = [
        ("contact:me", Field::Name, "Marguerite Vandersloot"),
        ("contact:me", Field::Email, "marguerite@canary.example"),
        ("contact:me", Field::Phone, "+1 510 555 0173"),
    ];
    let task = (Container::T2, &[Kind::Contact][..]);
    let mut played = Played::for_task(DEFAULT_POLICY, task, &values, "order a kettle");
    played.looks = vec![contact("/checkout", "/checkout/contact", None)];
    played
}

fn text_area() -> Control {
    Control { tag: "textarea".into(), input_type: String::new(), ..control(9, "") }
}

#[test]
fn a_yes_to_a_form_does_not_cover_one_that_others_read() {
    let mut get = contact("/checkout", "/checkout/contact", None);
    get.destination = Fact::Known(Destination {
        origin: origin(SHOP),
        path: "/checkout/contact".into(),
        method: "GET".into(),
    });
    let free_text = contact("/checkout", "/checkout/contact", Some(text_area()));
    for (page, says) in [
        (contact("/product/7", "/product/7/reviews", Some(text_area())), "may be published"),
        (free_text, "may be published"),
        (get, "histories and logs"),
    ] {
        let mut played = with_contact();
        for _ in 0..2 {
            assert!(played.request(CONTACT).starts_with("GRANT.contact"));
        }
        assert_eq!((played.fills, played.prompts.len()), (2, 1), "the same form is asked about once");
        played.looks = vec![page.clone()];
        for asked in 2..4 {
            assert!(played.request(CONTACT).starts_with("GRANT.contact"));
            assert_eq!(played.prompts.len(), asked, "a form that others read is asked about each time");
        }
        let prompt = &played.prompts[1];
        let path = page.path.known().unwrap();
        assert!(prompt.contains(&format!(" on {path}")) && prompt.contains(says), "{prompt}");
        let warned = prompt.find("  ! ").unwrap();
        assert!(warned < prompt.find("  - ").unwrap(), "warnings come first: {prompt}");
        played.answer = Answer::No;
        assert_eq!(played.request(CONTACT), "DENY.contact {\"reason\":\"consent_denied\"}");
        assert_eq!((played.fills, played.prompts.len()), (4, 4));
    }
}

#[test]
fn a_yes_to_a_form_does_not_cover_another_purpose_or_path() {
    let stars = Control { tag: "select".into(), input_type: String::new(), ..control(9, "") };
    for page in [
        contact("/product/7", "/product/7/reviews", None),
        contact("/checkout", "/checkout/contact", Some(stars)),
        contact("/seller/8", "/checkout/contact", None),
        contact("/checkout", "/elsewhere", None),
    ] {
        let mut played = with_contact();
        played.request(CONTACT);
        played.looks = vec![page];
        assert!(played.request(CONTACT).starts_with("GRANT.contact"));
        assert_eq!((played.fills, played.prompts.len()), (2, 2));
        assert!(played.request(CONTACT).starts_with("GRANT.contact"));
        assert_eq!((played.fills, played.prompts.len()), (3, 2), "a yes to it is stored as well");
    }
}

#[test]
fn an_order_number_in_the_path_makes_no_other_form() {
    let step = |path: &str| {
        let mut page = checkout();
        page.path = Fact::Known(path.into());
        page
    };
    let mut played = Played::new(Container::T2);
    for (path, prompts) in [("/checkout/123/to", 1), ("/checkout/124/to", 1), ("/checkout/124/from", 2)] {
        played.looks = vec![step(path)];
        assert!(played.request(BLOCK).starts_with("GRANT.address"));
        assert_eq!(played.prompts.len(), prompts, "{path}");
    }
}

#[test]
fn a_yes_to_a_verb_covers_the_page_of_the_prompt() {
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
    let click = || Action::Verb(Verb::click(ElementRef("e1".into())));
    for (after, reply) in [("d", "ok"), ("e", "DENY.verb {\"reason\":\"stale_document\"}")] {
        let mut played = Played::under(&asking, Container::T2);
        played.looks = vec![elsewhere("d"), elsewhere(after)];
        assert_eq!(played.act(click()), reply);
        assert_eq!(played.prompts.len(), 1);
        assert!(
            played.prompts[0].contains("let the agent click on:\n      other.example\n"),
            "{}",
            played.prompts[0]
        );
    }
}

#[test]
fn a_yes_is_not_used_for_another_page() {
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
