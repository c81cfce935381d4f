//! New passwords: one question each time, a record in the vault's file before the fill, and one record a task and site.

use crate::played::{Played, SHOP, control, origin};
use browser_signals::{Container, Destination, Fact, Sink, Snapshot, Verb};
use policy_dfa::Reason;
use portcullis::audit::AuditEvent;
use portcullis::consent::Answer;
use portcullis::{Action, DEFAULT_POLICY};
use sirl::{Field, Kind};

const BLOCK: &str = "REQ.login fields=[\"email\",\"new_password\"]\nREQ.end";
const GRANTED: &str = "GRANT.login {\"delivered\":\"filled\",\"fields\":[\"email\",\"new_password\"]}";
/// A pattern that one password meets, so that the test knows it.
const KNOWN: &str = "opal-kettle-harbour";

fn denied(reason: &str) -> String {
    format!("DENY.login {{\"reason\":\"{reason}\"}}")
}

fn registration() -> Snapshot {
    let mut page = crate::played::checkout();
    page.path = Fact::Known("/register".into());
    page.destination =
        Fact::Known(Destination { origin: origin(SHOP), path: "/register".into(), method: "POST".into() });
    page.sink = Fact::Known(Sink::LoginForm);
    page.controls = vec![control(1, "email"), control(2, "new-password"), control(3, "new-password")];
    for password in &mut page.controls[1..] {
        password.input_type = "password".into();
    }
    page
}

fn with_rules(rules: &str) -> Snapshot {
    let mut page = registration();
    page.controls[1].words.password_rules = rules.into();
    page
}

fn at(page: Snapshot) -> Played {
    under(DEFAULT_POLICY, page)
}

fn under(policy: &str, page: Snapshot) -> Played {
    let values = [("contact:me", Field::Email, "marguerite.v@mail.example")];
    let mut played =
        Played::for_task(policy, (Container::T2, &[Kind::Login]), &values, "register at the shop");
    played.looks = vec![page];
    played
}

/// The handles of the logins in the vault.
fn logins(played: &Played) -> Vec<(String, Field)> {
    let vault = played.vault.lock().unwrap();
    let all = vault.entries().map(|entry| (entry.handle.to_owned(), entry.field));
    all.filter(|(handle, _)| handle.starts_with("login:")).collect()
}

#[test]
fn a_new_password_is_asked_about_and_in_the_file_before_it_is_filled() {
    let mut played = at(registration());
    assert_eq!(played.request(BLOCK), GRANTED);
    assert_eq!((played.fills, played.prompts.len()), (1, 1));
    let prompt = &played.prompts[0];
    for said in [
        "- fill your login (email, new password) into a form of:\n",
        "- make a new password for:\n      shop.example\n",
        "Portcullis makes it, and keeps it with this form's e-mail address or user name in your vault as login:shop-example before the site gets it; the agent does not see it",
    ] {
        assert!(prompt.contains(said), "{prompt}");
    }
    assert!(!prompt.contains("weak"), "{prompt}");
    let handle = "login:shop-example".to_owned();
    assert_eq!(logins(&played), [(handle.clone(), Field::Password), (handle.clone(), Field::Email)]);
    assert!(played.kept.len() == 1 && played.kept[0].contains(&handle), "{:?}", played.kept);
    let place = |wanted: fn(&AuditEvent) -> bool| played.records.iter().position(wanted).unwrap();
    let intent = place(|event| matches!(event, AuditEvent::Intent { .. }));
    let made = place(|event| matches!(event, AuditEvent::PasswordMade { request: 1, .. }));
    let outcome = place(|event| matches!(event, AuditEvent::Outcome { failed: None, .. }));
    assert!(intent < made && made < outcome, "{:?}", played.records);
}

#[test]
fn the_same_password_is_used_again_after_another_question() {
    let mut played = at(registration());
    played.answer = Answer::Session;
    played.filled = Err(Reason::StaleDocument);
    assert_eq!(played.request(BLOCK), denied("stale_document"));
    let first = logins(&played);
    played.filled = Ok(());
    assert_eq!(played.request(BLOCK), GRANTED);
    assert_eq!((logins(&played), played.kept.len(), played.prompts.len()), (first, 1, 2));
    assert!(
        played.prompts[1].contains("- use the new password again that Portcullis made in this task for:")
    );
    // The account's login is an ordinary one from then on.
    let login = "REQ.login fields=[\"email\",\"password\"]\nREQ.end";
    assert!(played.request(login).starts_with("GRANT.login"), "{:?}", played.prompts);
    assert!(played.prompts[2].contains("from your login:shop-example"), "{}", played.prompts[2]);
}

#[test]
fn without_a_yes_there_is_no_record() {
    let mut played = at(registration());
    played.answer = Answer::No;
    assert_eq!(played.request(BLOCK), denied("consent_denied"));
    assert!(logins(&played).is_empty() && played.kept.is_empty());
    // The no holds for what the user was asked about.
    played.answer = Answer::Once;
    assert_eq!(played.request(BLOCK), denied("consent_denied"));
    assert_eq!((played.prompts.len(), logins(&played).len()), (1, 0));
}

#[test]
fn a_page_that_asks_without_end_gets_one_record_and_few_questions() {
    let mut played = at(registration());
    let replies: Vec<String> = (0..100).map(|_| played.request(BLOCK)).collect();
    assert_eq!(replies[0], GRANTED);
    assert!(replies[99].starts_with("DENY.login"), "{}", replies[99]);
    assert!(played.prompts.len() <= 12, "{}", played.prompts.len());
    assert_eq!((logins(&played).len(), played.kept.len()), (2, 1), "one record of two fields");
}

#[test]
fn a_weak_password_is_named_every_time() {
    let mut played = at(with_rules("minlength: 4; maxlength: 4; allowed: digit"));
    for round in 1..=3 {
        assert_eq!(played.request(BLOCK), GRANTED);
        let said = "! this site allows only weak passwords: about 13 bits, which a program can guess";
        assert_eq!(played.prompts.iter().filter(|prompt| prompt.contains(said)).count(), round);
    }
}

#[test]
fn rules_that_nothing_meets_are_refused_without_a_question() {
    let mut played = at(with_rules("minlength: 9; maxlength: 8"));
    assert_eq!(played.request(BLOCK), denied("password_rules"));
    assert_eq!((played.prompts.len(), played.fills, logins(&played).len()), (0, 0, 0));
}

#[test]
fn a_page_that_changes_its_rules_after_the_question_gets_nothing() {
    // The looks are the survey, the look of the decision, and the fresh look before the release.
    for honest in [1, 2] {
        let mut played = at(registration());
        played.looks = vec![registration(); honest];
        played.looks.push(with_rules("maxlength: 4; allowed: digit"));
        assert_eq!(played.request(BLOCK), denied("stale_document"), "{honest}");
        assert_eq!(played.fills, 0);
        // A password that was made by the rules that the user saw is not replaced by a weak one.
        let again = played.request(BLOCK);
        assert_eq!(again == denied("password_rules"), honest == 2, "{again}");
    }
}

#[test]
fn what_cannot_be_kept_is_not_released() {
    let mut played = at(registration());
    played.keeping = false;
    assert_eq!(played.request(BLOCK), denied("password_not_kept"));
    assert_eq!((played.fills, logins(&played).len()), (0, 0));
    let failed = |event: &AuditEvent| {
        matches!(event, AuditEvent::Outcome { failed: Some(Reason::PasswordNotKept), .. })
    };
    assert!(played.records.iter().any(failed));
    played.keeping = true;
    assert_eq!(played.request(BLOCK), GRANTED);

    let mut played = at(registration());
    played.unrecorded = |event| matches!(event, AuditEvent::PasswordMade { .. });
    assert_eq!(played.request(BLOCK), denied("audit_unavailable"));
    assert_eq!((played.fills, logins(&played).len()), (0, 2), "a record that nobody was given harms nobody");
}

#[test]
fn a_new_password_goes_into_no_control_for_a_present_one() {
    let mut login = registration();
    login.controls.truncate(2);
    login.controls[1].autocomplete = "current-password".into();
    let mut change = registration();
    change.controls[1].autocomplete = "current-password".into();
    let mut elsewhere = registration();
    elsewhere.controls.truncate(1);
    for page in [login, change, elsewhere] {
        let mut played = at(page);
        assert_eq!(played.request(BLOCK), denied("no_control"));
        assert_eq!((played.fills, played.prompts.len(), logins(&played).len()), (0, 0, 0));
    }
}

#[test]
fn a_made_password_is_masked_and_searched_for_like_every_released_one() {
    let mut page = registration();
    page.controls[1].words.pattern = KNOWN.into();
    let mut played = at(page);
    played.reads = format!("- text: \"The {KNOWN} is closed today\"");
    let read = |played: &mut Played| played.act(Action::Verb(Verb::Read));
    assert!(read(&mut played).contains(KNOWN), "there is no such value yet");
    assert_eq!(played.request(BLOCK), GRANTED);
    assert!(played.prompts[0].contains("about 0 bits"), "{}", played.prompts[0]);
    assert_eq!(read(&mut played), "- text: \"The [withheld] is closed today\"");
    let told: String = played.prompts.iter().map(String::as_str).chain([GRANTED]).collect();
    assert!(!told.contains(KNOWN) && !format!("{:?}", played.records).contains(KNOWN));
    let open = Verb::Open { url: format!("{SHOP}/?q={KNOWN}") };
    assert_eq!(played.act(Action::Verb(open)), "DENY.verb {\"reason\":\"egress_blocked\"}");
}
