//! Reasons: each means one thing, is on record, and tells the agent nothing of what the vault holds.

use browser_signals::{Container, ElementRef, Fact, Sink, Verb};
use policy_dfa::{Reason, VerbKind};
use portcullis::audit::AuditEvent;
use portcullis::consent::{Answer, HandedOver};
use portcullis::session::core::NotRaised;
use portcullis::{Action, DEFAULT_POLICY};
use sirl::{Field, Kind};

use crate::played::{BLOCK, Played, SHOP, control, origin};

const PURCHASE: &str = "REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end";

fn target() -> ElementRef {
    ElementRef("e1".into())
}

fn typed(text: &str) -> Action {
    Action::Verb(Verb::typed(target(), text))
}

fn open(url: &str) -> Action {
    Action::Verb(Verb::Open { url: url.into() })
}

#[test]
fn what_was_one_code_for_four_things_has_four() {
    let mut played = Played::new(Container::T2);
    let denied = |reason: &str| format!("DENY.verb {{\"reason\":\"{reason}\"}}");
    assert_eq!(played.act(open("https://elsewhere.example/")), denied("outside_task"));
    assert_eq!(played.act(typed("1 Other Street")), denied("form_protected"));
    assert_eq!(played.request("REQ.contact\nREQ.end"), "DENY.contact {\"reason\":\"unplanned_request\"}");
    let (before, after) = DEFAULT_POLICY.split_once("verb choose").unwrap();
    let without = format!("{before}{}", after.split_once('\n').unwrap().1);
    let mut played = Played::under(&without, Container::T2);
    let chosen = Verb::select(target(), "Large");
    assert_eq!(played.act(Action::Verb(chosen)), denied("verb_not_allowed"));
}

#[test]
fn a_purchase_that_cannot_be_carried_out_is_refused_before_anything_is_asked() {
    // The page was not read, so no button is known.
    let mut played = Played::new(Container::T2);
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"no_pay_button\"}");
    // It was, and has none.
    played.reads = "- button \"Add to basket\" [ref=e7]".to_owned();
    played.pay_button = None;
    played.act(Action::Verb(Verb::Read));
    assert_eq!(played.request(PURCHASE), "DENY.purchase {\"reason\":\"no_pay_button\"}");
    assert_eq!((played.prompts.len(), played.codes_asked, played.payments), (0, 0, 0));
    // The agent names one, which nobody can see.
    let named = PURCHASE.replace("ctx={", "ctx={\"control\":\"e9\",");
    played.looks[0].controls[0].visible = Fact::Known(false);
    assert_eq!(played.request(&named), "DENY.purchase {\"reason\":\"occluded\"}");
    played.looks[0].controls[0].visible = Fact::Known(true);
    let mut unable = Played::new(Container::T2);
    unable.core = unable.core.with_payment_handler(false);
    assert_eq!(unable.request(&named), "DENY.purchase {\"reason\":\"no_payment_handler\"}");
    assert_eq!((played.prompts.len() + unable.prompts.len(), played.codes_asked), (0, 0));
    assert!(played.request(&named).starts_with("GRANT.purchase"));
    assert_eq!((played.prompts.len(), played.codes_asked), (1, 1));
    // What the policy refuses is refused for its own reason.
    let mut other = Played::new(Container::T2);
    other.looks[0].origin = Fact::Known(origin("https://elsewhere.example"));
    assert_eq!(other.request(PURCHASE), "DENY.purchase {\"reason\":\"origin_mismatch\"}");
}

#[test]
fn that_nobody_could_be_asked_is_neither_a_no_nor_a_low_container() {
    let mut played = Played::new(Container::T2);
    played.nobody = true;
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"nobody_to_ask\"}");
    let recorded = |r: &AuditEvent| matches!(r, AuditEvent::Refused { reason: Reason::NobodyToAsk, .. });
    assert_eq!(played.records.iter().filter(|r| recorded(r)).count(), 1);
    let mut refused = Played::new(Container::T2);
    refused.answer = Answer::No;
    assert_eq!(refused.request(BLOCK), "DENY.address {\"reason\":\"consent_denied\"}");
    let mut low = Played::new(Container::T0);
    low.looks[0].container = Fact::Known(Container::T0);
    assert_eq!(low.request(BLOCK), "DENY.address {\"reason\":\"invalid_container\"}");
    low.core = low.core.not_raised(Some(NotRaised::Refused));
    assert_eq!(low.request(BLOCK), "DENY.address {\"reason\":\"consent_denied\"}");
    low.core = low.core.not_raised(Some(NotRaised::NobodyAsked));
    assert_eq!(low.request(BLOCK), "DENY.address {\"reason\":\"nobody_to_ask\"}");
}

#[test]
fn a_verb_that_was_granted_and_failed_is_on_record_with_its_reason() {
    let mut played = Played::new(Container::T2);
    played.done = Err(Reason::CertificateInvalid);
    let reply = played.act(open("https://shop.example/kettles"));
    assert_eq!(reply, "DENY.verb {\"reason\":\"certificate_invalid\"}");
    let failed = AuditEvent::VerbFailed {
        verb: VerbKind::Open,
        origin: Some(origin(SHOP)),
        reason: Reason::CertificateInvalid,
    };
    let granted = |r: &AuditEvent| matches!(r, AuditEvent::Verb { refused: None, .. });
    let at = |wanted: &dyn Fn(&AuditEvent) -> bool| played.records.iter().position(wanted).unwrap();
    assert!(at(&granted) < at(&|r| *r == failed));
    // An answer that is not on record is not given.
    played.unrecorded = |event| matches!(event, AuditEvent::VerbFailed { .. });
    let reply = played.act(open("https://shop.example/kettles"));
    assert_eq!(reply, "DENY.verb {\"reason\":\"audit_unavailable\"}");
}

#[test]
fn a_question_counts_the_refusals_of_the_agent_and_not_the_requests_of_a_page() {
    let mut played = Played::new(Container::T2);
    for _ in 0..10 {
        played.core.note_denial(Reason::EgressBlocked);
    }
    played.request(BLOCK);
    assert!(!played.prompts[0].contains("was refused"), "{}", played.prompts[0]);
    assert_eq!(played.core.counts().denials.get("egress_blocked"), Some(&10));
    let mut played = Played::new(Container::T2);
    played.core.note_denial(Reason::EgressBlocked);
    played.act(typed("1 Other Street"));
    played.request(BLOCK);
    assert!(played.prompts[0].contains("! the agent was refused once in this task"), "{}", played.prompts[0]);
}

#[test]
fn a_form_that_nothing_fits_is_offered_by_hand_once_the_agent_could_not_mend_its_request() {
    let mut played = Played::new(Container::T2);
    played.core = played.core.with_hand_over(true);
    played.by_hand = HandedOver::Finished;
    played.act(Action::Verb(Verb::Read));
    played.looks[0].controls.truncate(1);
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"no_control\"}");
    assert_eq!(played.offers, [""; 0]);
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"taken_over\"}");
    assert_eq!(played.offers.len(), 1);
}

/// A reason, and what makes a request be refused for it.
type Fault = (&'static str, fn(&mut Played));

#[test]
fn nothing_is_offered_by_hand_where_the_policy_the_place_or_the_page_is_at_fault() {
    let faults: [Fault; 5] = [
        ("wrong_destination", |played| {
            let Fact::Known(to) = &mut played.looks[0].destination else { return };
            to.origin = origin("https://evil.example");
        }),
        ("tls_invalid", |played| played.looks[0].tls = Fact::Known(browser_signals::TlsState::Broken)),
        ("origin_mismatch", |played| played.looks[0].origin = Fact::Known(origin("https://evil.example"))),
        ("claim_mismatch", |played| played.looks[0].top_origin = Fact::Unknown),
        ("tainted_session", |played| {
            played.looks[0].sink = Fact::Known(Sink::Other);
            played.act(typed(crate::played::STREET));
            played.looks[0].sink = Fact::Known(Sink::AddressForm);
        }),
    ];
    for (reason, fault) in faults {
        let mut played = Played::new(Container::T2);
        played.core = played.core.with_hand_over(true);
        played.act(Action::Verb(Verb::Read));
        fault(&mut played);
        for _ in 0..2 {
            let reply = played.request(BLOCK);
            assert!(reply.starts_with("DENY.address"), "{reason}: {reply}");
            let told = played.with_next_steps();
            assert!(!told.contains("by hand"), "{reason}: {told}");
        }
        assert_eq!(played.offers, [""; 0], "{reason}");
    }
}

#[test]
fn the_agent_is_told_what_it_can_do_next_and_that_a_person_with_a_window_could_finish() {
    let mut played = Played::with(DEFAULT_POLICY, Container::T2, &[], "buy a kettle");
    played.act(Action::Verb(Verb::Read));
    played.request(BLOCK);
    let told = played.with_next_steps();
    let step = Reason::NoValue.next_step().unwrap();
    assert!(
        told.starts_with(&format!("DENY.address {{\"reason\":\"no_value\"}}\nnext: {step}\nnext: ")),
        "{told}"
    );
    assert!(told.contains("`--headed`"), "{told}");
    // With a window the user was offered it already.
    played.core = played.core.with_hand_over(true);
    assert!(!played.with_next_steps().contains("--headed"));
}

/// The agent's answers in a task that meets many reasons.
fn answers(values: &[(&str, Field, &str)]) -> Vec<String> {
    let mut played = Played::for_task(
        DEFAULT_POLICY,
        (Container::T2, &[Kind::Address, Kind::Login, Kind::Purchase]),
        values,
        "buy a kettle",
    );
    let mut told = Vec::new();
    let mut act = |played: &mut Played, action: Action| {
        played.act(action);
        told.push(played.with_next_steps());
    };
    act(&mut played, Action::Request(PURCHASE.to_owned()));
    act(&mut played, Action::Verb(Verb::Read));
    for url in [
        "https://evil.example/",
        "javascript:1",
        "https://shop.example@evil.example/",
        "https://shop.example/a",
    ] {
        act(&mut played, open(url));
    }
    act(&mut played, typed("1 Other Street"));
    let failures = [
        Reason::PrivateHost,
        Reason::PortRefused,
        Reason::NameNotFound,
        Reason::CertificateInvalid,
        Reason::TlsFailed,
        Reason::FormIncomplete,
        Reason::SentAgain,
        Reason::BrowserTimeout,
    ];
    for reason in failures {
        played.done = Err(reason);
        act(&mut played, open("https://shop.example/b"));
    }
    played.done = Ok(());
    act(&mut played, Action::Request("REQ.contact\nREQ.end".to_owned()));
    // The vault has no login, and of the address nothing or a part.
    act(&mut played, Action::Request(BLOCK.to_owned()));
    played.looks[0].controls = vec![control(1, "current-password")];
    played.looks[0].controls[0].input_type = "password".into();
    played.looks[0].sink = Fact::Known(Sink::LoginForm);
    act(&mut played, Action::Request("REQ.login fields=[\"password\"]\nREQ.end".to_owned()));
    played.nobody = true;
    act(&mut played, Action::Request(PURCHASE.to_owned()));
    told
}

#[test]
fn twin_vaults_give_equal_answers() {
    let one: [(&str, Field, &str); 2] =
        [("card:task", Field::CardNumber, "4111111111111111"), ("card:task", Field::CardExpiry, "12/29")];
    let other: [(&str, Field, &str); 4] = [
        ("card:task", Field::CardNumber, "5555555555554444"),
        ("card:task", Field::CardExpiry, "01/31"),
        ("contact:other", Field::Phone, "+1 510 555 0199"),
        ("address:task", Field::Street, "1 Other Street"),
    ];
    let (left, right) = (answers(&one), answers(&other));
    assert_eq!(left, right);
    assert!(left.iter().any(|told| told.contains("no_value")), "{left:#?}");
    assert!(left.last().unwrap().contains("nobody_to_ask"), "{left:#?}");
}
