//! Keys that change text: each is decided as the typing of the text that it leads to.

use crate::played::{BLOCK, Played, STREET};
use browser_signals::{Container, ElementRef, Fact, NodeId, Sink, Snapshot, TypeManner, Verb};
use policy_dfa::{Reason, VerbKind};
use portcullis::audit::AuditEvent;
use portcullis::guard::agent_actions::AgentActions;
use portcullis::{Action, DEFAULT_POLICY};
use sirl::Field;

const BLOCKED: &str = "DENY.verb {\"reason\":\"egress_blocked\"}";
const EMAIL: &str = "ada.lane@mail.example";

const VALUES: [(&str, Field, &str); 6] = [
    ("address:task", Field::Street, STREET),
    ("address:task", Field::City, "Paris"),
    ("address:task", Field::PostalCode, "94704"),
    ("contact:task", Field::Email, EMAIL),
    ("card:task", Field::CardNumber, "4929123456789012"),
    ("identity:task", Field::GovernmentId, "X1234567Z"),
];

fn with_words(prompt: &str) -> Played {
    let mut played = Played::with(DEFAULT_POLICY, Container::T2, &VALUES, prompt);
    played.looks[0].sink = Fact::Known(Sink::FreeText);
    played
}

fn chat() -> Played {
    with_words("buy a kettle")
}

fn press(played: &mut Played, key: &str) -> String {
    played.act(Action::Verb(Verb::Press { key: key.into() }))
}

/// Types a text key by key: how many keys were pressed, and the refusal of the next one.
fn by_keys(played: &mut Played, text: &str) -> (usize, Option<String>) {
    for (pressed, key) in text.chars().enumerate() {
        let said = press(played, &key.to_string());
        if said != "ok" {
            return (pressed, Some(said));
        }
    }
    (text.chars().count(), None)
}

fn at_once(played: &mut Played, text: &str) -> String {
    played.act(Action::Verb(Verb::typed(ElementRef("e1".into()), text)))
}

#[test]
fn a_key_is_decided_and_recorded_as_typing() {
    let mut played = chat();
    assert_eq!(by_keys(&mut played, "two k"), (5, None));
    assert_eq!(press(&mut played, "Backspace"), "ok");
    assert_eq!(played.held, "two ");
    let last = played.commands.last().unwrap();
    assert!(last.contains("text: \"two \"") && last.contains("Key(Backspace)"), "{last}");
    let verbs = played.records.iter().filter_map(|event| match event {
        AuditEvent::Verb { verb, refused: None, .. } => Some(*verb),
        _ => None,
    });
    assert_eq!(verbs.collect::<Vec<_>>(), [VerbKind::Type; 6]);
    // In the form for an address the agent types nothing, and so presses no key that writes.
    let mut played = Played::new(Container::T2);
    let refused = "DENY.verb {\"reason\":\"form_protected\"}";
    assert_eq!(press(&mut played, "x"), refused);
    assert_eq!(press(&mut played, "Backspace"), refused);
    assert!(played.commands.is_empty(), "{:?}", played.commands);
    let last = played.records.last();
    assert!(
        matches!(
            last,
            Some(AuditEvent::Verb { verb: VerbKind::Type, refused: Some(Reason::FormProtected), .. })
        ),
        "{last:?}"
    );
}

/// The first part of a value that is refused by keys is the first one that is refused when it is typed at once.
#[test]
fn a_value_is_refused_at_the_key_that_completes_it() {
    for (_, field, value) in VALUES {
        let refused_at_once = |end: &usize| at_once(&mut chat(), value.get(..*end).unwrap()) != "ok";
        let first = (1..=value.len()).find(refused_at_once).unwrap();
        let mut played = chat();
        let expected = (first - 1, Some(BLOCKED.to_owned()));
        assert_eq!(by_keys(&mut played, value), expected, "{field:?}");
        let held = value.get(..first - 1).unwrap();
        assert_eq!(played.held, held, "the refused key was not pressed");
    }
    // In two boxes, at once and by keys: the way does not need the word for it.
    let in_another_box = || {
        let mut played = chat();
        assert_eq!(at_once(&mut played, "17 Canary Qua"), "ok");
        played.held.clear();
        played
    };
    assert_eq!(at_once(&mut in_another_box(), "rr"), "ok");
    assert_eq!(at_once(&mut in_another_box(), "rry"), BLOCKED);
    assert_eq!(by_keys(&mut in_another_box(), "rry"), (2, Some(BLOCKED.to_owned())));
}

/// The keys of a text are no pieces of a value that stands in it and is the user's own word, or part of a longer number.
#[test]
fn keys_are_refused_no_sooner_than_the_text() {
    for (prompt, text) in [
        ("send the kettle to Paris", "to Paris please"),
        ("buy a kettle", "article 129470455"),
        ("buy a kettle", "123456"),
    ] {
        assert_eq!(at_once(&mut with_words(prompt), text), "ok", "{text}");
        assert_eq!(by_keys(&mut with_words(prompt), text).1, None, "{text}");
    }
}

#[test]
fn a_filled_control_takes_no_key() {
    let mut played = Played::new(Container::T2);
    assert!(played.request(BLOCK).starts_with("GRANT"));
    let page: &mut Snapshot = &mut played.looks[0];
    page.sink = Fact::Known(Sink::FreeText);
    page.target = page.controls.first().cloned();
    let refused = "DENY.verb {\"reason\":\"control_filled\"}";
    for key in ["x", "Space", "Backspace", "Delete", "ControlOrMeta+a"] {
        assert_eq!(press(&mut played, key), refused, "{key}");
    }
    played.looks[0].target = None;
    assert_eq!(press(&mut played, "Tab"), "ok");
}

/// A text that goes in key by key is decided once, as one that goes in at once.
#[test]
fn a_text_in_keys_is_decided_as_a_whole() {
    let slowly = |played: &mut Played, text: &str| {
        let target = ElementRef("e1".into());
        played.act(Action::Verb(Verb::Type { target, text: text.into(), manner: TypeManner::KeyByKey }))
    };
    let mut played = chat();
    assert_eq!(slowly(&mut played, "two kettles"), "ok");
    assert_eq!(played.commands.len(), 1);
    for (_, field, value) in VALUES {
        assert_eq!(slowly(&mut chat(), value), BLOCKED, "{field:?}");
    }
    assert_eq!(slowly(&mut played, "17 Canary Qua"), "ok");
    assert_eq!(slowly(&mut played, "rry Road"), BLOCKED);
    let refused = "DENY.verb {\"reason\":\"form_protected\"}";
    assert_eq!(slowly(&mut Played::new(Container::T2), "1 Other Street"), refused);
}

/// An input without a form is sent by Enter, which only a script of the page hears; anything else without a form is not sent.
#[test]
fn an_input_without_a_form_is_sent_by_enter() {
    let submit = |tag: &str, form: Option<NodeId>| {
        let mut played = Played::new(Container::T2);
        let page = &mut played.looks[0];
        (page.form, page.destination) = (form, Fact::Unknown);
        let control = &mut page.controls[0];
        (control.tag, control.form) = (tag.into(), form);
        let actions = AgentActions::default();
        let core = std::mem::replace(&mut played.core, Played::new(Container::T2).core);
        played.core = core.with_agent_actions(actions.clone());
        let said = played.act(Action::Verb(Verb::Submit { target: ElementRef("e1".into()) }));
        (said, actions.must_be_seen())
    };
    assert_eq!(submit("input", None), ("ok".to_owned(), true));
    let refused = "DENY.verb {\"reason\":\"signal_unknown:destination\"}".to_owned();
    for (tag, form) in [("textarea", None), ("button", None), ("input", Some(NodeId(100)))] {
        assert_eq!(submit(tag, form), (refused.clone(), false), "{tag}");
    }
}
