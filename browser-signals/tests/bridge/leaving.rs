//! Actions that navigate: the old page is not observed.

use std::time::{Duration, Instant};

use crate::support::{NEVER, Open, Server, launch, ref_of, tab};
use browser_signals::address::AddressRefused;
use browser_signals::playwright::{BridgeError, ObservationTarget, Tab};
use browser_signals::{Container, ElementRef, Observed, Snapshot};

/// What the page does in its event handler.
const WAYS: [(&str, &str); 9] = [
    ("at once", "location = '/two'"),
    ("in a microtask", "Promise.resolve().then(() => { location = '/two' })"),
    ("in the next turn", "setTimeout(() => { location = '/two' })"),
    ("by a form", "sent.submit()"),
    ("by a form in the next turn", "setTimeout(() => sent.submit())"),
    ("and is busy afterwards", "location = '/two'; const from = Date.now(); while (Date.now() - from < 80);"),
    ("by the navigation interface", "navigation.navigate('/two')"),
    ("by a refresh", "document.head.innerHTML = '<meta http-equiv=refresh content=\"0;url=/two\">'"),
    ("by a click of its own", "there.click()"),
];

async fn show(tab: &Tab, server: &Server, handler: &str) -> (ElementRef, Observed<Snapshot>) {
    let page = format!(
        "<!doctype html><title>one</title><form id=sent action=/two></form><a id=there href=/two>There</a>\
         <select aria-label=Go onchange=\"{}\"><option>here<option>away</select>\
         <script>addEventListener('keydown', () => document.querySelector('select').onchange())</script>",
        handler.replace('"', "&quot;"),
    );
    server.page("shop.example", "/one", &page);
    tab.open(&server.url("shop.example", "/one")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    let target = ref_of(&text, "\"Go\"");
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    (target, seen)
}

/// How often the target page was requested.
fn arrivals(server: &Server) -> usize {
    server.requests().iter().filter(|it| it.path.starts_with("/two")).count()
}

async fn title(tab: &Tab) -> String {
    tab.read(&Open).await.expect("text").text.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observation_after_an_action_shows_the_new_page() {
    let server = Server::start();
    server.page("shop.example", "/two", "<!doctype html><title>two</title><p>here");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    for (how, handler) in WAYS {
        let (target, seen) = show(&tab, &server, handler).await;
        let before = arrivals(&server);
        tab.select(&target, &["away".to_owned()], &seen).await.expect("chosen");
        // When the action is over the new page is there.
        assert_eq!(arrivals(&server), before + 1, "{how}: choosing");
        let now = tab.observe(ObservationTarget::Page).await.expect("a snapshot");
        assert!(now.document.known().is_some() && now.document != seen.document, "{how}: choosing");
        assert!(title(&tab).await.contains("\"two\""), "{how}: choosing");
        let (_, seen) = show(&tab, &server, handler).await;
        tab.press("ArrowUp", None).await.expect("pressed");
        assert_eq!(arrivals(&server), before + 2, "{how}: pressing a key");
        let now = tab.observe(ObservationTarget::Page).await.expect("a snapshot");
        assert!(now.document.known().is_some() && now.document != seen.document, "{how}: pressing a key");
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observation_waits_for_a_late_navigation_but_not_long() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    // The time of the action itself is not tested here: the latency example of `mcp` measures it.
    for _ in 0..10 {
        let _ = show(&tab, &server, "").await;
        let began = Instant::now();
        tab.press("PageDown", None).await.expect("pressed");
        tab.observe(ObservationTarget::Page).await.expect("a snapshot");
        assert!(began.elapsed() >= Duration::from_millis(30), "{:?}", began.elapsed());
    }
    // A navigation that is cancelled, and a page that requests navigations without end, are not waited for long.
    let scheme = Err(BridgeError::Refused(AddressRefused::Scheme));
    for (handler, pressed) in [
        ("location = '/two'; stop()", Ok(())),
        ("location = 'nothing-opens:this'", scheme),
        ("setInterval(() => { location = '#' + Math.random() })", Ok(())),
    ] {
        let _ = show(&tab, &server, handler).await;
        let began = Instant::now();
        assert_eq!(tab.press("PageDown", None).await, pressed, "{handler}");
        assert!(title(&tab).await.contains("\"one\""), "{handler}");
        assert!(began.elapsed() < Duration::from_secs(60), "{handler}: {:?}", began.elapsed());
    }
    browser.close().await;
}

/// A picture that never comes keeps the load event away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_never_finishes_loading_is_opened_left_and_returned_to() {
    let server = Server::start();
    for (path, next) in [("/first", "/second"), ("/second", "/first")] {
        let page = format!("<!doctype html><title>{path}</title><img src=/never><a href={next}>On</a>");
        server.page("shop.example", path, &page);
    }
    server.page("shop.example", "/never", NEVER);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/first")).await.expect("the page opens");
    assert!(title(&tab).await.contains("/first"));
    let target = ref_of(&tab.read(&Open).await.expect("text").text, "\"On\"");
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    tab.click(&target, &seen).await.expect("clicked");
    assert!(title(&tab).await.contains("/second"));
    tab.back().await.expect("back");
    assert!(title(&tab).await.contains("/first"));
    browser.close().await;
}
