//! The consent page's listener against hostile pages in the agent's browser (I15).
//!
//! The pages know all secrets: port, path, nonce and subject. They are served from another site, from another port of the
//! same address, and from a name that resolves to the listener itself (DNS rebinding). Finding the port by the time of a
//! connection is not tried, since a page gains nothing by it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::chromium::{Chromium, executable, value};
use crate::consent_page_support::*;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect};
use browser_signals::Container;
use browser_signals::address::AddressRefused;
use browser_signals::playwright::{BridgeError, Browser, BrowserSettings};
use portcullis::consent::Answer;
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use serde_json::{Value, json};

/// The number of attacks that never get an answer.
const SILENT: usize = 4;

/// Tries everything that a page can try, and reports the results.
const ATTACKS: &str = r#"async (know) => {
  const { page, say, show, yes } = know;
  const got = {};
  const all = [];
  // Some are never answered. A slow machine takes its time over the others.
  let [open, last] = [0, Date.now()];
  const began = last;
  const silence = new Promise((_, no) => {
    const timer = setInterval(() => {
      const over = (open <= know.silent && Date.now() - last > 2500) || Date.now() - began > 60000;
      if (over) { clearInterval(timer); no(new Error("silence")); }
    }, 100);
  });
  const attack = (name, run) => all.push((async () => {
    open += 1;
    try { got[name] = await Promise.race([run(), silence]); } catch (error) { got[name] = "failed: " + error.message; }
    open -= 1;
    last = Date.now();
  })());
  const body = async (response) => response.type + ":" + response.status + ":" + await response.text();
  const json = { "Content-Type": "application/json", "X-Portcullis": "consent" };
  for (const message of [show, yes]) {
    const name = message === show ? "show" : "yes";
    for (const mode of ["cors", "no-cors", "same-origin"]) {
      attack(`fetch ${mode} ${name}`, async () =>
        body(await fetch(say, { method: "POST", mode, headers: json, body: message })));
      attack(`plain fetch ${mode} ${name}`, async () =>
        body(await fetch(say, { method: "POST", mode, body: message })));
    }
    attack(`xhr ${name}`, () => new Promise((yes, no) => {
      const request = new XMLHttpRequest();
      request.open("POST", say);
      for (const [header, text] of Object.entries(json)) request.setRequestHeader(header, text);
      request.onload = () => yes("loaded:" + request.status + ":" + request.responseText);
      request.onerror = () => no(new Error("xhr"));
      request.send(message);
    }));
    attack(`beacon ${name}`, async () =>
      "sent:" + navigator.sendBeacon(say, new Blob([message], { type: "text/plain" })));
    attack(`json beacon ${name}`, async () =>
      "sent:" + navigator.sendBeacon(say, new Blob([message], { type: "application/json" })));
  }
  for (const mode of ["cors", "no-cors"]) {
    attack(`get ${mode}`, async () => body(await fetch(page, { mode })));
  }
  const element = (name, set) => attack(name, () => new Promise((yes, no) => {
    const made = document.createElement(name.split(" ")[0]);
    made.onload = () => yes("loaded");
    made.onerror = () => no(new Error("element"));
    set(made);
    document.body.append(made);
  }));
  element("script page.js", (it) => { it.src = page + "page.js"; });
  element("script crossorigin", (it) => { it.src = page + "page.js"; it.crossOrigin = "anonymous"; });
  element("script module", (it) => { it.type = "module"; it.src = page + "page.js"; });
  element("link style", (it) => { it.rel = "stylesheet"; it.href = page + "page.css"; });
  element("img page", (it) => { it.src = page; });
  element("object page", (it) => { it.data = page + know.fragment; });
  element("embed page", (it) => { it.src = page + know.fragment; });
  for (const sandbox of [null, "allow-scripts allow-same-origin allow-forms"]) {
    attack("iframe " + sandbox, () => new Promise((yes) => {
      const frame = document.createElement("iframe");
      if (sandbox !== null) frame.sandbox = sandbox;
      frame.onload = () => {
        let inside;
        try { inside = frame.contentWindow.document.body.innerText; } catch (error) { inside = error.name; }
        yes("framed:" + inside);
      };
      frame.src = page + know.fragment;
      document.body.append(frame);
    }));
  }
  attack("form", () => new Promise((yes) => {
    const frame = document.createElement("iframe");
    frame.name = "target";
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: say, target: "target", enctype: "text/plain" });
    const field = document.createElement("input");
    // As text, this form is the message with `=` in it.
    Object.assign(field, { name: show.slice(0, 10), value: show.slice(10) });
    form.append(field);
    document.body.append(form);
    frame.onload = () => yes("posted");
    form.submit();
  }));
  attack("websocket", () => new Promise((yes, no) => {
    const socket = new WebSocket(say.replace("http:", "ws:"));
    socket.onopen = () => yes("open");
    socket.onerror = () => no(new Error("socket"));
  }));
  attack("eventsource", () => new Promise((yes, no) => {
    const source = new EventSource(page);
    source.onopen = () => yes("open");
    source.onerror = () => { source.close(); no(new Error("source")); };
  }));
  attack("worker", () => new Promise((yes, no) => {
    const worker = new Worker(page + "page.js");
    worker.onmessage = () => yes("ran");
    worker.onerror = () => no(new Error("worker"));
  }));
  attack("window.open", async () => {
    const opened = window.open(page + know.fragment, "_blank");
    await new Promise((next) => setTimeout(next, 700));
    let inside;
    try { inside = opened.document.body.innerText; } catch (error) { inside = error.name; }
    return "opened:" + inside;
  });
  await Promise.all(all);
  return got;
}"#;

/// Serves an empty page, a page that navigates to the consent page, and redirects to it.
async fn hostile(goal: Arc<Mutex<String>>) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = |State(goal): State<Arc<Mutex<String>>>, uri: axum::http::Uri| async move {
        let goal = goal.lock().unwrap().clone();
        match uri.path() {
            "/302" => Redirect::to(&goal).into_response(),
            "/307" => Redirect::temporary(&goal).into_response(),
            "/meta" => Html(format!("<meta http-equiv=refresh content=\"0;url={goal}\">")).into_response(),
            "/refresh" => ([(header::REFRESH, format!("0;url={goal}"))], "").into_response(),
            "/" => Html("<!doctype html><title>shop</title><body>").into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    };
    let router = Router::new().fallback(serve).with_state(goal);
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

/// Checks that the question was neither shown nor answered, and that the page still works.
async fn untouched(desk: &mut Desk, question: Question<Answer>) {
    assert!(question.is_open(), "a hostile page answered");
    assert_eq!(show(&question.address).await.status, 200, "a hostile page fetched the question");
    assert_eq!(say(&question.address, &question.answer("never")).await.status, 200);
    assert_eq!(desk.said(question).await, Answer::Never);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_knows_everything_gets_nothing() {
    let goal = Arc::new(Mutex::new(String::new()));
    let port = hostile(goal.clone()).await;
    let chromium = Chromium::launch("MAP *.test 127.0.0.1").await;
    let mut desk = Desk::open().await;
    for (origin, listener) in [
        (format!("http://evil.test:{port}"), "127.0.0.1"),
        (format!("http://127.0.0.1:{port}"), "127.0.0.1"),
        (format!("http://localhost:{port}"), "127.0.0.1"),
        (format!("http://evil.test:{port}"), "evil.test"),
    ] {
        let question = desk.ask(prompt()).await;
        let at = question.address.clone();
        let base = format!("http://{listener}:{}{}", at.port, at.path);
        let page = chromium.open(&format!("{origin}/")).await;
        let seen: Arc<Mutex<Vec<(String, u16)>>> = Arc::default();
        let context = page.context().unwrap();
        let tap = seen.clone();
        context
            .on_response(move |response| {
                tap.lock().unwrap().push((response.url().to_owned(), response.status()));
                std::future::ready(Ok(()))
            })
            .await
            .unwrap();
        let know = json!({
            "page": base,
            "say": format!("{base}say"),
            "fragment": format!("#{}", at.nonce),
            "show": format!(r#"{{"show":"{}"}}"#, at.nonce),
            "yes": question.answer("once"),
            "silent": SILENT,
        });
        let got: Value = page.evaluate(ATTACKS, Some(&know)).await.unwrap();
        for (attack, result) in got.as_object().unwrap() {
            let result = result.as_str().unwrap();
            let nothing = result.starts_with("failed: ")
                || result.starts_with("opaque:0:")
                || result.starts_with("sent:")
                || result == "posted"
                || matches!(result, "framed:SecurityError" | "opened:SecurityError" | "framed:" | "opened:")
                || (attack.starts_with("object") || attack.starts_with("embed"));
            assert!(
                nothing && !result.contains("shop.example"),
                "{origin} to {listener}: {attack}: {result}"
            );
        }
        let ours = || {
            let seen = seen.lock().unwrap();
            seen.iter().filter(|(url, _)| url.starts_with(&base)).cloned().collect::<Vec<_>>()
        };
        let began = Instant::now();
        while ours().len() < 5 && began.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let ours = ours();
        let silent = got.as_object().unwrap().values().filter(|it| *it == "failed: silence").count();
        assert!(silent <= SILENT, "{origin}: the attacks did not run: {got:#}");
        // The browser hides some answers from the page, so that only a part of them is here.
        assert!(ours.len() >= 5, "the attacks did not reach the listener: {ours:?}");
        assert!(ours.iter().all(|(_, status)| (400..500).contains(status)), "{ours:?}");
        context.close().await.unwrap();
        untouched(&mut desk, question).await;
    }
    chromium.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebound_name_gets_nothing() {
    let chromium = Chromium::launch("MAP *.test 127.0.0.1").await;
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let at = question.address.clone();
    for host in ["evil.test", "localhost", "[::ffff:127.0.0.1]", "127.0.0.2"] {
        let page = chromium.blank().await;
        let base = format!("http://{host}:{}{}", at.port, at.path);
        // The name resolves to the listener now, so that its answers would be of the attacker's origin.
        if let Ok(Some(response)) = page.goto(&format!("{base}#{}", at.nonce), None).await {
            assert_eq!(response.status(), 403, "{host}");
            let show = format!(
                "fetch('{base}say', {{ method: 'POST', mode: 'same-origin', body: '{{\"show\":\"{}\"}}', headers: \
                 {{ 'Content-Type': 'application/json', 'X-Portcullis': 'consent' }} }}).then(r => r.status)",
                at.nonce
            );
            assert_eq!(value(&page, &show).await, 403, "{host}");
        }
    }
    untouched(&mut desk, question).await;
    chromium.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_sends_the_browser_there_gets_nothing() {
    let goal = Arc::new(Mutex::new(String::new()));
    let port = hostile(goal.clone()).await;
    let chromium = Chromium::launch("MAP *.test 127.0.0.1").await;
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    let whole = question.address.whole.clone();
    *goal.lock().unwrap() = whole.clone();
    let at = |path: &str| format!("http://evil.test:{port}{path}");
    for way in [
        format!("location.href = '{whole}'"),
        format!("location.replace('{whole}')"),
        format!("window.open('{whole}')"),
        format!("window.open('{}')", at("/302")),
        format!("location.href = '{}'", at("/302")),
        format!("location.href = '{}'", at("/307")),
        format!("location.href = '{}'", at("/meta")),
        format!("location.href = '{}'", at("/refresh")),
        format!(
            "(() => {{ const a = document.createElement('a'); a.href = '{whole}'; a.rel = 'noreferrer noopener'; \
                 a.target = '_blank'; document.body.append(a); a.click() }})()"
        ),
    ] {
        let page = chromium.open(&at("/")).await;
        value(&page, &format!("(() => {{ {way}; return 0 }})()")).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        page.context().unwrap().close().await.unwrap();
    }
    chromium.close().await;
    untouched(&mut desk, question).await;
}

/// The listener cannot recognise a redirect from an address that the agent opened, since the browser itself navigates. The
/// bridge refuses the address, also at the end of a redirect.
#[tokio::test(flavor = "multi_thread")]
async fn the_agents_browser_is_not_led_there() {
    let goal = Arc::new(Mutex::new(String::new()));
    let port = hostile(goal.clone()).await;
    let mut desk = Desk::open().await;
    let question = desk.ask(prompt()).await;
    *goal.lock().unwrap() = question.address.whole.clone();
    let mut settings = BrowserSettings::new(executable());
    settings.sandbox = false;
    settings.proxy_rules = Some("MAP *.test 127.0.0.1".into());
    settings.private_hosts = vec![format!("evil.test:{port}")];
    let browser = Browser::start(settings).await.unwrap();
    let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await.unwrap();
    let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await.unwrap();
    let refused = Err(BridgeError::Refused(AddressRefused::PrivateHost));
    let direct = question.address.whole.parse().unwrap();
    assert_eq!(tab.open(&direct).await, refused);
    for path in ["/302", "/307"] {
        let redirect = format!("http://evil.test:{port}{path}").parse().unwrap();
        assert_eq!(tab.open(&redirect).await, refused, "{path}");
    }
    for path in ["/meta", "/refresh"] {
        let page = format!("http://evil.test:{port}{path}").parse().unwrap();
        let _led_or_not = tab.open(&page).await;
        tab.wait(500).await;
    }
    tab.close().await;
    browser.close().await;
    untouched(&mut desk, question).await;
}
