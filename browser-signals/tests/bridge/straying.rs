//! Actions whose effect could differ from the decision: in another frame, on the button around a word, or at a server that
//! has received the form before.

use crate::support::{Open, Server, about, launch, launch_with, settings, tab};
use browser_signals::Container;
use browser_signals::playwright::{BridgeError, ObservationTarget};

/// The frame is next to the button until the page sees the mouse move.
const LURE: &str = r#"<!doctype html><title>Lure</title><style>body { margin: 0 } iframe { position: fixed; left: 0;
top: 200px; width: 400px; height: 100px; border: 0; z-index: 9 }</style>
<button style="width:300px;height:60px" onEVENT="document.querySelector('iframe').style.top = 0">Look</button>
<iframe src="FRAME"></iframe>"#;
const VICTIM: &str = r#"<!doctype html><title>Victim</title><style>body { margin: 0 }</style>
<button style="width:400px;height:100px" onclick="fetch('/clicked')" onmousedown="fetch('/pressed')">Delete</button>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_is_not_diverted_into_a_frame_of_another_site() {
    // A frame of another site, in its own process; and one of another origin of the same site, in the page's process.
    let server = Server::start();
    server.page("pay.example", "/frame", VICTIM);
    server.page("shop.example", "/frame", VICTIM);
    let mut settings = settings(&server);
    settings.private_hosts.push("shop.example:8080".to_owned());
    let near = "http://shop.example:8080/frame".parse().expect("an address");
    let browser = launch_with(settings).await;
    for event in ["mousemove", "mousedown", "pointerdown"] {
        for frame in [&server.url("pay.example", "/frame"), &near] {
            let lure = LURE.replace("EVENT", event).replace("FRAME", frame.as_str());
            server.page("shop.example", "/", &lure);
            let tab = tab(&browser, &server, Container::T2).await;
            tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
            let (look, seen) = about(&tab, "\"Look\"").await;
            let clicked = tab.click(&look, &seen).await;
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let reached = server.requests().iter().any(|it| it.path == "/clicked" || it.path == "/pressed");
            assert!(!reached, "{event} {frame}: {clicked:?}");
            tab.close().await;
        }
    }
    // A click on the frame element does not reach into it either.
    let frame = server.url("pay.example", "/frame");
    server.page("shop.example", "/", &LURE.replace("EVENT", "focus").replace("FRAME", frame.as_str()));
    let tab = tab(&browser, &server, Container::T2).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (frame, seen) = about(&tab, "- iframe").await;
    assert_eq!(tab.click(&frame, &seen).await, Err(BridgeError::Occluded));
    let (button, seen) = about(&tab, "\"Delete\"").await;
    assert!(!server.requests().iter().any(|it| it.path == "/clicked"));
    tab.click(&button, &seen).await.expect("the button in it can be clicked");
    let asked = server.requests_with(|all| all.iter().any(|it| it.path == "/clicked")).await;
    assert!(asked.iter().any(|it| it.path == "/clicked"));
    browser.close().await;
}

const WRAPPED: &str = r#"<!doctype html><title>Wrapped</title>
<form method=post action="/send"><button name=go><b id=word>Order now</b></button></form>
<form method=post action="/send" id=other></form>
<label id=label>By label<button form=other>Order too</button></label>
<div id=card style="width:200px"><button form=other style="width:200px;height:50px">In a box</button></div>
<a href="/next"><i id=words>onwards</i></a>
<span id=plain>words</span><button type=button id=idle><b id=inner>idle</b></button>"#;

/// A click on words in a button presses it, so the observation shows the button.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_on_the_words_of_a_button_is_one_on_the_button() {
    let server = Server::start();
    server.page("shop.example", "/", WRAPPED);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    for (selector, kind, path) in [
        ("#word", "submit", Some("/send")),
        ("form button", "submit", Some("/send")),
        ("#label", "submit", Some("/send")),
        ("#card", "submit", Some("/send")),
        ("#words", "", Some("/next")),
        ("#plain", "", None),
        ("#inner", "", None),
    ] {
        let target = tab.query(selector).await.expect("an element");
        let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
        assert_eq!(seen.target.as_ref().map(|it| it.input_type.as_str()), Some(kind), "{selector}");
        assert_eq!(seen.destination.known().map(|it| &*it.path), path, "{selector}");
        assert_eq!(seen.form.is_some(), kind == "submit", "{selector}");
    }
    browser.close().await;
}

/// Going back to the page that a form led to does not send the form again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn going_back_does_not_send_a_form_again() {
    let server = Server::start();
    server.page(
        "shop.example",
        "/",
        "<title>Form</title><form method=post action=/order><button name=n value=1>Order</button></form>",
    );
    let answer = "<!doctype html><title>Ordered</title><a href=/next>Next</a>";
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: no-store\r\nConnection: close\r\n";
    server.page("shop.example", "/order", &format!("{head}Content-Length: {}\r\n\r\n{answer}", answer.len()));
    server.page("shop.example", "/next", "<title>After</title><p>after</p>");
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (order, seen) = about(&tab, "\"Order\"").await;
    tab.click(&order, &seen).await.expect("ordered");
    let (next, seen) = about(&tab, "\"Next\"").await;
    tab.click(&next, &seen).await.expect("gone on");
    let back = tab.back().await;
    let orders = || server.requests().iter().filter(|it| it.method == "POST").count();
    assert_eq!(orders(), 1, "{back:?}");
    assert!(matches!(back, Err(BridgeError::Refused(_))), "{back:?}");
    assert!(tab.read(&Open).await.expect("text").text.contains("after"));
    browser.close().await;
}
