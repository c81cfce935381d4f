//! Single sign-on: when the user is asked about a provider, and what the agent may do there.

use browser_signals::{Container, Control, Destination, ElementRef, Fact, NodeId, Sink, Snapshot, Verb};
use policy_dfa::Millis;
use portcullis::audit::AuditEvent;
use portcullis::consent::{Answer, Notice};
use portcullis::guard::SystemEntropy;
use portcullis::{Action, DEFAULT_POLICY};
use sirl::{Field, Kind};
use url::Url;
use vault::{Binding, Secret};

use crate::played::{BLOCK, Played, SHOP, checkout, control, origin};

const PROVIDER: &str = "https://id.example";

/// A task of the shop for these kinds, in a vault with a login at this origin.
fn task(kinds: &[Kind], bound: &str) -> Played {
    task_of(&[SHOP], kinds, bound)
}

fn task_of(sites: &[&str], kinds: &[Kind], bound: &str) -> Played {
    let played = Played::for_sites(DEFAULT_POLICY, sites, (Container::T2, kinds), &[], "log in");
    for (field, value) in [(Field::Email, "ana@mail.example"), (Field::Password, "Quarry-77-otter")] {
        let (value, bound) = (Secret::new(value.as_bytes()), Binding::Origin(origin(bound)));
        let mut vault = played.vault.lock().unwrap();
        vault.insert("login:id", field, value, &bound, &mut SystemEntropy).unwrap();
    }
    played
}

/// Where a site leads for a login.
fn authorize(provider: &str) -> Url {
    Url::parse(&format!("{provider}/authorize?client_id=shop&scope=mail.read")).unwrap()
}

fn is_asked(played: &mut Played, site: &str, provider: &str) -> bool {
    played.core.ask_about_sign_on(&origin(site), &authorize(provider), Millis(1)).is_some()
}

#[test]
fn the_user_is_asked_about_an_origin_with_a_login_for_a_site_of_the_task_once() {
    let login = &[Kind::Login][..];
    assert!(is_asked(&mut task(login, PROVIDER), SHOP, PROVIDER));
    for (kinds, bound, site, provider) in [
        (login, PROVIDER, SHOP, "https://id-login.example"),
        (login, PROVIDER, SHOP, "https://id.example:8443"),
        (login, PROVIDER, "https://evil.example", PROVIDER),
        (login, SHOP, SHOP, SHOP),
        (login, "http://id.example", SHOP, "http://id.example"),
        (&[Kind::Address], PROVIDER, SHOP, PROVIDER),
    ] {
        assert!(!is_asked(&mut task(kinds, bound), site, provider), "{bound} {site} {provider}");
    }
    let mut played = task(login, PROVIDER);
    assert!(is_asked(&mut played, SHOP, PROVIDER) && !is_asked(&mut played, SHOP, PROVIDER));
    let mut guessed = task(login, PROVIDER);
    guessed.reads = "- textbox \"Name\" [ref=e1]".to_owned();
    let guess = Verb::Open { url: format!("{SHOP}/?q=Quarry-77-otter") };
    guessed.act(Action::Verb(guess));
    assert!(!is_asked(&mut guessed, SHOP, PROVIDER), "{:?}", guessed.core.counts());
}

#[test]
fn the_question_has_the_remarks_about_the_providers_host() {
    let provider = "https://192.0.2.7";
    let mut played = task(&[Kind::Login], provider);
    let prompt = played.core.ask_about_sign_on(&origin(SHOP), &authorize(provider), Millis(1)).unwrap();
    assert!(prompt.noticed.iter().any(|it| matches!(it, Notice::Host(_))), "{prompt}");
}

/// Answers the question about the provider.
fn answered(played: &mut Played, answer: Answer) -> Vec<AuditEvent> {
    let prompt = played.core.ask_about_sign_on(&origin(SHOP), &authorize(PROVIDER), Millis(1)).unwrap();
    let answer = prompt.answered(answer);
    let (agreed, events) = played.core.answered_about_sign_on(&prompt, &answer, Millis(2));
    assert_eq!(played.core.task().sign_on(), None, "it begins once it is recorded");
    if let Some(sign_on) = agreed {
        played.core.begin_sign_on(&prompt, sign_on, Millis(3));
    }
    events
}

#[test]
fn a_yes_makes_the_provider_part_of_the_task_and_a_no_changes_nothing() {
    let mut played = task(&[Kind::Login], PROVIDER);
    let events = answered(&mut played, Answer::Once);
    assert!(events.iter().any(|it| matches!(it, AuditEvent::SignOn { .. })), "{events:?}");
    assert!(played.core.task().sign_on().is_some());
    assert_eq!(played.core.task().origins(), [origin(SHOP)]);
    let mut refused = task(&[Kind::Login], PROVIDER);
    let events = answered(&mut refused, Answer::No);
    assert!(!events.iter().any(|it| matches!(it, AuditEvent::SignOn { .. })), "{events:?}");
    assert_eq!(refused.core.task().sign_on(), None);
}

fn at(site: &str, to: &str) -> Snapshot {
    let mut page = checkout();
    (page.origin, page.top_origin) = (Fact::Known(origin(site)), Fact::Known(origin(site)));
    let to = Destination { origin: origin(to), path: "/allow".into(), method: "POST".into() };
    (page.destination, page.sink) = (Fact::Known(to), Fact::Known(Sink::Other));
    page.controls = vec![Control {
        tag: "button".into(),
        input_type: "submit".into(),
        label: "Allow".into(),
        ..control(1, "")
    }];
    page
}

fn click() -> Action {
    Action::Verb(Verb::click(ElementRef("e7".to_owned())))
}

#[test]
fn what_is_pressed_at_the_provider_is_asked_about_with_its_page() {
    for answer in [Answer::Once, Answer::No] {
        let mut played = task(&[Kind::Login], PROVIDER);
        answered(&mut played, Answer::Session);
        played.looks = vec![at(PROVIDER, PROVIDER)];
        played.reads =
            "- heading \"Allow Evil to read your mail?\" [ref=e1]\n- button \"Allow\" [ref=e7]".to_owned();
        played.answer = answer;
        let reply = played.act(click());
        let prompt = played.prompts.last().unwrap();
        for words in
            ["let the agent press \"Allow\"", "Allow Evil to read your mail?", "https://id.example/allow"]
        {
            assert!(prompt.contains(words), "{prompt}");
        }
        let expected = if answer == Answer::No { "DENY.verb {\"reason\":\"consent_denied\"}" } else { "ok" };
        assert_eq!((reply.as_str(), played.commands.len()), (expected, usize::from(answer != Answer::No)));
        // Each press is asked about.
        played.act(click());
        assert_eq!(played.prompts.len(), 2, "{:?}", played.prompts);
    }
}

#[test]
fn a_page_that_changes_after_the_question_is_not_pressed() {
    let mut played = task(&[Kind::Login], PROVIDER);
    answered(&mut played, Answer::Session);
    let mut other = at(PROVIDER, PROVIDER);
    other.path = Fact::Known("/other".into());
    played.looks = vec![at(PROVIDER, PROVIDER), at(PROVIDER, PROVIDER), other];
    assert_eq!(played.act(click()), "DENY.verb {\"reason\":\"stale_document\"}");
    assert_eq!(played.commands.len(), 0);
}

#[test]
fn nothing_is_typed_chosen_or_opened_at_the_provider_and_nothing_else_is_released_there() {
    let mut played = task(&[Kind::Login, Kind::Address], PROVIDER);
    answered(&mut played, Answer::Session);
    played.looks = vec![at(PROVIDER, PROVIDER)];
    // The key that may send a form is asked about.
    played.answer = Answer::No;
    let target = || ElementRef("e7".to_owned());
    for verb in [
        Verb::typed(target(), "WDJB-MJHT"),
        Verb::select(target(), "All"),
        Verb::Check { target: target(), on: true },
        Verb::Press { key: "Enter".to_owned() },
        Verb::Open { url: format!("{PROVIDER}/device") },
    ] {
        let reply = played.act(Action::Verb(verb));
        assert!(reply.starts_with("DENY.verb"), "{reply}");
    }
    assert_eq!(played.prompts.len(), 1, "{:?}", played.prompts);
    let mut page = checkout();
    (page.origin, page.top_origin) = (Fact::Known(origin(PROVIDER)), Fact::Known(origin(PROVIDER)));
    page.destination =
        Fact::Known(Destination { origin: origin(PROVIDER), path: "/save".into(), method: "POST".into() });
    played.looks = vec![page];
    let reply = played.request("REQ.address fields=[\"street\",\"city\"]\nREQ.end");
    assert_eq!(reply, "DENY.address {\"reason\":\"origin_mismatch\"}");
    // A login form at the provider that is sent to the site.
    let mut page = at(PROVIDER, SHOP);
    page.controls = vec![
        control(1, "username"),
        Control { input_type: "password".into(), ..control(2, "current-password") },
    ];
    page.sink = Fact::Known(Sink::LoginForm);
    played.looks = vec![page];
    let reply = played.request("REQ.login\nREQ.end");
    assert_eq!(reply, "DENY.login {\"reason\":\"wrong_destination\"}");
    assert_eq!(played.prompts.len(), 1, "{:?}", played.prompts);
}

const LOGIN: &str = "REQ.login fields=[\"email\",\"password\"]\nREQ.end";

/// The provider's login with these buttons, at this path.
fn login(path: &str, buttons: &[&str]) -> Snapshot {
    let mut page = at(PROVIDER, PROVIDER);
    let to = Destination { origin: origin(PROVIDER), path: path.into(), method: "POST".into() };
    (page.path, page.destination) = (Fact::Known(path.into()), Fact::Known(to));
    page.sink = Fact::Known(Sink::LoginForm);
    page.words.buttons = vec!["Log in".to_owned()];
    let shown = page.controls.remove(0);
    page.controls = vec![
        control(1, "username"),
        Control { input_type: "password".into(), ..control(2, "current-password") },
    ];
    page.controls.extend(buttons.iter().zip(7..).map(|(label, node)| Control {
        node: NodeId(node),
        label: (*label).to_owned(),
        ..shown.clone()
    }));
    page
}

#[test]
fn the_login_is_sent_without_a_question_by_the_one_button_of_its_form() {
    for (buttons, questions) in [(vec!["Log in"], 0), (vec!["Log in", "Log in and allow everything"], 1)] {
        let mut played = task(&[Kind::Login], PROVIDER);
        answered(&mut played, Answer::Session);
        played.looks = vec![login("/login", &buttons)];
        assert!(played.request(LOGIN).starts_with("GRANT.login"));
        assert_eq!(played.prompts.len(), 0, "{:?}", played.prompts);
        assert_eq!(played.act(click()), "ok");
        assert_eq!(played.prompts.len(), questions, "{buttons:?}: {:?}", played.prompts);
    }
}

/// The yes covers each part of the login once, whatever form took it.
#[test]
fn a_form_that_asks_for_the_password_again_is_asked_about() {
    let mut played = task(&[Kind::Login], PROVIDER);
    answered(&mut played, Answer::Session);
    played.looks = vec![login("/login", &["Log in"])];
    assert!(played.request("REQ.login fields=[\"email\"]\nREQ.end").starts_with("GRANT.login"));
    assert!(played.request(LOGIN).starts_with("GRANT.login"));
    let asked = played.prompts.len();
    let mut again = login("/delete-account", &["Log in"]);
    again.controls.remove(0);
    played.looks = vec![again];
    played.answer = Answer::No;
    let reply = played.request("REQ.login fields=[\"password\"]\nREQ.end");
    assert_eq!(reply, "DENY.login {\"reason\":\"consent_denied\"}");
    assert_eq!(played.prompts.len(), asked + 1, "{:?}", played.prompts);
}

#[test]
fn a_form_of_the_site_that_goes_to_the_provider_is_shown() {
    let mut played = task(&[Kind::Login], PROVIDER);
    answered(&mut played, Answer::Session);
    played.looks = vec![at(SHOP, PROVIDER)];
    played.answer = Answer::No;
    assert_eq!(played.act(click()), "DENY.verb {\"reason\":\"consent_denied\"}");
    assert_eq!(played.prompts.len(), 1, "{:?}", played.prompts);
}

/// Another site of the task could lead there in the name of the first one.
#[test]
fn a_task_with_several_sites_has_no_sign_on() {
    let mut played = task_of(&[SHOP, "https://other.example"], &[Kind::Login], PROVIDER);
    assert!(!is_asked(&mut played, SHOP, PROVIDER));
    assert!(is_asked(&mut task_of(&[SHOP], &[Kind::Login], PROVIDER), SHOP, PROVIDER));
}

/// What is left of the counted questions would tell the agent whether the vault has a login.
#[test]
fn a_question_about_a_provider_is_none_of_the_counted_ones() {
    let mut asked = task(&[Kind::Login, Kind::Address], PROVIDER);
    answered(&mut asked, Answer::No);
    let mut other = task(&[Kind::Login, Kind::Address], "https://elsewhere.example");
    assert!(!is_asked(&mut other, SHOP, PROVIDER));
    let questions = |played: &mut Played| {
        // Each is asked about, since the vault has no address to fill.
        played.answer = Answer::Once;
        (0..20).map(|_| played.request(BLOCK)).collect::<Vec<_>>()
    };
    assert_eq!(questions(&mut asked), questions(&mut other));
    assert_eq!(asked.prompts.len(), other.prompts.len());
    assert!(asked.prompts.len() > 1, "{:?}", asked.prompts);
}

#[test]
fn the_question_shows_the_address_that_the_site_leads_to() {
    let mut played = task(&[Kind::Login], PROVIDER);
    let prompt = played.core.ask_about_sign_on(&origin(SHOP), &authorize(PROVIDER), Millis(1)).unwrap();
    let said = prompt.to_string();
    assert!(said.contains("https://id.example/authorize?client_id=shop&scope=mail.read"), "{said}");
}
