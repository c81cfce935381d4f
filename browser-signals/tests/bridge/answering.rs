//! Actions on which a page asks its server for something: what it makes of the answer is observed.

use std::time::{Duration, Instant};

use crate::support::{LATE, NEVER, Open, Server, launch, ref_of, tab};
use browser_signals::playwright::{BridgeError, ObservationTarget, Tab};
use browser_signals::{Container, ElementRef, Observed, Snapshot};

/// What the bridge waits for the answers to one action, at most.
const ANSWERS: Duration = Duration::from_secs(5);

/// How a page asks for `/late`, and shows that it has the answer.
const WAYS: [(&str, &str); 8] = [
    ("fetch", "fetch('/late').then(it => it.text()).then(show)"),
    ("in the next turn", "setTimeout(() => fetch('/late').then(it => it.text()).then(show))"),
    (
        "XMLHttpRequest",
        "const asked = new XMLHttpRequest(); asked.onload = () => show(asked.responseText); \
         asked.open('GET', '/late'); asked.send()",
    ),
    ("a form's data", "fetch('/late', { method: 'POST', body: 'q=1' }).then(it => it.text()).then(show)"),
    (
        "one request after another",
        "fetch('/late?1').then(() => fetch('/late?2')).then(it => it.text()).then(show)",
    ),
    (
        "a script",
        "const more = document.createElement('script'); more.src = '/late.js'; document.body.append(more)",
    ),
    ("a frame", "document.querySelector('iframe').src = '/late'"),
    ("a refused request", "fetch('/late-error').then(it => show('status ' + it.status + ': arrived'))"),
];

fn serve(server: &Server) {
    server.page("shop.example", "/late", &format!("{LATE}<p>arrived"));
    server.page("shop.example", "/late.js", &format!("{LATE}show('arrived')"));
    let refused = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    server.page("shop.example", "/late-error", &format!("{LATE}{refused}"));
    server.page("shop.example", "/never", NEVER);
    let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: one\n\n";
    for number in 0..5 {
        server.page("shop.example", &format!("/stream/{number}"), &format!("{stream}{NEVER}"));
    }
    server.page("shop.example", "/two", "<!doctype html><title>two</title><p>here");
}

async fn show(tab: &Tab, server: &Server, handler: &str) -> (ElementRef, Observed<Snapshot>) {
    let page = format!(
        "<!doctype html><title>one</title><p id=said>waiting</p><iframe></iframe>\
         <button onclick=\"{}\">Go</button>\
         <script>let count = 0; function show(words) {{ said.textContent = words.replace('<p>', '') }}</script>",
        handler.replace('"', "&quot;"),
    );
    server.page("shop.example", "/one", &page);
    tab.open(&server.url("shop.example", "/one")).await.expect("the page opens");
    let target = ref_of(&text(tab).await, "\"Go\"");
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    (target, seen)
}

async fn text(tab: &Tab) -> String {
    tab.read(&Open).await.expect("text").text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observation_after_an_action_shows_what_the_server_answered() {
    let server = Server::start();
    serve(&server);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    for (how, handler) in WAYS {
        let (target, seen) = show(&tab, &server, handler).await;
        tab.click(&target, &seen).await.expect("clicked");
        let text = text(&tab).await;
        assert!(text.contains("arrived"), "{how}: {text}");
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_tells_what_an_answer_led_to() {
    let server = Server::start();
    serve(&server);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.let_dialogs_wait(true);
    let (target, seen) = show(&tab, &server, "fetch('/late').then(() => { location = '/two' })").await;
    tab.click(&target, &seen).await.expect("clicked");
    assert!(server.requests().iter().any(|it| it.path == "/two"), "the page is on its way");
    assert!(text(&tab).await.contains("\"two\""));
    let (target, seen) = show(&tab, &server, "fetch('/late').then(() => alert('Thank you'))").await;
    tab.click(&target, &seen).await.expect("clicked");
    // The page can show it a little later than it has its answer.
    assert!(matches!(tab.rest().await, Ok(()) | Err(BridgeError::DialogOpen)));
    assert_eq!(tab.dialog().map(|it| it.message), Some("Thank you".to_owned()));
    browser.close().await;
}

/// Each of these would cost every action the whole time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_end_is_not_waited_for_each_time() {
    let server = Server::start();
    serve(&server);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    for (how, handler) in [
        ("an event stream", "new EventSource('/stream/' + count++)"),
        ("a stream by fetch", "fetch('/stream/' + count++).then(it => it.text())"),
        ("a socket", "new WebSocket('ws://' + location.host + '/never')"),
        ("a long poll", "fetch('/never?' + Math.random())"),
        ("polls without end", "const ask = () => fetch('/late').then(ask); ask()"),
        ("a picture", "new Image().src = '/never?' + Math.random()"),
    ] {
        let (target, _) = show(&tab, &server, handler).await;
        let began = Instant::now();
        for _ in 0..5 {
            let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
            tab.click(&target, &seen).await.expect("clicked");
        }
        assert!(text(&tab).await.contains("waiting"), "{how}");
        assert!(began.elapsed() < ANSWERS * 5, "{how}: {:?}", began.elapsed());
    }
    browser.close().await;
}
