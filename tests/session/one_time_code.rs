//! One-time codes: made once a step, noted in the vault's file before the fill, and a notice where no password went before.

use crate::played::{Played, SHOP, control, origin};
use browser_signals::{Container, Destination, Fact, Sink, Snapshot};
use policy_dfa::Reason;
use portcullis::DEFAULT_POLICY;
use portcullis::audit::AuditEvent;
use portcullis::consent::Answer;
use portcullis::guard::SystemEntropy;
use sirl::{Field, Kind};
use vault::{Binding, Secret};

const BLOCK: &str = "REQ.otp fields=[\"one_time_code\"]\nREQ.end";
const GRANTED: &str = "GRANT.otp {\"delivered\":\"filled\",\"fields\":[\"one_time_code\"]}";
const SEED: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
/// The code of the second step, by the vectors of RFC 6238.
const CODE: &str = "287082";
const ALONE: &str = "gave no password to this site in this task";

fn denied(reason: &str) -> String {
    format!("DENY.otp {{\"reason\":\"{reason}\"}}")
}

fn form(path: &str, tokens: &[&str]) -> Snapshot {
    let mut page = crate::played::checkout();
    page.path = Fact::Known(path.into());
    page.destination =
        Fact::Known(Destination { origin: origin(SHOP), path: path.into(), method: "POST".into() });
    page.sink = Fact::Known(Sink::LoginForm);
    page.controls = tokens.iter().zip(1..).map(|(token, node)| control(node, token)).collect();
    page
}

/// The page that asks for the second factor.
fn second_factor() -> Snapshot {
    form("/login/code", &["one-time-code"])
}

/// A task at the shop, with a login that has a seed. The clock shows the beginning of the second step.
fn at(page: Snapshot) -> Played {
    let mut played = Played::for_task(
        DEFAULT_POLICY,
        (Container::T2, &[Kind::Login, Kind::Otp]),
        &[],
        "log in at the shop",
    );
    let place = Binding::Origin(origin(SHOP));
    for (field, value) in
        [(Field::Username, "ana"), (Field::Password, "opal-kettle-harbour"), (Field::OneTimeCode, SEED)]
    {
        let mut vault = played.vault.lock().unwrap();
        vault.insert("login:shop", field, Secret::new(value), &place, &mut SystemEntropy).unwrap();
    }
    played.looks = vec![page];
    played.answer = Answer::Once;
    played
}

fn holds(played: &Played, text: &str) -> bool {
    !played.vault.lock().unwrap().scan(text).unwrap().is_empty()
}

#[test]
fn the_code_is_made_and_its_step_is_in_the_file_before_it_is_filled() {
    let mut played = at(second_factor());
    assert!(!holds(&played, CODE));
    assert_eq!(played.request(BLOCK), GRANTED);
    assert_eq!((played.fills, played.prompts.len(), played.kept.len()), (1, 1, 1));
    assert!(holds(&played, CODE) && holds(&played, SEED));
    let prompt = &played.prompts[0];
    assert!(
        prompt.contains("one-time code") && prompt.contains("login:shop") && prompt.contains(ALONE),
        "{prompt}"
    );
    assert!(!prompt.contains(CODE) && !prompt.contains(SEED), "{prompt}");
    let place = |wanted: fn(&AuditEvent) -> bool| played.records.iter().position(wanted).unwrap();
    let intent = place(|event| matches!(event, AuditEvent::Intent { .. }));
    let made = place(|event| matches!(event, AuditEvent::CodeMade { request: 1, .. }));
    let outcome = place(|event| matches!(event, AuditEvent::Outcome { failed: None, .. }));
    assert!(intent < made && made < outcome, "{:?}", played.records);
    let records: String = played.records.iter().map(|event| event.to_json().to_string()).collect();
    assert!(!records.contains(CODE) && !records.contains(SEED), "{records}");
}

#[test]
fn no_code_is_given_twice_and_the_next_step_has_one() {
    let mut played = at(second_factor());
    played.filled = Err(Reason::StaleDocument);
    assert_eq!(played.request(BLOCK), denied("stale_document"));
    played.filled = Ok(());
    // The page may have seen the code.
    assert_eq!(played.request(BLOCK), denied("code_used"));
    played.clock = 58_000;
    assert_eq!(played.request(BLOCK), denied("code_used"), "two seconds are left of it");
    assert_eq!(played.with_next_steps().matches("Wait half a minute").count(), 1);
    played.clock = 60_000;
    assert_eq!(played.request(BLOCK), GRANTED);
    played.clock = 31_000;
    assert_eq!(played.request(BLOCK), denied("code_used"), "the clock was set back");
    assert!(!holds(&played, CODE), "the code of the second step is another one");
}

#[test]
fn what_cannot_be_noted_is_not_released() {
    let mut played = at(second_factor());
    played.keeping = false;
    assert_eq!(played.request(BLOCK), denied("code_not_kept"));
    assert_eq!((played.fills, holds(&played, CODE)), (0, false));
    let mut played = at(second_factor());
    played.unrecorded = |event| matches!(event, AuditEvent::CodeMade { .. });
    assert_eq!(played.request(BLOCK), denied("audit_unavailable"));
    assert_eq!(played.fills, 0);
}

#[test]
fn a_no_makes_no_code() {
    let mut played = at(second_factor());
    played.answer = Answer::No;
    assert_eq!(played.request(BLOCK), denied("consent_denied"));
    assert!(played.kept.is_empty() && !holds(&played, CODE));
}

#[test]
fn a_site_that_got_the_password_is_not_warned_of() {
    let mut page = form("/login", &["username", "current-password"]);
    page.controls[1].input_type = "password".into();
    let mut played = at(page);
    let login = "REQ.login fields=[\"username\",\"password\"]\nREQ.end";
    assert!(played.request(login).starts_with("GRANT.login"), "{:?}", played.outcome);
    played.looks = vec![second_factor()];
    played.seen = 0;
    assert_eq!(played.request(BLOCK), GRANTED);
    assert!(!played.prompts[1].contains(ALONE), "{}", played.prompts[1]);
}

/// A task at the shop with a login that has no seed.
fn without_a_seed() -> Played {
    let played = at(second_factor());
    let mut vault = played.vault.lock().unwrap();
    vault.remove("login:shop").unwrap();
    let password = Secret::new("opal-kettle-harbour");
    let place = Binding::Origin(origin(SHOP));
    vault.insert("login:shop", Field::Password, password, &place, &mut SystemEntropy).unwrap();
    drop(vault);
    played
}

#[test]
fn without_a_seed_the_user_types_the_code_that_the_site_sent_each_time() {
    let mut played = without_a_seed();
    assert_eq!(played.request(BLOCK), denied("no_value"), "the user gave no code");
    assert_eq!((played.codes_asked, played.fills), (1, 0));
    played.code = Some("492813");
    assert_eq!(played.request(BLOCK), GRANTED);
    assert_eq!((played.codes_asked, played.fills), (2, 1));
    assert!(holds(&played, "492813"), "it is masked until the task ends");
    assert!(!played.records.iter().any(|event| matches!(event, AuditEvent::CodeMade { .. })));
    // The site may refuse it, and send another one.
    played.code = Some("771204");
    assert_eq!(played.request(BLOCK), GRANTED);
    assert_eq!(played.codes_asked, 3);
    assert!(holds(&played, "771204"));
    // With a seed nobody is asked.
    let mut played = at(second_factor());
    assert_eq!(played.request(BLOCK), GRANTED);
    assert_eq!(played.codes_asked, 0);
}
