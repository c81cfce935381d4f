//! The common shapes of forms that a wire supports. The table in `spec/wire.md` states the same.

use crate::support::Received;
use crate::wire::{CARD, FORM, PLACEHOLDER, Stage};
use browser_signals::playwright::WireEnd;

const SUBMITS: &str = "f.onsubmit=(e)=>{e.preventDefault();SEND}";

/// A shape, its page, its script that sends the form, and whether the value arrives.
const SHAPES: [(&str, &str, &str, bool); 14] = [
    ("form", "", "", true),
    ("fetch of FormData", "", "fetch(f.action,{method:'POST',body:new FormData(f)})", true),
    (
        "fetch of URLSearchParams",
        "",
        "fetch(f.action,{method:'POST',body:new URLSearchParams(new FormData(f))})",
        true,
    ),
    (
        "JSON under the control's name",
        "",
        "fetch(f.action,{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify(Object.fromEntries(new FormData(f)))})",
        true,
    ),
    (
        "JSON, nested",
        "",
        "fetch(f.action,{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({payment:{card:c.value}})})",
        true,
    ),
    ("grouped by the page", "c.oninput=()=>c.value=c.value.replace(/(.{4})(?=.)/g,'$1 ')", "", true),
    (
        "checked by Luhn's sum in the page",
        "f.onsubmit=(e)=>{let s=0;[...c.value].reverse().forEach((d,i)=>{d=+d;if(i%2){d*=2;if(d>9)d-=9}s+=d});if(s%10)e.preventDefault()}",
        "",
        true,
    ),
    (
        "JSON under another name",
        "",
        "fetch(f.action,{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({number:c.value})})",
        false,
    ),
    (
        "JSON to another address than the form's",
        "",
        "fetch('/api/pay',{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({card:c.value})})",
        false,
    ),
    ("JSON as text/plain", "", "fetch(f.action,{method:'POST',body:JSON.stringify({card:c.value})})", false),
    (
        "GraphQL variables to the form's address",
        "",
        "fetch(f.action,{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify({query:'mutation($card:String){pay(card:$card)}',variables:{card:c.value}})})",
        true,
    ),
    (
        "encrypted by the page",
        "",
        "crypto.subtle?0:0;fetch(f.action,{method:'POST',body:new URLSearchParams({card:btoa([...c.value].reverse().join(''))})})",
        false,
    ),
    (
        "split into four fields",
        "",
        "fetch(f.action,{method:'POST',body:new URLSearchParams(c.value.match(/.{4}/g).map((x,i)=>['card'+i,x]))})",
        false,
    ),
    (
        "WebSocket",
        "",
        "new WebSocket('ws://shop.example:PORT/pay').onopen=function(){this.send(c.value)}",
        false,
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_of_the_common_shapes() {
    let stage = Stage::new().await;
    for (name, script, send, delivered) in SHAPES {
        let send = if send.is_empty() { String::new() } else { SUBMITS.replace("SEND", send) };
        let before = stage.server.requests().len();
        stage.wired(&format!("{FORM}<script>{script};{send}</script>")).await;
        stage.click("Pay").await;
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let with_card = |all: &[Received]| all.iter().skip(before).any(|it| digits(&it.body).contains(CARD));
        let seen =
            if delivered { stage.server.requests_with(with_card).await } else { stage.server.requests() };
        let arrived = with_card(&seen);
        assert_eq!(arrived, delivered, "{name}");
        let ends = if delivered { stage.ends_once(1).await } else { stage.ends() };
        assert_eq!(ends.contains(&WireEnd::Sent), delivered, "{name}");
        stage.holds_no_card().await;
    }
    assert_eq!(PLACEHOLDER.len(), 16);
    stage.browser.close().await;
}
