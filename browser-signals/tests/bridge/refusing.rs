//! Requests that a tab always refuses.

use std::sync::{Arc, Mutex};

use crate::support::{
    Open, PATIENCE, Received, Server, events_with, launch, launch_by_playwright, ref_of, settings, tab,
    text_with,
};
use browser_signals::address::AddressRefused;
use browser_signals::playwright::{BridgeError, Browser, ObservationTarget, PageEvent, Tab};
use browser_signals::{Blocked, Container, EgressGuard, OutgoingRequest};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_that_are_not_for_an_agent_are_refused() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    for (address, refused) in [
        ("file:///etc/passwd", AddressRefused::Scheme),
        ("data:text/html,hello", AddressRefused::Scheme),
        ("chrome://version", AddressRefused::Scheme),
        ("about:blank", AddressRefused::Scheme),
        ("http://shop.example@evil.example/", AddressRefused::UserInfo),
        ("http://127.0.0.1:PORT/", AddressRefused::PrivateHost),
        ("http://0x7f.1:PORT/", AddressRefused::PrivateHost),
        ("http://localhost:PORT/", AddressRefused::PrivateHost),
        ("http://[::ffff:127.0.0.1]:PORT/", AddressRefused::PrivateHost),
        ("http://intranet:PORT/", AddressRefused::PrivateHost),
        ("http://169.254.169.254/latest/meta-data", AddressRefused::PrivateHost),
    ] {
        let url = address.replace("PORT", &server.port.to_string()).parse().expect("an address");
        assert_eq!(tab.open(&url).await, Err(BridgeError::Refused(refused)), "{address}");
    }
    assert_eq!(server.requests().len(), 0, "nothing was asked for");

    let away = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:PORT/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    server.page("shop.example", "/away", away);
    server.page("shop.example", "/mail", &away.replace("http://127.0.0.1:PORT/", "mailto:a@b.example"));
    let mail = tab.open(&server.url("shop.example", "/mail")).await;
    assert_eq!(mail, Err(BridgeError::Refused(AddressRefused::Scheme)));
    assert_eq!(tab.events(), [PageEvent::RequestBlocked { reason: "scheme" }]);
    let redirected = tab.open(&server.url("shop.example", "/away")).await;
    assert_eq!(redirected, Err(BridgeError::Refused(AddressRefused::PrivateHost)));
    server.page(
        "shop.example",
        "/frames",
        "<iframe src='http://127.0.0.1:PORT/'></iframe><iframe src='file:///etc/passwd'></iframe>",
    );
    tab.open(&server.url("shop.example", "/frames")).await.expect("the page opens");
    assert!(!server.requests().iter().any(|it| it.host == "127.0.0.1"));
    let lost: url::Url = format!("http://shop.example:{}/", 9).parse().expect("an address");
    assert_eq!(
        tab.open(&lost).await,
        Err(BridgeError::Refused(AddressRefused::PrivateHost)).or(tab.open(&lost).await)
    );
    browser.close().await;
}

const TRICKS: &str = r#"<!doctype html><title>Tricks</title>
<button onclick="alert(1)">Alert</button><button onclick="if(confirm('x'))document.title='yes'">Confirm</button>
<button onclick="window.open('http://shop.example:PORT/popup')">Popup</button>
<a href="http://shop.example:PORT/popup" target="_blank">Blank</a>
<a href="http://shop.example:PORT/file">Download</a>
<input type="file" aria-label="Upload">
<button onclick="print()">Print</button>
<button onclick="Notification.requestPermission().then(r => document.title = 'n ' + r)">Notify</button>
<button onclick="location.href='mailto:a@b.example'">Mail</button>
<button onclick="stuck()">Stay</button>
<script>function stuck() { addEventListener('beforeunload', e => e.preventDefault()); location.href = '/next'; }</script>"#;

/// Clicks, and gives the recorded events, once there are as many.
async fn click(tab: &Tab, name: &str, records: usize) -> Vec<PageEvent> {
    let text = tab.read(&Open).await.expect("text").text;
    let target = ref_of(&text, name);
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    let _refused = tab.click(&target, &seen).await;
    events_with(tab, |all| all.len() >= records).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_dialogs_files_and_permissions_are_refused_and_recorded() {
    let server = Server::start();
    let file = "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=x.bin\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc";
    server.page("shop.example", "/file", file);
    server.page("shop.example", "/popup", "<p>popup</p>");
    server.page("shop.example", "/next", "<title>Next</title>");
    server.page("shop.example", "/", TRICKS);
    let browser = launch_by_playwright(&server).await;
    for tier in [Container::T0, Container::T2] {
        let tab = tab(&browser, &server, tier).await;
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        assert_eq!(click(&tab, "\"Alert\"", 1).await, [PageEvent::DialogDismissed]);
        assert_eq!(click(&tab, "\"Confirm\"", 1).await, [PageEvent::DialogDismissed]);
        assert_eq!(click(&tab, "\"Popup\"", 1).await, [PageEvent::PopupRefused]);
        assert_eq!(click(&tab, "\"Blank\"", 1).await, [PageEvent::PopupRefused]);
        assert!(!server.requests().iter().any(|it| it.path == "/popup"), "a popup asks for nothing");
        assert_eq!(click(&tab, "\"Download\"", 1).await, [PageEvent::DownloadRefused]);
        assert_eq!(click(&tab, "\"Upload", 1).await, [PageEvent::FileChooserRefused]);
        assert_eq!(click(&tab, "\"Print\"", 0).await, []);
        let scheme = PageEvent::RequestBlocked { reason: "scheme" };
        assert_eq!(click(&tab, "\"Mail\"", 1).await, [scheme]);
        click(&tab, "\"Notify\"", 0).await;
        let text = text_with(&tab, "\"n denied\"").await;
        assert!(text.contains("\"n denied\""), "{text}");
        assert_eq!(click(&tab, "\"Stay\"", 1).await, [PageEvent::DialogDismissed]);
        let text = text_with(&tab, "\"Next\"").await;
        assert!(text.contains("\"Next\""), "{text}");
        tab.close().await;
    }
    browser.close().await;
}

/// Records the requests that it judges, and stops those with a certain word.
struct Word(Mutex<Vec<String>>);

impl EgressGuard for Word {
    fn judge(&self, request: &OutgoingRequest<'_>) -> Result<(), Blocked> {
        let body = String::from_utf8_lossy(request.body.unwrap_or_default()).into_owned();
        let headers: Vec<&str> = request.headers.iter().map(|(_, value)| value.as_str()).collect();
        let line = format!("{} {} {} {body} {headers:?}", request.resource_type, request.method, request.url);
        self.0.lock().expect("lines").push(line.clone());
        if line.contains("secret") { Err(Blocked::new("value")) } else { Ok(()) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raised_container_shows_its_task_and_asks_the_judge() {
    let server = Server::start();
    server.page(
        "shop.example",
        "/",
        "<title>Shop</title><a href='http://evil.example:PORT/'>Away</a>
        <iframe src='http://evil.example:PORT/inner'></iframe>
        <script>fetch('/a',{method:'POST',body:'public'});fetch('/b',{method:'POST',body:'a secret'});
        fetch('/h',{headers:{'x-note':'a secret'}});
        new Worker(URL.createObjectURL(new Blob([`fetch('http://shop.example:PORT/c?secret')`])));</script>",
    );
    server.page("evil.example", "/inner", "<p>inner</p>");
    server.page("evil.example", "/", "<p>evil</p>");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    let judge = Arc::new(Word(Mutex::default()));
    tab.set_egress(judge.clone());
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let blocked = PageEvent::RequestBlocked { reason: "value" };
    let count = |all: &[PageEvent]| all.iter().filter(|it| **it == blocked).count();
    let events = events_with(&tab, |all| count(all) >= 3).await;
    let arrived = |all: &[Received], path: &str| all.iter().any(|it| it.path == path);
    let sent = server.requests_with(|all| arrived(all, "/a") && arrived(all, "/inner")).await;
    let sent: Vec<String> =
        sent.into_iter().map(|it| format!("{}{} {}", it.host, it.path, it.body)).collect();
    assert!(sent.contains(&"shop.example/a public".to_owned()), "{sent:?}");
    assert!(!sent.iter().any(|it| it.contains("secret") || it.contains("/h")), "{sent:?}");
    assert!(sent.contains(&"evil.example/inner ".to_owned()), "an inner frame may load before a release");
    let asked = judge.0.lock().expect("lines").clone();
    assert!(asked.iter().any(|it| it.starts_with("Document GET") && it.contains("/inner")), "{asked:?}");
    assert_eq!(count(&events), 3, "{events:?}");

    // A page that tries to navigate while it loads is open nevertheless, and has not navigated.
    server.page(
        "shop.example",
        "/leaver",
        "<title>Leaver</title><script>location = 'http://evil.example:PORT/'</script>",
    );
    tab.open(&server.url("shop.example", "/leaver")).await.expect("the page opens");
    let text = tab.read(&Open).await.expect("text").text;
    assert!(text.contains("\"Leaver\""), "{text}");
    let events = events_with(&tab, |all| !all.is_empty()).await;
    assert_eq!(events, [PageEvent::RequestBlocked { reason: "outside_task" }]);
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let again = events_with(&tab, |all| count(all) >= 3).await;
    assert_eq!(count(&again), 3, "{again:?}");

    let events = click(&tab, "\"Away\"", 1).await;
    assert_eq!(events, [PageEvent::RequestBlocked { reason: "outside_task" }]);
    let elsewhere = tab.open(&server.url("evil.example", "/")).await;
    assert_eq!(elsewhere, Err(BridgeError::Refused(AddressRefused::OutsideTask)));
    assert!(!server.requests().iter().any(|it| it.host == "evil.example" && it.path == "/"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_parts_and_refused_arguments_are_named() {
    let server = Server::start();
    let mut missing = settings(&server);
    missing.executable = "/nowhere/chromium".into();
    assert!(matches!(Browser::launch(missing).await.err(), Some(BridgeError::NotInstalled(_))));
    let mut weak = settings(&server);
    weak.extra_arguments.push("--host-resolver-rules=MAP * 127.0.0.1".to_owned());
    assert!(matches!(Browser::launch(weak).await.err(), Some(BridgeError::Argument(_))));
    assert_eq!(server.requests().len(), 0);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_dies_is_lost_at_once() {
    let server = Server::start();
    server.page("shop.example", "/", "<title>Shop</title>");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let process = browser.process_id().await.expect("a process").to_string();
    assert!(std::process::Command::new("kill").args(["-9", &process]).status().expect("kill").success());
    let slow = PATIENCE;
    let read = tokio::time::timeout(slow, tab.read(&Open)).await.expect("an answer in time");
    assert_eq!(read, Err(BridgeError::Lost));
    assert!(!browser.is_connected());
    assert_eq!(tab.open(&server.url("shop.example", "/")).await, Err(BridgeError::Lost));
}
