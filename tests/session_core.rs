//! The session's state machine without a browser: what it asks for, refuses and releases.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

use std::sync::{Arc, Mutex};

use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink,
    Snapshot, TlsState, Verb,
};
use classifier::Detectors;
use policy_dfa::{ConsentScope, Millis, Policy, Task, authority};
use portcullis::action::Action;
use portcullis::audit::AuditEvent;
use portcullis::consent::ticket::{ANSWER_WITHIN, SubjectOf};
use portcullis::consent::{Answer, Answered, Asked, ConsentBook, ConsentPrompt, Ticket};
use portcullis::egress::Releases;
use portcullis::session::core::{Command, Core, Event, Look, MOST_PROMPTS, Tools};
use portcullis::{DEFAULT_POLICY, guard::SystemEntropy};
use sirl::{Currency, Field, FieldSet, Kind, Money};
use vault::{Binding, Secret, Vault};

const SHOP: &str = "https://shop.example";
const STREET: &str = "17 Canary Quarry Road";
const BLOCK: &str =
    "REQ.address fields=[\"street\",\"city\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

fn control(node: i64, autocomplete: &str) -> Control {
    Control {
        node: NodeId(node),
        form: Some(NodeId(100)),
        tag: "input".into(),
        input_type: "text".into(),
        autocomplete: autocomplete.into(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
    }
}

fn checkout() -> Snapshot {
    Snapshot {
        container: Fact::Known(Container::T2),
        container_id: ContainerId::new("c"),
        frame: FrameId::new("f"),
        document: Fact::Known(DocumentId::new("d")),
        top_document: Fact::Known(DocumentId::new("d")),
        origin: Fact::Known(origin(SHOP)),
        top_origin: Fact::Known(origin(SHOP)),
        ancestors: Fact::Known(Vec::new()),
        tls: Fact::Known(TlsState::Valid),
        secure_context: Fact::Known(true),
        form: Some(NodeId(100)),
        destination: Fact::Known(Destination {
            origin: origin(SHOP),
            path: "/address".into(),
            method: "POST".into(),
        }),
        sink: Fact::Known(Sink::AddressForm),
        target: None,
        controls: vec![control(1, "street-address"), control(2, "address-level2")],
    }
}

/// A browser and a user that are played by the test.
struct Played {
    core: Core,
    vault: Arc<Mutex<Vault>>,
    seen: u64,
    /// What the page looks like at each look; the last one stays.
    looks: Vec<Snapshot>,
    answer: Answer,
    /// How long the answer takes, in milliseconds.
    thinks: u64,
    /// An answer to an earlier prompt, given to every later one.
    stale: Option<Answered>,
    /// The security code that the user gives when asked.
    code: Option<&'static str>,
    recording: bool,
    prompts: Vec<String>,
    records: Vec<AuditEvent>,
    fills: usize,
    payments: usize,
    codes_asked: usize,
    codes_paid: usize,
}

impl Played {
    fn new(container: Container) -> Played {
        Played::under(DEFAULT_POLICY, container)
    }

    fn under(policy: &str, container: Container) -> Played {
        let checked = Policy::parse(policy).unwrap().compile().unwrap().check().unwrap();
        let (decision, verifier) = authority(checked, [7; 16]);
        let mut vault = Vault::ephemeral(&mut SystemEntropy, verifier);
        for (handle, field, value) in [
            ("address:task", Field::Street, STREET),
            ("address:task", Field::City, "Berkeley"),
            ("card:task", Field::CardNumber, "4111111111111111"),
            ("card:task", Field::CardExpiry, "12/29"),
        ] {
            let value = Secret::new(value.as_bytes());
            vault.insert(handle, field, value, &Binding::Anywhere, &mut SystemEntropy).unwrap();
        }
        let vault = Arc::new(Mutex::new(vault));
        let budget = Money::parse("100", Currency::new("USD").unwrap());
        let task = Task::new(vec![origin(SHOP)], vec![Kind::Address, Kind::Purchase], budget, container);
        let detectors = Arc::new(Detectors::standard().unwrap());
        let (releases, book) = (Releases::default(), ConsentBook::default());
        let tools = Tools { vault: vault.clone(), detectors, releases, book, lasting: true, seed: [9; 32] };
        let core = Core::new(task, decision, tools, "buy a kettle");
        Played {
            core,
            vault,
            seen: 0,
            looks: vec![checkout()],
            answer: Answer::Session,
            thinks: 0,
            stale: None,
            code: None,
            recording: true,
            prompts: Vec::new(),
            records: Vec::new(),
            fills: 0,
            payments: 0,
            codes_asked: 0,
            codes_paid: 0,
        }
    }

    fn act(&mut self, action: Action) -> String {
        let mut event = Event::Act(action);
        for _ in 0..100 {
            event = match self.core.step(event, Millis(self.seen)) {
                Command::Answer(text) => return text,
                Command::Record { events, .. } => {
                    self.records.extend(events);
                    Event::Recorded(self.recording)
                }
                Command::Ask(prompt) => {
                    self.prompts.push(prompt.to_string());
                    self.seen += self.thinks;
                    let answered = prompt.answered(self.answer);
                    Event::Answered(self.stale.clone().unwrap_or(answered))
                }
                Command::AskCode { card, prompt } => {
                    assert!(prompt.asked.iter().any(|asked| matches!(asked, Asked::Pay { .. })));
                    self.codes_asked += 1;
                    if let Some(code) = self.code {
                        let (code, mut vault) = (Secret::new(code.as_bytes()), self.vault.lock().unwrap());
                        let place = Binding::Anywhere;
                        vault
                            .insert_for_task(&card, Field::CardCode, code, &place, &mut SystemEntropy)
                            .unwrap();
                    }
                    Event::CodeAsked
                }
                Command::Read => {
                    Event::Text(Ok(("- button \"Pay now\" [ref=e7]".into(), Some(origin(SHOP)))))
                }
                Command::Look(look) => {
                    let mut page = self.looks[0].clone();
                    if self.looks.len() > 1 {
                        self.looks.remove(0);
                    }
                    if let Look::Element(_) = look {
                        page.target = page.controls.first().cloned();
                    }
                    self.seen += 1;
                    Event::Seen(Ok(vec![Observed::simulated(page, self.seen)]))
                }
                Command::Do { .. } => Event::Done(Ok(())),
                Command::Fill(fill) => {
                    assert_eq!(fill.destination.origin, origin(SHOP));
                    self.fills += 1;
                    Event::Done(Ok(()))
                }
                Command::Pay(payment) => {
                    self.payments += 1;
                    self.codes_paid += payment.card.open(|card| usize::from(card.code() == Some(b"987")));
                    Event::Done(Ok(()))
                }
            };
        }
        panic!("the session does not come to an answer");
    }

    fn request(&mut self, block: &str) -> String {
        self.act(Action::Request(block.to_owned()))
    }
}

#[test]
fn an_address_is_filled_after_one_question_and_then_without_one() {
    let mut played = Played::new(Container::T2);
    let reply = played.request(BLOCK);
    assert_eq!(reply, "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"city\",\"street\"]}");
    assert_eq!((played.fills, played.prompts.len()), (1, 1));
    assert!(played.request(BLOCK).starts_with("GRANT.address"));
    assert_eq!((played.fills, played.prompts.len()), (2, 1));
    let intent = played.records.iter().position(|r| matches!(r, AuditEvent::Intent { .. })).unwrap();
    assert!(matches!(played.records[intent + 1], AuditEvent::Outcome { failed: None, .. }));
}

/// Changes one thing of the page and expects this reason, no question and no release.
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
fn a_page_that_is_not_right_is_named_and_nobody_is_asked() {
    denied(|page| page.container = Fact::Known(Container::T1), "invalid_container");
    denied(|page| page.container = Fact::Unknown, "signal_unknown:container");
    denied(|page| page.tls = Fact::Known(TlsState::Broken), "tls_invalid");
    denied(|page| page.tls = Fact::Known(TlsState::Insecure), "tls_invalid");
    denied(|page| page.tls = Fact::Unknown, "signal_unknown:tls");
    // Without the document's id nothing says which frame it is, and that is asked first.
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
    denied(|page| page.controls.truncate(1), "field_not_allowed");
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
        // Survey, then the look that is decided on, then the fresh look before the release.
        played.looks = vec![checkout(), checkout(), changed];
        assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"stale_document\"}");
        assert_eq!(played.fills, 0);
        let outcome = played.records.iter().any(|r| matches!(r, AuditEvent::Outcome { failed: Some(_), .. }));
        assert!(outcome, "the failed release is not on record");
    }
}

#[test]
fn without_a_record_nothing_is_released_or_done() {
    let mut played = Played::new(Container::T2);
    played.recording = false;
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"audit_unavailable\"}");
    let click = Verb::Click { target: browser_signals::ElementRef("e1".into()) };
    assert_eq!(played.act(Action::Verb(click)), "DENY.verb {\"reason\":\"audit_unavailable\"}");
    assert_eq!(played.fills, 0);
}

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
fn a_locked_vault_releases_nothing() {
    let mut played = Played::new(Container::T2);
    played.vault.lock().unwrap().lock();
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"vault_locked\"}");
}

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
    assert!(played.prompts[0].contains("pay 64.15 USD to https://shop.example"), "{}", played.prompts[0]);
    // The policy allows one purchase.
    assert_eq!(played.request(block), "DENY.purchase {\"reason\":\"budget_spent\"}");
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
fn a_purchase_above_the_budget_is_not_even_asked_about() {
    let mut played = Played::new(Container::T2);
    played.act(Action::Verb(Verb::Read));
    let block = "REQ.purchase ctx={\"total\":100.01,\"currency\":\"USD\"}\nREQ.end";
    assert_eq!(played.request(block), "DENY.purchase {\"reason\":\"budget_spent\"}");
    let other = "REQ.purchase ctx={\"total\":1.00,\"currency\":\"EUR\"}\nREQ.end";
    assert!(played.request(other).starts_with("DENY.purchase"));
    assert_eq!((played.payments, played.prompts.len()), (0, 0));
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
fn typed_values_do_not_go_out_and_look_alikes_are_treated_alike() {
    let target = browser_signals::ElementRef("e1".into());
    let type_text = |played: &mut Played, text: &str| {
        played.act(Action::Verb(Verb::Type { target: target.clone(), text: text.into() }))
    };
    let chat = |page: &mut Snapshot| {
        page.sink = Fact::Known(Sink::FreeText);
    };
    let mut played = Played::new(Container::T2);
    chat(&mut played.looks[0]);
    assert_eq!(type_text(&mut played, "two kettles please"), "ok");
    // The vault's own card, and one that it does not hold.
    for card in ["4111 1111 1111 1111", "5555 5555 5555 4444"] {
        assert_eq!(type_text(&mut played, card), "DENY.verb {\"reason\":\"egress_blocked\"}");
    }
    // Whoever has the street did not get it from us: sensitive access ends, and so do the answers.
    assert_eq!(
        type_text(&mut played, "17%20canary%20Quarry%20Road"),
        "DENY.verb {\"reason\":\"egress_blocked\"}"
    );
    assert_eq!(type_text(&mut played, STREET), "DENY.verb {\"reason\":\"tainted_session\"}");
    assert_eq!(type_text(&mut played, "two kettles please"), "DENY.verb {\"reason\":\"tainted_session\"}");
    assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"tainted_session\"}");
}

#[test]
fn guessing_a_low_risk_value_is_answered_three_times_at_most() {
    let target = browser_signals::ElementRef("e1".into());
    let mut played = Played::new(Container::T2);
    played.looks[0].sink = Fact::Known(Sink::FreeText);
    let mut guess = |city: &str| {
        played
            .act(Action::Verb(Verb::Type { target: target.clone(), text: format!("do you ship to {city}") }))
    };
    for _ in 0..3 {
        assert_eq!(guess("Oakville"), "ok");
        assert_eq!(guess("Berkeley"), "DENY.verb {\"reason\":\"egress_blocked\"}");
    }
    for city in ["Berkeley", "Oakville"] {
        assert_eq!(guess(city), "DENY.verb {\"reason\":\"tainted_session\"}");
    }
}

#[test]
fn sensitive_forms_are_not_typed_into() {
    let target = browser_signals::ElementRef("e1".into());
    let mut played = Played::new(Container::T2);
    let reply = played.act(Action::Verb(Verb::Type { target, text: "1 Other Street".into() }));
    assert_eq!(reply, "DENY.verb {\"reason\":\"unplanned_effect\"}");
}

#[test]
fn opening_leaves_the_task_only_by_the_user() {
    let mut played = Played::new(Container::T2);
    let mut open = |url: &str| played.act(Action::Verb(Verb::Open { url: url.into() }));
    assert_eq!(open("https://shop.example/kettles"), "ok");
    assert!(open("https://evil.example/").starts_with("DENY.verb"));
    assert!(open("https://shop.example@evil.example/").starts_with("DENY.verb"));
    assert!(open("https://shop.example/?q=4111111111111111").contains("egress_blocked"));
    assert!(open("javascript:alert(1)").contains("malformed_request"));
}

#[test]
fn a_block_that_cannot_be_read_releases_nothing() {
    let mut played = Played::new(Container::T2);
    let reply = played.request("REQ.address fields=[\"shoe_size\"]\nREQ.end");
    assert!(reply.starts_with("DENY.block {\"reason\":\"malformed_request\"}"), "{reply}");
    assert_eq!(played.fills, 0);
}

#[test]
fn a_plan_is_answered_with_what_can_never_be_granted() {
    let plan = "PLAN.address\nPLAN.payment\nPLAN.contact\nPLAN.purchase\nPLAN.payment\nPLAN.end";
    let mut played = Played::new(Container::T2);
    let refused = |lines: &[&str]| {
        let each = lines.iter().map(|line| {
            let (kind, reason) = line.split_once(' ').unwrap();
            format!("DENY.{kind} {{\"reason\":\"{reason}\"}}\n")
        });
        each.collect::<String>() + "PLAN.end"
    };
    assert_eq!(played.request(plan), refused(&["payment delivery_forbidden", "contact unplanned_effect"]));
    assert_eq!(played.fills, 0);
    let mut low = Played::new(Container::T0);
    let expected = [
        "address invalid_container",
        "payment delivery_forbidden",
        "contact unplanned_effect",
        "purchase invalid_container",
    ];
    assert_eq!(low.request(plan), refused(&expected));
}

#[test]
fn what_a_schema_does_not_declare_is_not_asked_for() {
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
fn an_event_out_of_turn_ends_the_action_without_a_release() {
    let mut played = Played::new(Container::T2);
    let command = played.core.step(Event::Done(Ok(())), Millis(0));
    assert!(matches!(command, Command::Answer(text) if text.contains("browser_lost")));
}

#[test]
fn a_click_that_submits_is_decided_as_a_submit() {
    let target = browser_signals::ElementRef("e1".into());
    let mut played = Played::new(Container::T2);
    let page = &mut played.looks[0];
    page.controls[0].tag = "button".into();
    page.controls[0].input_type = "submit".into();
    page.destination = Fact::Known(Destination {
        origin: origin("https://evil.example"),
        path: "/".into(),
        method: "POST".into(),
    });
    let reply = played.act(Action::Verb(Verb::Click { target }));
    assert_eq!(reply, "DENY.verb {\"reason\":\"wrong_destination\"}");
    let mut played = Played::new(Container::T2);
    played.looks[0].destination = Fact::Unknown;
    let reply = played.act(Action::Verb(Verb::Press { key: "Enter".into() }));
    assert_eq!(reply, "DENY.verb {\"reason\":\"signal_unknown:destination\"}");
    assert_eq!(played.act(Action::Verb(Verb::Press { key: "Tab".into() })), "ok");
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
    let click = || Action::Verb(Verb::Click { target: browser_signals::ElementRef("e1".into()) });
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
