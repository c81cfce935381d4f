//! Dragging: what a page moves itself, what it lets the browser drag, and what a drag never does.

use browser_signals::Container;
use browser_signals::playwright::BridgeError;

use crate::support::{Open, Server, about, launch, launch_with, ref_of, settings, tab, text_with};

/// A card that follows the mouse, one that the browser drags, a link, and places that say what they got. The last place is below
/// the window's edge.
const BOARD: &str = r#"<!doctype html><title>Board</title><style>
[role=button] { width: 120px; height: 40px; display: inline-block } [role=region] { width: 300px; height: 80px }</style>
<div role=button id=moved tabindex=0>Moved</div>
<div role=button draggable=true ondragstart="event.dataTransfer.setData('text/plain', 'card 7')">Draggable</div>
<a href="/elsewhere">Link</a>
<div role=region aria-label=Place tabindex=0 ondragover="event.preventDefault()"
  ondrop="event.preventDefault(); say('dropped ' + event.dataTransfer.getData('text/plain'))">Here</div>
<div role=region aria-label=Half tabindex=0 ondragover="event.preventDefault()" ondrop="say('took it')">Half</div>
<div style="height:420px"></div>
<div role=region aria-label=Low tabindex=0>Below</div>
<p id=log></p>
<script>
const say = (words) => { log.textContent += words + '; '; };
addEventListener('click', () => say('clicked'));
addEventListener('dragend', () => say('dragend'));
let held = false, steps = 0;
moved.onmousedown = (event) => { held = true; event.preventDefault(); };
addEventListener('mousemove', () => { steps += held; });
addEventListener('mouseup', (event) => { if (held) say('moved to ' + event.target.textContent + (steps > 3 ? ' in steps' : '')); held = false; });
</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_gets_the_events_of_a_drag() {
    let server = Server::start();
    server.page("shop.example", "/", BOARD);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    for (dragged, onto, heard) in [
        ("\"Moved\"", "\"Place\"", "moved to Here in steps;"),
        ("\"Moved\"", "\"Low\"", "moved to Below in steps;"),
        ("\"Draggable\"", "\"Place\"", "dropped card 7;"),
    ] {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (card, seen) = about(&tab, dragged).await;
        let place = ref_of(&tab.read(&Open).await.expect("text").text, onto);
        tab.drag(&card, &place, &seen).await.expect("dragged");
        let text = text_with(&tab, heard).await;
        assert!(text.contains(heard) && !text.contains("clicked"), "{text}");
    }
    // A click still clicks: the listeners and the interception of the drag are gone.
    let (card, seen) = about(&tab, "\"Moved\"").await;
    tab.click(&card, &seen).await.expect("clicked");
    assert!(text_with(&tab, "clicked;").await.contains("clicked;"));
    // A link that is dropped opens nothing, whether the page takes it or not.
    for (onto, heard) in
        [("\"Place\"", "/elsewhere; dragend;"), ("\"Half\"", "took it; dragend;"), ("\"Low\"", "\"dragend;")]
    {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (link, seen) = about(&tab, "\"Link\"").await;
        let place = ref_of(&tab.read(&Open).await.expect("text").text, onto);
        tab.drag(&link, &place, &seen).await.expect("dragged");
        let text = text_with(&tab, heard).await;
        assert!(text.contains(heard), "{onto}: {text}");
        assert!(!server.requests().iter().any(|it| it.path == "/elsewhere"), "{onto}");
    }
    browser.close().await;
}

/// Two parts of one button that sends a form, a box that takes text, and a frame.
const FORM: &str = r#"<!doctype html><title>Form</title>
<form method=post action="/send"><button style="width:300px;height:60px"><i role=img aria-label=One>one</i>
<i role=img aria-label=Two>two</i></button></form>
<div role=button tabindex=0 draggable=true ondragstart="event.dataTransfer.setData('text/plain', 'dragged')">Source</div>
<input aria-label=Box><div contenteditable role=textbox aria-label=Editable>old words</div>
<iframe srcdoc="<button>Inner</button>"></iframe>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drag_sends_no_form_puts_no_text_into_a_control_and_enters_no_frame() {
    let server = Server::start();
    server.page("shop.example", "/", FORM);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    // The browser clicks what holds both ends of a drag, here the button.
    let (one, seen) = about(&tab, "\"One\"").await;
    let text = tab.read(&Open).await.expect("text").text;
    let ended = tab.drag(&one, &ref_of(&text, "\"Two\""), &seen).await;
    assert_eq!(ended, Ok(()));
    let (source, seen) = about(&tab, "\"Source\"").await;
    for onto in ["\"Box\"", "\"Editable\"", "\"Inner\""] {
        let onto = ref_of(&tab.read(&Open).await.expect("text").text, onto);
        assert_eq!(tab.drag(&source, &onto, &seen).await, Err(BridgeError::NotApplicable));
    }
    let (editable, seen) = about(&tab, "\"Editable\"").await;
    assert_eq!(tab.drag(&editable, &source, &seen).await, Err(BridgeError::NotApplicable));
    assert!(!server.requests().iter().any(|it| it.path == "/send"));
    assert!(tab.read(&Open).await.expect("text").text.contains("\"Box\" [ref=e"), "the page is still there");
    // The control: a click on the same button sends the form.
    let (one, seen) = about(&tab, "\"One\"").await;
    tab.click(&one, &seen).await.expect("clicked");
    let sent = server.requests_with(|all| all.iter().any(|it| it.path == "/send")).await;
    assert!(sent.iter().any(|it| it.path == "/send"));
    browser.close().await;
}

/// A page that puts a box under what is dragged as soon as the drag begins, and a button under the mouse as soon as it moves.
const TRAPS: &str = r#"<!doctype html><title>Traps</title><style>body { margin: 0 }
#cover { position: fixed; inset: 0; width: 100%; height: 100%; display: none; z-index: 9 }</style>
<div role=button id=source tabindex=0 draggable=true ondragstart="WHEN_DRAGGED" onmousedown="WHEN_PRESSED">Source</div>
<div role=region aria-label=Place tabindex=0 style="height:100px" ondragover="event.preventDefault()">Here</div>
<COVER id=cover oninput="fetch('/typed')" onclick="fetch('/clicked')">"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_cannot_put_another_element_under_a_drag() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    let show = "document.getElementById('cover').style.display = 'block'";
    let put = format!("event.dataTransfer.setData('text/plain', 'dragged'); setTimeout(() => {{ {show} }})");
    for (cover, dragged, pressed) in
        [("textarea", put.as_str(), ""), ("button", "event.preventDefault()", show)]
    {
        let page =
            TRAPS.replace("COVER", cover).replace("WHEN_DRAGGED", dragged).replace("WHEN_PRESSED", pressed);
        server.page("shop.example", "/", &page);
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (source, seen) = about(&tab, "\"Source\"").await;
        let place = ref_of(&tab.read(&Open).await.expect("text").text, "\"Place\"");
        let ended = tab.drag(&source, &place, &seen).await;
        tab.wait(100).await;
        let reached = server.requests().iter().any(|it| it.path == "/typed" || it.path == "/clicked");
        assert!(!reached, "{cover}: {ended:?}");
        if cover == "textarea" {
            assert_eq!(ended, Err(BridgeError::Occluded));
        }
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drag_within_a_frame_of_another_site_stays_in_it() {
    let server = Server::start();
    server.page("pay.example", "/", BOARD);
    let frame = server.url("pay.example", "/");
    let page = format!(
        "<!doctype html><title>Page</title><p>Above</p><iframe width=600 height=500 src='{frame}'></iframe>"
    );
    server.page("shop.example", "/", &page);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    for (dragged, heard) in [("\"Moved\"", "moved to Here in steps;"), ("\"Draggable\"", "dropped card 7;")] {
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (card, seen) = about(&tab, dragged).await;
        let place = ref_of(&tab.read(&Open).await.expect("text").text, "\"Place\"");
        tab.drag(&card, &place, &seen).await.expect("dragged");
        let text = text_with(&tab, heard).await;
        assert!(text.contains(heard), "{text}");
    }
    browser.close().await;
}

/// A page that puts a box of another site's frame under what is dragged as soon as the drag begins.
const LURE: &str = r#"<!doctype html><title>Lure</title><style>body { margin: 0 }
iframe { position: fixed; inset: 0; width: 100%; height: 100%; border: 0; z-index: 9; visibility: hidden }</style>
<div role=button tabindex=0 draggable=true
  ondragstart="event.dataTransfer.setData('text/plain', 'pay Mallory'); document.querySelector('iframe').style.visibility = 'visible'">Source</div>
<div role=region aria-label=Place tabindex=0 style="height:100px" ondragover="event.preventDefault()">Here</div>
<iframe src="FRAME"></iframe>"#;

/// The frame: a box as large as it is.
const VICTIM: &str = r#"<!doctype html><title>Victim</title><style>body { margin: 0 }</style>
<textarea aria-label=Note style="width:100vw;height:100vh" oninput="fetch('/typed')"></textarea>"#;

/// Chromium gives such a drop to a frame in the page's process alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_cannot_have_text_dragged_into_another_frame() {
    let server = Server::start();
    server.page("pay.example", "/frame", VICTIM);
    server.page("shop.example", "/frame", VICTIM);
    let mut settings = settings(&server);
    settings.private_hosts.push("shop.example:8080".to_owned());
    let browser = launch_with(settings).await;
    let tab = tab(&browser, &server, Container::T1).await;
    let near = "http://shop.example:8080/frame".parse().expect("an address");
    let frames = [server.url("pay.example", "/frame"), server.url("shop.example", "/frame"), near];
    for (frame, is_reached) in frames.iter().zip([false, true, false]) {
        server.page("shop.example", "/", &LURE.replace("FRAME", frame.as_str()));
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        let (source, seen) = about(&tab, "\"Source\"").await;
        let place = ref_of(&tab.read(&Open).await.expect("text").text, "\"Place\"");
        let ended = tab.drag(&source, &place, &seen).await;
        tab.wait(100).await;
        assert!(!server.requests().iter().any(|it| it.path == "/typed"), "{frame}: {ended:?}");
        assert!(!is_reached || ended == Err(BridgeError::Occluded), "{frame}: {ended:?}");
    }
    // A frame that the page adds after the drag began has no listeners of the guard's.
    let hidden = "document.querySelector('iframe').style.visibility = 'visible'";
    let added = format!(
        "const added = document.createElement('iframe'); added.src = '{}'; added.style.visibility = 'visible'; document.body.append(added)",
        frames[1]
    );
    server.page("shop.example", "/", &LURE.replace(hidden, &added).replace("FRAME", "about:blank"));
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let (source, seen) = about(&tab, "\"Source\"").await;
    let place = ref_of(&tab.read(&Open).await.expect("text").text, "\"Place\"");
    let ended = tab.drag(&source, &place, &seen).await;
    tab.wait(100).await;
    assert!(!server.requests().iter().any(|it| it.path == "/typed"), "{ended:?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_ends_a_drag_and_the_page_goes_on() {
    let server = Server::start();
    for event in ["pointerdown", "mouseup", "dragstart", "drop"] {
        let html = BOARD.replace(
            "let held = false",
            &format!("addEventListener('{event}', () => alert('Here'), {{ once: true }});\nlet held = false"),
        );
        server.page("shop.example", &format!("/{event}"), &html);
    }
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    tab.let_dialogs_wait(true);
    for (event, dragged) in [
        ("pointerdown", "\"Moved\""),
        ("mouseup", "\"Moved\""),
        ("dragstart", "\"Draggable\""),
        ("drop", "\"Draggable\""),
    ] {
        tab.open(&server.url("shop.example", &format!("/{event}"))).await.expect("the page opens");
        let (card, seen) = about(&tab, dragged).await;
        let place = ref_of(&tab.read(&Open).await.expect("text").text, "\"Place\"");
        let ended = tab.drag(&card, &place, &seen).await;
        // Chromium shows no dialog while it drags.
        if tab.dialog().is_some() {
            assert_eq!(ended, Err(BridgeError::DialogOpen), "{event}");
            tab.answer_dialog(true, None).await.expect("answered");
        }
        let text = tab.read(&Open).await.expect("text").text;
        assert!(!text.contains("clicked"), "{event}: {text}");
        let (card, seen) = about(&tab, "\"Moved\"").await;
        tab.drag(&card, &place, &seen).await.expect("dragged");
        let text = text_with(&tab, "moved to Here in steps;").await;
        assert!(text.contains("moved to Here in steps;") && !text.contains("clicked"), "{event}: {text}");
        tab.click(&card, &seen).await.expect("clicked");
        assert!(text_with(&tab, "clicked;").await.contains("clicked;"), "{event}");
    }
    browser.close().await;
}
