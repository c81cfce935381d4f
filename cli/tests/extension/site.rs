//! `.test` hosts served over https on this machine, under an authority of its own, with a record of all requests.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use evaluation::tls::Authority;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// The pages by host and path, and the received requests.
#[derive(Clone, Default)]
struct Known {
    pages: Arc<Mutex<HashMap<String, String>>>,
    redirects: Arc<Mutex<HashMap<String, String>>>,
    held: watch::Sender<HashSet<String>>,
    sent: Arc<Mutex<Vec<String>>>,
}

pub struct Site {
    known: Known,
    pub authority: Authority,
    pub port: u16,
}

impl Site {
    pub async fn start() -> Site {
        let authority = Authority::new().unwrap();
        let config = authority.server_config(&["shop.test", "evil.test", "bank.test"]).unwrap();
        let acceptor = TlsAcceptor::from(config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let known = Known::default();
        let serving = known.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, known) = (acceptor.clone(), serving.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        answer(stream, known).await;
                    }
                });
            }
        });
        Site { known, authority, port }
    }

    /// Serves a page at `shop.test/path`; in it `PORT` is the port.
    pub fn put(&self, place: &str, html: &str) {
        let html = html.replace("PORT", &self.port.to_string());
        self.known.pages.lock().unwrap().insert(place.to_owned(), html);
    }

    /// Redirects `shop.test/path` to an address.
    pub fn redirect(&self, place: &str, to: &str) {
        self.known.redirects.lock().unwrap().insert(place.to_owned(), to.to_owned());
    }

    /// Delays answers for `shop.test/path` until [`Site::release`].
    pub fn hold(&self, place: &str) {
        self.known.held.send_modify(|held| {
            held.insert(place.to_owned());
        });
    }

    /// Sends the delayed answers for `shop.test/path`.
    pub fn release(&self, place: &str) {
        self.known.held.send_modify(|held| {
            held.remove(place);
        });
    }

    pub fn url(&self, place: &str) -> String {
        let (host, path) = place.split_once('/').unwrap();
        format!("https://{host}:{}/{path}", self.port)
    }

    /// Everything that was sent to a host, line by line.
    pub fn sent_to(&self, host: &str) -> String {
        let sent = self.known.sent.lock().unwrap();
        sent.iter().filter(|one| one.starts_with(host)).cloned().collect::<Vec<_>>().join("\n")
    }
}

/// Answers one request and closes the connection.
async fn answer(mut stream: impl AsyncRead + tokio::io::AsyncWrite + Unpin, known: Known) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let Ok(read) = stream.read(&mut buffer).await else { return };
        if read == 0 {
            return;
        }
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = header(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        if body.len() >= length {
            break (head.to_owned(), body.to_owned());
        }
    };
    let host = header(&head, "host").unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_owned();
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    known.sent.lock().unwrap().push(format!("{host} {path} {body}"));
    let place = format!("{host}{}", path.split('?').next().unwrap_or_default());
    let mut held = known.held.subscribe();
    let _ = held.wait_for(|held| !held.contains(&place)).await;
    let elsewhere = known.redirects.lock().unwrap().get(&place).cloned();
    let (status, header) = match elsewhere {
        Some(to) => ("302 Found", format!("location: {to}\r\n")),
        None if place.ends_with("/nothing") => ("204 No Content", String::new()),
        None => ("200 OK", String::new()),
    };
    let page = known.pages.lock().unwrap().get(&place).cloned();
    let page = page.unwrap_or_else(|| "<!doctype html><title>thanks</title><p>thanks</p>".to_owned());
    let kind = match place.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" => "text/javascript",
        "svg" => "image/svg+xml",
        "xml" => "text/xml",
        "txt" => "text/plain",
        "png" => "image/png",
        "mp4" => "video/mp4",
        "json" => "application/json",
        _ => "text/html; charset=utf-8",
    };
    let response = format!(
        "HTTP/1.1 {status}\r\n{header}content-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn header(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}
