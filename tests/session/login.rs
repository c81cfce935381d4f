//! Logins in steps: the name of the account on one page, the password on a later one.

use browser_signals::{Container, Control, Destination, DocumentId, Fact, Sink, Snapshot};
use portcullis::DEFAULT_POLICY;
use portcullis::consent::Answer;
use sirl::{Field, Kind};
use vault::{Binding, Secret};

use crate::played::{Played, SHOP, checkout, control, origin};

fn step(path: &str, controls: Vec<Control>, button: &str) -> Snapshot {
    let mut page = checkout();
    page.path = Fact::Known(path.into());
    page.document = Fact::Known(DocumentId::new(path));
    page.top_document = page.document.clone();
    page.destination =
        Fact::Known(Destination { origin: origin(SHOP), path: path.into(), method: "POST".into() });
    page.sink = Fact::Known(Sink::LoginForm);
    page.words.buttons = vec![button.to_owned()];
    page.controls = controls;
    page
}

fn password() -> Control {
    Control { input_type: "password".into(), ..control(2, "current-password") }
}

fn name_page() -> Snapshot {
    step("/login", vec![control(1, "username")], "Log in")
}

fn password_page() -> Snapshot {
    step("/login/password", vec![password()], "Log in")
}

/// A task with these records, bound to the shop.
fn task(values: &[(&str, Field, &str)]) -> Played {
    let kinds = [Kind::Login];
    let played = Played::for_task(DEFAULT_POLICY, (Container::T2, &kinds), &[], "log in");
    for (handle, field, value) in values {
        let mut vault = played.vault.lock().unwrap();
        let (value, bound) = (Secret::new(value.as_bytes()), Binding::Origin(origin(SHOP)));
        vault.insert(handle, *field, value, &bound, &mut portcullis::guard::SystemEntropy).unwrap();
    }
    played
}

const ANA: [(&str, Field, &str); 2] =
    [("login:ana", Field::Email, "ana@mail.example"), ("login:ana", Field::Password, "Quarry-77-otter")];

const BOTH: &str = "REQ.login fields=[\"email\",\"password\"]\nREQ.end";
const PASSWORD: &str = "REQ.login fields=[\"password\"]\nREQ.end";

fn granted(fields: &str) -> String {
    format!("GRANT.login {{\"delivered\":\"filled\",\"fields\":[{fields}]}}")
}

#[test]
fn one_yes_serves_both_pages_of_a_login() {
    for answer in [Answer::Once, Answer::Session] {
        let mut played = task(&ANA);
        played.answer = answer;
        played.looks = vec![name_page()];
        let reply = played.request(BOTH);
        assert_eq!(reply, granted("\"email\""));
        let next = played.with_next_steps();
        assert!(next.contains("ask for `password` in the form that follows"), "{next}");
        let asked = played.prompts[0].clone();
        assert!(asked.contains("fill your login (email, password)"), "{asked}");
        let steps = "the email now, and the password into the login form that follows on this site";
        assert!(asked.contains(steps) && asked.contains("login:ana"), "{asked}");
        played.looks = vec![password_page()];
        let reply = played.request(PASSWORD);
        assert_eq!(reply, granted("\"password\""), "{:?}", played.prompts);
        assert_eq!(played.with_next_steps(), reply);
        assert_eq!((played.fills, played.prompts.len()), (2, 1), "{answer:?} {:?}", played.prompts);
        // The yes was for one form of each step.
        played.looks = vec![step("/elsewhere", vec![password()], "Log in")];
        assert_eq!(played.request(PASSWORD), granted("\"password\""));
        assert_eq!(played.prompts.len(), 2, "{answer:?}");
    }
}

#[test]
fn a_yes_to_a_login_covers_no_form_for_something_else() {
    let others: [fn() -> Snapshot; 2] = [
        || {
            step(
                "/account",
                vec![password(), Control { node: browser_signals::NodeId(3), ..password() }],
                "Register",
            )
        },
        || {
            let mut area = control(4, "");
            area.tag = "textarea".into();
            step("/review", vec![password(), area], "Log in")
        },
    ];
    for other in others {
        let mut played = task(&ANA);
        played.looks = vec![name_page()];
        assert_eq!(played.request(BOTH), granted("\"email\""));
        played.looks = vec![other()];
        let _reply = played.request(PASSWORD);
        assert_eq!(played.prompts.len(), 2, "{:?}", played.prompts);
    }
}

#[test]
fn a_request_without_fields_takes_what_the_page_has() {
    let mut played = task(&ANA);
    played.looks = vec![name_page()];
    let name = played.request("REQ.login\nREQ.end");
    assert_eq!(name, granted("\"username\""));
    assert!(played.prompts[0].contains("(email, password)"), "{:?}", played.prompts);
    let mut hidden = password();
    hidden.visible = Fact::Known(false);
    played.looks = vec![step("/login", vec![control(1, "username"), hidden], "Log in")];
    assert_eq!(played.request(BOTH), granted("\"email\""), "the password is out of sight yet");
    assert_eq!(played.prompts.len(), 1, "{:?}", played.prompts);
    // A script shows the password in the same document.
    played.looks = vec![step("/login", vec![control(1, "username"), password()], "Log in")];
    assert_eq!(played.request(PASSWORD), granted("\"password\""));
    assert_eq!((played.fills, played.prompts.len()), (3, 1), "{:?}", played.prompts);
}

#[test]
fn a_user_name_is_the_address_where_the_page_asks_for_that() {
    let mut label = control(1, "");
    label.label = "Email or phone".into();
    let mut played = task(&ANA);
    played.looks = vec![step("/signin", vec![label], "Next")];
    assert_eq!(played.request("REQ.login fields=[\"username\"]\nREQ.end"), granted("\"email\""));
    assert!(played.prompts[0].contains("fill your login (email)"), "{:?}", played.prompts);
}

#[test]
fn the_second_page_gets_the_password_of_the_account_that_the_first_one_was_given() {
    let two = [
        ("login:mail", Field::Email, "ana@mail.example"),
        ("login:bob", Field::Email, "bob@mail.example"),
        ("login:bob", Field::Password, "Quarry-77-otter"),
    ];
    let mut played = task(&two);
    played.looks = vec![name_page()];
    assert_eq!(played.request(BOTH), granted("\"email\""));
    played.looks = vec![password_page()];
    assert_eq!(played.request(PASSWORD), granted("\"password\""));
    assert!(played.prompts[0].contains("from your login:bob"), "{:?}", played.prompts);
    let released = played.releases.entries();
    assert!(released.iter().all(|(handle, _)| handle == "login:bob"), "{released:?}");
    assert_eq!((released.len(), played.prompts.len()), (2, 1));
}
