//! The consent page's listener answers only the page (I15), each question once and in time.

use std::time::{Duration, Instant};

use crate::consent_page_support::*;
use policy_dfa::ConsentScope;
use portcullis::consent::{Answer, AskedCode, HandOver, HandedOver, Warning, WarningCause};
use serde_json::Value;

/// The resources of the listener, with the headers of Chromium.
const FETCHES: [(&str, &str, &str, &str); 4] = [
    ("", "none", "navigate", "document"),
    ("page.js", "same-origin", "no-cors", "script"),
    ("post.js", "same-origin", "no-cors", "script"),
    ("page.css", "same-origin", "no-cors", "style"),
];

fn headers<'a>(site: &'a str, mode: &'a str, dest: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)]
}

/// Whether an answer reveals nothing: no success, no body, no CORS.
fn gives_nothing(reply: &Reply) -> bool {
    (400..500).contains(&reply.status) && reply.body.is_empty() && !reply.head.contains("access-control")
}

/// A time longer than the shortest time to a yes.
async fn look() {
    tokio::time::sleep(Duration::from_millis(720)).await;
}

#[tokio::test]
async fn the_browser_finds_all_parts() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = question.address.clone();
    for (name, site, mode, dest) in FETCHES {
        let reply = send(&at, &format!("GET {}{name}", at.path), &headers(site, mode, dest), "").await;
        assert_eq!(reply.status, 200, "{name}");
        for header in [
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "x-frame-options: deny",
            "default-src 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(reply.head.contains(header), "{name}: {header}");
        }
        assert!(!reply.head.contains("access-control") && !reply.head.contains("unsafe"), "{name}");
        assert!(!reply.body.contains(&at.nonce) && !reply.body.contains("shop.example"), "{name}");
    }
    assert_eq!(at.path.len(), 66);
    assert_eq!(at.nonce.len(), 32);
}

#[tokio::test]
async fn a_question_is_shown_once_and_answered_once() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = question.address.clone();
    let shown = show(&at).await;
    assert_eq!(shown.status, 200);
    let words: Value = serde_json::from_str(&shown.body).unwrap();
    assert_eq!(words["phrase"], PHRASE);
    assert_eq!(words["subject"], question.subject.as_str());
    let choices: Vec<&str> =
        words["choices"].as_array().unwrap().iter().map(|it| it["word"].as_str().unwrap()).collect();
    assert_eq!(choices, ["no", "once", "session", "site", "never"]);
    assert!(gives_nothing(&show(&at).await), "shown twice");

    let early = say(&at, &question.answer("once")).await;
    assert_eq!((early.status, early.body.as_str()), (425, ""));
    look().await;
    let said = say(&at, &question.answer("session")).await;
    assert_eq!(said.status, 200);
    assert!(said.body.contains("You said yes, for this task."), "{}", said.body);
    for second in ["no", "never", "site", "session"] {
        assert!(gives_nothing(&say(&at, &question.answer(second)).await), "then {second}");
    }
    assert_eq!(desk.said(question).await, Answer::Session);
    assert!(gives_nothing(&show(&at).await), "shown when it was answered");
}

#[tokio::test]
async fn a_no_is_never_too_early_and_a_yes_before_the_question_was_seen_is() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    look().await;
    assert_eq!(say(&question.address, &question.answer("once")).await.status, 425, "never fetched");
    assert_eq!(say(&question.address, &question.answer("never")).await.status, 200);
    assert_eq!(desk.said(question).await, Answer::Never);
}

#[tokio::test]
async fn another_subject_nonce_or_choice_is_refused_and_changes_nothing() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt_about(vec![payment(&[])], Vec::new(), ConsentScope::EveryTime)).await;
    let at = question.address.clone();
    show(&at).await;
    look().await;
    let other_nonce = "0".repeat(32);
    let other_subject = "0".repeat(64);
    for body in [
        message(&at.nonce, &other_subject, "answer", "once"),
        message(&at.nonce, &other_subject, "answer", "no"),
        message(&other_nonce, &question.subject, "answer", "once"),
        format!(r#"{{"show":"{other_nonce}"}}"#),
        question.answer("session"),
        question.answer("site"),
        question.code("123"),
    ] {
        let reply = say(&at, &body).await;
        assert!(gives_nothing(&reply) && reply.status == 404, "{body}: {reply:?}");
    }
    for body in ["", "{", "null", "{}", &format!("{} ", question.answer("once")), &" ".repeat(256)] {
        assert!(gives_nothing(&say(&at, body).await), "{body}");
    }
    assert_eq!(say(&at, &" ".repeat(257)).await.status, 413);
    assert!(question.is_open());
    assert_eq!(say(&at, &question.answer("once")).await.status, 200);
    assert_eq!(desk.said(question).await, Answer::Once);
}

#[tokio::test]
async fn an_old_question_is_closed_for_good() {
    let mut desk = Desk::open().await;
    let mut first = desk.ask(prompt()).await;
    show(&first.address).await;
    look().await;
    let late = (first.address.clone(), first.answer("once"));
    drop(first.close.take());
    assert_eq!(desk.said(first).await, Answer::No, "a closed window is no");
    assert!(gives_nothing(&say(&late.0, &late.1).await), "after the window was closed");

    let second = desk.ask(prompt()).await;
    assert_eq!(second.address.path, late.0.path);
    assert!(gives_nothing(&say(&late.0, &late.1).await), "to the next question");
    show(&second.address).await;
    look().await;
    second.abandon();
    let began = Instant::now();
    while second.is_open() {
        assert!(began.elapsed() < PATIENCE, "who gave up still waits");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(gives_nothing(&say(&second.address, &second.answer("once")).await), "nobody waits");
}

#[tokio::test]
async fn a_security_code_is_asked_for_under_a_nonce_of_its_own() {
    let mut desk = Desk::open().await;
    let pay = || prompt_about(vec![payment(&[])], Vec::new(), ConsentScope::EveryTime);
    let prompt = pay();
    let used = prompt.ticket().nonce();
    let question = desk.ask_code(AskedCode::Card("card:personal".to_owned()), prompt).await;
    let at = question.address.clone();
    assert_ne!(at.nonce, used);
    let words: Value = serde_json::from_str(&show(&at).await.body).unwrap();
    assert_eq!(
        (&words["code"]["name"], words["choices"].as_array().unwrap().len()),
        (&"Security code".into(), 1)
    );
    assert_eq!(say(&at, &question.code("123")).await.status, 425);
    look().await;
    assert!(gives_nothing(&say(&at, &question.answer("once")).await), "a yes is no code");
    for code in ["12", "12345", "12a", ""] {
        assert!(gives_nothing(&say(&at, &question.code(code)).await), "{code:?}");
    }
    let taken = say(&at, &question.code("1234")).await;
    assert!(taken.status == 200 && taken.body.contains("not stored") && !taken.body.contains("1234"));
    assert!(gives_nothing(&say(&at, &question.code("999")).await));
    assert!(desk.said(question).await.is_some());

    let question = desk.ask_code(AskedCode::Card("card:personal".to_owned()), pay()).await;
    assert_ne!(question.address.nonce, at.nonce);
    assert_eq!(say(&question.address, &question.answer("no")).await.status, 200);
    assert!(desk.said(question).await.is_none());
}

#[tokio::test]
async fn a_warning_is_shown_and_an_offer_is_answered() {
    let mut desk = Desk::open().await;
    let (kind, origin) = (sirl::Kind::Purchase, origin("https://shop.example"));
    let cause = WarningCause::UnsafePage;
    let at = desk.warn(Warning { kind, origin: origin.clone(), cause }).await;
    let words: Value = serde_json::from_str(&show(&at).await.body).unwrap();
    assert!(words["asked"][0]["act"].as_str().unwrap().contains("your purchase on https://shop.example"));
    assert_eq!(words["choices"].as_array().unwrap().len(), 1);
    let about = |word| message(&at.nonce, words["subject"].as_str().unwrap(), "answer", word);
    assert!(gives_nothing(&say(&at, &about("once")).await), "a warning has no yes");
    assert_eq!(say(&at, &about("no")).await.status, 200);

    for (word, ended) in [("no", HandedOver::GoOn), ("once", HandedOver::Finished)] {
        let offer = HandOver::of(kind, origin.clone(), policy_dfa::Reason::NoPaymentInterface).unwrap();
        let mut question = desk.offer(offer).await;
        let words: Value = serde_json::from_str(&show(&question.address).await.body).unwrap();
        question.subject = words["subject"].as_str().unwrap().to_owned();
        assert!(gives_nothing(&say(&question.address, &question.answer("site")).await));
        assert_eq!(say(&question.address, &question.answer("once")).await.status, 425, "too early");
        look().await;
        assert_eq!(say(&question.address, &question.answer(word)).await.status, 200);
        assert_eq!(desk.said(question).await, ended);
    }
}

#[tokio::test]
async fn another_host_gets_nothing() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = &question.address;
    let origin = at.origin();
    let hosts = [
        format!("evil.test:{}", at.port),
        format!("localhost:{}", at.port),
        "127.0.0.1".into(),
        format!("127.0.0.1:{}", at.port ^ 1),
        format!("127.0.0.1:{}.evil.test", at.port),
        String::new(),
    ];
    let say = format!("POST {}say", at.path);
    let show = format!(r#"{{"show":"{}"}}"#, at.nonce);
    for host in &hosts {
        for (name, site, mode, dest) in FETCHES {
            let mut headers = headers(site, mode, dest);
            headers.push(("Host", host));
            let reply = send(at, &format!("GET {}{name}", at.path), &headers, "").await;
            assert!(gives_nothing(&reply), "{name} {host}: {reply:?}");
        }
        for origin in [&origin, &format!("http://{host}")] {
            let mut headers = script_headers(origin);
            headers.push(("Host", host));
            assert!(gives_nothing(&send(at, &say, &headers, &show).await), "say {host}");
        }
    }
    let absolute = format!("GET http://evil.test{}", at.path);
    assert!(gives_nothing(&send(at, &absolute, &headers("none", "navigate", "document"), "").await));
}

#[tokio::test]
async fn missing_or_other_fetch_metadata_gets_nothing() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = &question.address;
    let sites = ["none", "same-origin", "same-site", "cross-site", "None", ""];
    let modes = ["navigate", "no-cors", "cors", "same-origin", "websocket", ""];
    let dests = ["document", "script", "style", "iframe", "frame", "object", "embed", "image", "empty", ""];
    for (name, ..) in FETCHES {
        let line = format!("GET {}{name}", at.path);
        let mut answered = 0;
        for site in sites {
            for mode in modes {
                for dest in dests {
                    let reply = send(at, &line, &headers(site, mode, dest), "").await;
                    // On a reload the page itself is the initiator.
                    let again = (name, site, mode, dest) == ("", "same-origin", "navigate", "document");
                    let right = again || FETCHES.contains(&(name, site, mode, dest));
                    assert_eq!(reply.status == 200, right, "{name}: {site} {mode} {dest}");
                    assert!(right || gives_nothing(&reply));
                    answered += usize::from(right);
                }
            }
        }
        assert_eq!(answered, if name.is_empty() { 2 } else { 1 }, "{name}");
        let (_, site, mode, dest) = FETCHES.into_iter().find(|fetch| fetch.0 == name).unwrap();
        for leave_out in 0..3 {
            let mut some = headers(site, mode, dest);
            let (header, value) = some.remove(leave_out);
            assert!(gives_nothing(&send(at, &line, &some, "").await), "{name} without {header}");
            // A doubled header with the right value first is refused too.
            let mut twice = headers(site, mode, dest);
            twice.push((header, value));
            assert!(gives_nothing(&send(at, &line, &twice, "").await), "{name} with {header} twice");
        }
    }
}

#[tokio::test]
async fn only_the_pages_script_may_send_messages() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = &question.address;
    let own = at.origin();
    let line = format!("POST {}say", at.path);
    let show = format!(r#"{{"show":"{}"}}"#, at.nonce);
    let right = script_headers(&own);
    for leave_out in 0..right.len() {
        let mut some = right.clone();
        some.remove(leave_out);
        assert!(gives_nothing(&send(at, &line, &some, &show).await), "without {:?}", right[leave_out]);
    }
    let localhost = own.replace("127.0.0.1", "localhost");
    for (name, value) in [
        ("Origin", "https://evil.test"),
        ("Origin", "null"),
        ("Origin", &localhost),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Site", "none"),
        ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Mode", "no-cors"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
        ("Content-Type", "text/plain"),
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("X-Portcullis", "yes"),
    ] {
        let mut headers = right.clone();
        headers.push((name, value));
        assert!(gives_nothing(&send(at, &line, &headers, &show).await), "{name} twice, {value}");
        headers.retain(|(other, was)| *other != name || *was == value);
        assert!(gives_nothing(&send(at, &line, &headers, &show).await), "{name}: {value}");
    }
    // The question is still open for the page.
    assert_eq!(send(at, &line, &right, &show).await.status, 200);
}

#[tokio::test]
async fn other_paths_and_methods_get_nothing() {
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = &question.address;
    let own = at.origin();
    let path = at.path.trim_end_matches('/');
    let shorter = &path[..path.len() - 1];
    let last = if path.ends_with('0') { '1' } else { '0' };
    for guess in [
        "/",
        "/say",
        "/page.js",
        "/favicon.ico",
        "*",
        path,
        &format!("{shorter}/"),
        &format!("{shorter}{last}/"),
        &format!("{path}0/"),
        &format!("{}/", path.to_uppercase()),
        &format!("/{path}/"),
        &format!("{path}/?x=1"),
        &format!("{path}/?"),
        &format!("{path}/page.html"),
        &format!("{path}/../{path}/"),
        &format!("{path}/%2e/"),
    ] {
        if guess == at.path {
            continue;
        }
        let reply = send(at, &format!("GET {guess}"), &headers("none", "navigate", "document"), "").await;
        assert!(gives_nothing(&reply), "{guess}: {reply:?}");
    }
    for method in ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "POST", "GET"] {
        for name in ["", "page.js", "post.js", "page.css", "say"] {
            if (method == "GET") != (name == "say") && matches!(method, "GET" | "POST") {
                continue;
            }
            let mut headers = script_headers(&own);
            headers.push(("Access-Control-Request-Method", "POST"));
            let reply = send(at, &format!("{method} {}{name}", at.path), &headers, "").await;
            assert!(gives_nothing(&reply), "{method} {name}: {reply:?}");
        }
    }
    let socket = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
        ("Origin", own.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "websocket"),
        ("Sec-Fetch-Dest", "websocket"),
    ];
    for name in ["", "say"] {
        let reply = send(at, &format!("GET {}{name}", at.path), &socket, "").await;
        assert!(gives_nothing(&reply), "{reply:?}");
    }
    assert!(question.is_open());
}
