//! Password managers: asked once a login is granted, named in the question, and one reason to the agent whatever they answer.

use crate::played::{Played, SHOP, SourceAnswer, control, origin};
use browser_signals::{Container, Destination, Fact, Sink, Snapshot, Verb};
use policy_dfa::Millis;
use portcullis::audit::AuditEvent;
use portcullis::consent::{Answer, WarningCause};
use portcullis::guard::sources::{FetchOutcome, ServedBy};
use portcullis::{Action, DEFAULT_POLICY};
use sirl::{Field, Kind};
use vault::sources::{Account, FetchedCode, FetchedValues, SourceError};
use vault::{Binding, Secret};

const LOGIN: &str = "REQ.login fields=[\"username\",\"password\"]\nREQ.end";
const CODE: &str = "REQ.otp fields=[\"one_time_code\"]\nREQ.end";
const PASSWORD: &str = "opal-kettle-harbour";

fn form(tokens: &[&str]) -> Snapshot {
    let mut page = crate::played::checkout();
    page.path = Fact::Known("/login".into());
    page.destination =
        Fact::Known(Destination { origin: origin(SHOP), path: "/login".into(), method: "POST".into() });
    page.sink = Fact::Known(Sink::LoginForm);
    page.controls = tokens.iter().zip(1..).map(|(token, node)| control(node, token)).collect();
    for control in page.controls.iter_mut().filter(|control| &*control.autocomplete == "current-password") {
        control.input_type = "password".into();
    }
    page
}

fn values() -> FetchedValues {
    FetchedValues {
        account: Account { id: "7".to_owned(), label: "ana".to_owned() },
        username: Some(Secret::new("ana-of-the-hill")),
        password: Some(Secret::new(PASSWORD)),
        code: Some(FetchedCode::Code(Secret::new("492813"))),
    }
}

/// A task at the shop, with an empty vault and a password manager that serves logins and one-time codes.
fn at(page: Snapshot, kinds: &[Kind]) -> Played {
    let task = (Container::T2, &[Kind::Login, Kind::Otp][..]);
    let mut played = Played::for_task(DEFAULT_POLICY, task, &[], "log in at the shop");
    played.core =
        played.core.with_sources(vec![ServedBy { name: "KeePassXC".to_owned(), kinds: kinds.to_vec() }]);
    played.source = || Ok(Some(values()));
    played.looks = vec![page];
    played.answer = Answer::Once;
    played
}

fn login_page() -> Snapshot {
    form(&["username", "current-password"])
}

fn fetches(played: &Played) -> Vec<&'static str> {
    let outcome = |event: &AuditEvent| match event {
        AuditEvent::Fetched { outcome, .. } => Some(*outcome),
        _ => None,
    };
    played.records.iter().filter_map(outcome).collect()
}

#[test]
fn a_login_is_fetched_once_it_is_granted_and_the_question_names_the_source() {
    let mut played = at(login_page(), &[Kind::Login]);
    let reply = played.request(LOGIN);
    assert!(reply.starts_with("GRANT.login"), "{reply}");
    assert_eq!((played.fills, played.fetches.len()), (1, 1));
    assert!(played.prompts[0].contains("KeePassXC"), "{}", played.prompts[0]);
    let place = |wanted: fn(&AuditEvent) -> bool| played.records.iter().position(wanted).unwrap();
    let intent = place(|event| matches!(event, AuditEvent::Intent { .. }));
    let fetched = place(|event| matches!(event, AuditEvent::Fetched { outcome: "fetched", .. }));
    let outcome = place(|event| matches!(event, AuditEvent::Outcome { failed: None, .. }));
    assert!(fetched < intent && intent < outcome, "{:?}", played.records);
    assert!(!played.vault.lock().unwrap().scan(PASSWORD).unwrap().is_empty(), "it is masked");
    let records: String = played.records.iter().map(|event| event.to_json().to_string()).collect();
    for canary in [PASSWORD, "ana-of-the-hill", "492813"] {
        assert!(!records.contains(canary) && !reply.contains(canary), "{canary}");
        assert!(!played.prompts.concat().contains(canary), "{canary}");
    }
}

#[test]
fn nothing_is_fetched_before_a_yes_or_for_a_kind_that_the_user_did_not_configure() {
    let mut played = at(login_page(), &[Kind::Login]);
    played.answer = Answer::No;
    assert_eq!(played.request(LOGIN), "DENY.login {\"reason\":\"consent_denied\"}");
    assert!(played.fetches.is_empty());
    let mut played = at(login_page(), &[Kind::Otp]);
    assert_eq!(played.request(LOGIN), "DENY.login {\"reason\":\"no_value\"}");
    assert!(played.fetches.is_empty() && !played.prompts[0].contains("KeePassXC"));
    // The control: with the kind it is filled.
    let mut played = at(login_page(), &[Kind::Otp, Kind::Login]);
    assert!(played.request(LOGIN).starts_with("GRANT.login"));
}

#[test]
fn the_users_own_login_comes_first() {
    let mut played = at(login_page(), &[Kind::Login]);
    let place = Binding::Origin(origin(SHOP));
    for (field, value) in [(Field::Username, "own"), (Field::Password, "own-password")] {
        let mut vault = played.vault.lock().unwrap();
        vault
            .insert("login:shop", field, Secret::new(value), &place, &mut portcullis::guard::SystemEntropy)
            .unwrap();
    }
    assert!(played.request(LOGIN).starts_with("GRANT.login"));
    assert!(played.fetches.is_empty() && played.prompts[0].contains("login:shop"));
}

#[test]
fn whatever_a_source_answers_is_one_reason_to_the_agent() {
    let denied = "DENY.login {\"reason\":\"no_value\"}";
    let answers: [SourceAnswer; 5] = [
        || Ok(None),
        || Err(FetchOutcome::Failed(SourceError::Locked)),
        || Err(FetchOutcome::Failed(SourceError::TimedOut)),
        || Err(FetchOutcome::NotChosen),
        || Ok(Some(FetchedValues { password: Some(Secret::new("two\nlines")), ..values() })),
    ];
    let steps: Vec<(String, String, u32)> = answers
        .into_iter()
        .map(|answer| {
            let mut played = at(login_page(), &[Kind::Login]);
            played.source = answer;
            let reply = played.request(LOGIN);
            assert_eq!(played.fills, 0);
            (reply, played.with_next_steps(), played.core.counts().prompts)
        })
        .collect();
    assert!(steps.iter().all(|step| step == &steps[0]), "{steps:?}");
    assert_eq!(steps[0].0, denied);
}

#[test]
fn the_user_is_told_that_the_source_is_locked_and_the_record_says_it() {
    let mut played = at(login_page(), &[Kind::Login]);
    played.source = || Err(FetchOutcome::Failed(SourceError::Locked));
    played.act(Action::Verb(Verb::Read));
    played.request(LOGIN);
    let warned = played.core.take_warnings();
    assert_eq!(warned.len(), 1);
    assert_eq!(warned[0].cause, WarningCause::Source(SourceError::Locked));
    assert!(warned[0].to_string().contains("it is locked; unlock it in its own window"), "{}", warned[0]);
    assert_eq!(fetches(&played), ["locked"]);
}

#[test]
fn a_code_is_noted_in_the_vaults_file_before_it_is_filled_and_is_given_once() {
    let mut played = at(form(&["one-time-code"]), &[Kind::Otp]);
    assert!(played.request(CODE).starts_with("GRANT.otp"));
    assert_eq!((played.fills, played.kept.len(), played.codes_asked), (1, 1, 0));
    // A model that asks again and again before the half minute is over does not lose the code of the next.
    for _ in 0..3 {
        assert_eq!(played.request(CODE), "DENY.otp {\"reason\":\"code_used\"}");
    }
    played.clock += 30_000;
    assert!(played.request(CODE).starts_with("GRANT.otp"), "{:?}", fetches(&played));
    let mut played = at(form(&["one-time-code"]), &[Kind::Otp]);
    played.keeping = false;
    assert_eq!(played.request(CODE), "DENY.otp {\"reason\":\"code_not_kept\"}");
    assert_eq!((played.fills, played.vault.lock().unwrap().scan("492813").unwrap().len()), (0, 0));
}

#[test]
fn what_cannot_be_recorded_is_not_released() {
    let mut played = at(login_page(), &[Kind::Login]);
    played.unrecorded = |event| matches!(event, AuditEvent::Fetched { .. });
    assert_eq!(played.request(LOGIN), "DENY.login {\"reason\":\"audit_unavailable\"}");
    assert_eq!(played.fills, 0);
}

#[test]
fn a_login_in_steps_goes_on_with_what_was_fetched() {
    let mut played = at(form(&["username"]), &[Kind::Login]);
    assert!(played.request("REQ.login fields=[\"username\"]\nREQ.end").starts_with("GRANT.login"));
    played.looks = vec![form(&["current-password"])];
    assert!(played.request("REQ.login fields=[\"password\"]\nREQ.end").starts_with("GRANT.login"));
    assert_eq!(played.fetches.len(), 2, "each grant fetches its own fields");
    let fields: Vec<Vec<Field>> = played.fetches.iter().map(|wanted| wanted.iter().collect()).collect();
    assert_eq!(fields, [vec![Field::Username], vec![Field::Password]]);
}

#[test]
fn a_fetch_that_takes_longer_than_a_grant_lives_ends_like_any_other() {
    let mut played = at(login_page(), &[Kind::Login]);
    played.fetch_takes = 10 * 60_000;
    assert!(played.request(LOGIN).starts_with("GRANT.login"), "{:?}", played.outcome);
    let mut played = at(login_page(), &[Kind::Login]);
    played.fetch_takes = 10 * 60_000;
    played.source = || Ok(None);
    assert_eq!(played.request(LOGIN), "DENY.login {\"reason\":\"no_value\"}");
}

#[test]
fn few_fetches_that_give_nothing_are_made_and_the_user_is_told() {
    let denied = "DENY.login {\"reason\":\"no_value\"}";
    let answers: [(SourceAnswer, usize); 5] = [
        (|| Err(FetchOutcome::Failed(SourceError::Refused)), 3),
        (|| Err(FetchOutcome::Failed(SourceError::TimedOut)), 3),
        (|| Err(FetchOutcome::NotChosen), 3),
        (|| Ok(None), 3),
        // What is not there opens no window.
        (|| Err(FetchOutcome::Failed(SourceError::NotRunning)), 6),
    ];
    for (answer, fetched) in answers {
        let mut played = at(login_page(), &[Kind::Login]);
        played.source = answer;
        // One yes for the session: no question counts the fetches.
        played.answer = Answer::Session;
        for _ in 0..6 {
            assert_eq!(played.request(LOGIN), denied);
        }
        assert_eq!(played.fetches.len(), fetched, "{:?}", fetches(&played));
        let told = played
            .core
            .take_warnings()
            .iter()
            .any(|it| it.cause == WarningCause::Source(SourceError::GivenUp));
        assert_eq!(told, fetched == 3);
    }
}

#[test]
fn where_a_source_fails_a_code_may_still_be_typed() {
    for error in [SourceError::Locked, SourceError::NotRunning, SourceError::Refused] {
        let mut played = at(form(&["one-time-code"]), &[Kind::Otp]);
        played.source = match error {
            SourceError::Locked => || Err(FetchOutcome::Failed(SourceError::Locked)),
            SourceError::Refused => || Err(FetchOutcome::Failed(SourceError::Refused)),
            _ => || Err(FetchOutcome::Failed(SourceError::NotRunning)),
        };
        played.code = Some("771204");
        assert!(played.request(CODE).starts_with("GRANT.otp"), "{error}");
        assert_eq!(played.core.take_warnings()[0].cause, WarningCause::Source(error));
        // After a fill that failed the user may type another one.
        played.code = Some("771205");
        assert!(played.request(CODE).starts_with("GRANT.otp"), "{error}");
        assert_eq!(played.codes_asked, 2);
    }
}

#[test]
fn a_source_names_the_whole_login_and_no_record_of_another_place_goes_with_it() {
    let with_contact = |page: Snapshot| {
        let played = at(page, &[Kind::Login]);
        let mail = Secret::new("home@mail.example");
        let mut vault = played.vault.lock().unwrap();
        let anywhere = Binding::Anywhere;
        vault
            .insert("contact:me", Field::Email, mail, &anywhere, &mut portcullis::guard::SystemEntropy)
            .unwrap();
        drop(vault);
        played
    };
    let mut played = with_contact(login_page());
    assert!(played.request(LOGIN).starts_with("GRANT.login"));
    let question = &played.prompts[0];
    assert!(question.contains("username") && !question.contains("contact:me"), "{question}");
    // The account has no e-mail address, and the contact's does not go with its password.
    let mut played = with_contact(form(&["email", "current-password"]));
    let by_address = "REQ.login fields=[\"email\",\"password\"]\nREQ.end";
    assert_eq!(played.request(by_address), "DENY.login {\"reason\":\"no_value\"}");
    assert_eq!(played.fills, 0);
}

#[test]
fn a_site_that_is_no_part_of_the_task_is_no_login_of_a_source() {
    use browser_signals::Origin;
    let mut played = at(login_page(), &[Kind::Login]);
    let elsewhere = url::Url::parse("https://elsewhere.example/login").unwrap();
    let site = Origin::parse(SHOP).unwrap();
    assert!(played.core.ask_about_sign_on(&site, &elsewhere, Millis(1)).is_none());
    // The control: with a login of the user's own for it, the user is asked.
    let place = Binding::parse("https://elsewhere.example").unwrap();
    let mut vault = played.vault.lock().unwrap();
    let password = Secret::new("own-password");
    vault
        .insert("login:x", Field::Password, password, &place, &mut portcullis::guard::SystemEntropy)
        .unwrap();
    drop(vault);
    assert!(played.core.ask_about_sign_on(&site, &elsewhere, Millis(1)).is_some());
}

#[test]
fn where_a_source_has_no_code_the_user_types_the_one_that_the_site_sent() {
    let mut played = at(form(&["one-time-code"]), &[Kind::Otp]);
    played.source = || Ok(None);
    played.code = Some("771204");
    assert!(played.request(CODE).starts_with("GRANT.otp"), "{:?}", played.outcome);
    assert_eq!((played.fetches.len(), played.codes_asked, played.fills), (1, 1, 1));
    // With a code of the source nobody is asked.
    let mut played = at(form(&["one-time-code"]), &[Kind::Otp]);
    assert!(played.request(CODE).starts_with("GRANT.otp"));
    assert_eq!(played.codes_asked, 0);
}

#[test]
fn an_earlier_code_of_a_source_is_not_released_again() {
    let mut played = at(form(&["one-time-code"]), &[Kind::Otp]);
    assert!(played.request(CODE).starts_with("GRANT.otp"));
    played.source = || Ok(None);
    assert_eq!(played.request(CODE), "DENY.otp {\"reason\":\"no_value\"}");
    assert_eq!(played.fills, 1);
}

#[test]
fn a_locked_vault_asks_no_source() {
    let mut played = at(login_page(), &[Kind::Login]);
    played.vault.lock().unwrap().lock();
    assert_eq!(played.request(LOGIN), "DENY.login {\"reason\":\"vault_locked\"}");
    assert!(played.fetches.is_empty());
}
