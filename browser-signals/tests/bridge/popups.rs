//! Refused windows: they send no request, and the page that opened them continues.

use std::time::{Duration, Instant};

use crate::support::{Open, Server, events_with, launch, launch_by_playwright, ref_of, tab};
use browser_signals::playwright::{Browser, ObservationTarget, PageEvent};
use browser_signals::{ClickManner, Container, HeldKeys};

/// What a page does when its button is pressed, so that `w` is the window, if it gets one.
const WAYS: [&str; 6] = [
    "w = open('/popup')",
    "w = open('')",
    "w = open('/popup', '_blank', 'noopener')",
    "w = open('http://pay.example:PORT/popup', 'named', 'width=300,height=300')",
    "link.click()",
    "sent.submit()",
];

/// The page reports that its script continued, and then that the window is closed.
const PAGE: &str = r#"<!doctype html><title>Shop</title><a id=link href=/popup target=_blank>There</a>
<form id=sent action=/popup target=_blank></form><button onclick="press()">Press</button><script>
function press() {
  let w = null;
  WAY;
  fetch('/on');
  const timer = setInterval(() => { if (!w || w.closed) { clearInterval(timer); fetch('/closed'); } }, 5);
}
</script>"#;

/// A press that waited for the window took 15 seconds, a read after it 30.
const NOT_STUCK: Duration = Duration::from_secs(10);

async fn page_and_agent_go_on(server: &Server, browser: &Browser) {
    server.page("shop.example", "/popup", "<p>popup</p>");
    server.page("pay.example", "/popup", "<p>popup</p>");
    for tier in [Container::T0, Container::T2] {
        let tab = tab(browser, server, tier).await;
        for way in WAYS {
            server.page("shop.example", "/", &PAGE.replace("WAY", way));
            tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
            // The container still works: the second press has the same effect as the first.
            for press in 1..=2 {
                let reports = |path: &str| server.requests().iter().filter(|it| it.path == path).count();
                let (on, closed) = (reports("/on"), reports("/closed"));
                let target = ref_of(&tab.read(&Open).await.expect("text").text, "\"Press\"");
                let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
                let began = Instant::now();
                tab.click(&target, &seen).await.expect("pressed");
                let text = tab.read(&Open).await.expect("text").text;
                let took = began.elapsed();
                println!("{way}: {took:?}");
                assert!(took < NOT_STUCK, "{tier:?} {way}, press {press}: {took:?}");
                assert!(text.contains("\"Press\""), "{text}");
                let events = events_with(&tab, |all| all.contains(&PageEvent::PopupRefused)).await;
                assert!(events.contains(&PageEvent::PopupRefused), "{tier:?} {way}: {events:?}");
                server
                    .requests_with(|all| {
                        let count = |path: &str| all.iter().filter(|it| it.path == path).count();
                        count("/on") > on && count("/closed") > closed
                    })
                    .await;
                assert_eq!((reports("/on"), reports("/closed")), (on + 1, closed + 1), "{tier:?} {way}");
            }
        }
        tab.close().await;
    }
    assert!(!server.requests().iter().any(|it| it.path == "/popup"), "a popup asks for nothing");
}

/// In a browser with windows, such a click on a link opens a tab or a window.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_key_opens_no_window() {
    let server = Server::start();
    server.page("shop.example", "/popup", "<p>popup</p>");
    let html = "<!doctype html><title>Shop</title><a href=/popup>There</a>\
        <button onclick=\"fetch('/on')\">Press</button>";
    server.page("shop.example", "/", html);
    let browser = launch_by_playwright(&server).await;
    let plain = HeldKeys::default();
    for tier in [Container::T0, Container::T2] {
        let tab = tab(&browser, &server, tier).await;
        for held in [
            HeldKeys { control: true, ..plain },
            HeldKeys { shift: true, ..plain },
            HeldKeys { control: true, shift: true, ..plain },
        ] {
            tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
            let text = tab.read(&Open).await.expect("text").text;
            let link = ref_of(&text, "\"There\"");
            let seen = tab.observe(ObservationTarget::Element(&link)).await.expect("a snapshot");
            let manner = ClickManner { held, ..ClickManner::default() };
            tab.click_as(&link, manner, &seen).await.expect("clicked");
            // The page is still there, and its requests arrive after one of the window would have.
            let on = server.requests().iter().filter(|it| it.path == "/on").count();
            let button = ref_of(&tab.read(&Open).await.expect("text").text, "\"Press\"");
            let seen = tab.observe(ObservationTarget::Element(&button)).await.expect("a snapshot");
            tab.click(&button, &seen).await.expect("pressed");
            server.requests_with(|all| all.iter().filter(|it| it.path == "/on").count() > on).await;
        }
        tab.close().await;
    }
    browser.close().await;
    assert!(!server.requests().iter().any(|it| it.path == "/popup"), "a window asks for nothing");
    // Without a key the same link leads there.
    let browser = launch_by_playwright(&server).await;
    let tab = tab(&browser, &server, Container::T2).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let link = ref_of(&tab.read(&Open).await.expect("text").text, "\"There\"");
    let seen = tab.observe(ObservationTarget::Element(&link)).await.expect("a snapshot");
    tab.click(&link, &seen).await.expect("clicked");
    assert!(server.requests().iter().any(|it| it.path == "/popup"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_window_delays_nothing() {
    let server = Server::start();
    let browser = launch_by_playwright(&server).await;
    page_and_agent_go_on(&server, &browser).await;
    browser.close().await;
}

#[cfg(all(feature = "pipe", unix))]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_window_delays_nothing_in_a_browser_on_a_pipe() {
    let server = Server::start();
    let browser = launch(&server).await;
    page_and_agent_go_on(&server, &browser).await;
    browser.close().await;
}
