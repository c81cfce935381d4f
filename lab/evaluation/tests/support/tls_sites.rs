//! Sites over TLS for a test, and the settings of a browser that trusts them.

use std::path::Path;
use std::sync::Arc;

use evaluation::tls::{Authority, install_nss};
use portcullis::signals::playwright::BrowserSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A request as it arrived.
pub struct Request {
    /// The request line and the headers.
    pub head: String,
    pub body: String,
}

impl Request {
    /// The method and the address of the request line.
    pub fn line(&self) -> (&str, &str) {
        let mut words = self.head.split_whitespace();
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }

    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    }
}

/// Serves these hosts until the test ends. `answer` gives the whole answer to a request; without one the connection is closed. The
/// browser keeps the authority that it trusts in the folder `home`.
pub async fn serve(
    home: &Path,
    hosts: &[&str],
    answer: impl Fn(&Request) -> Option<String> + Send + Sync + 'static,
) -> BrowserSettings {
    let authority = Authority::new().unwrap();
    install_nss(home, authority.pem()).unwrap();
    let acceptor = TlsAcceptor::from(authority.server_config(hosts).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, answer) = (acceptor.clone(), Arc::clone(&answer));
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let Some(request) = read(&mut stream).await else { return };
                let Some(text) = answer(&request) else { return };
                let _gone = stream.write_all(text.as_bytes()).await;
                let _gone = stream.shutdown().await;
            });
        }
    });
    let chromium = evaluation::stage::chromium().expect("run `cargo xtask setup` first");
    let mut settings = BrowserSettings::new(&chromium);
    settings.home = Some(home.to_owned());
    settings.sandbox = evaluation::stage::sandbox();
    let rules = hosts.iter().map(|host| format!("MAP {host}:443 127.0.0.1:{port}"));
    settings.proxy_rules = Some(rules.collect::<Vec<_>>().join(", "));
    settings.private_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    settings
}

async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<Request> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let request = Request { head: head.to_owned(), body: body.to_owned() };
            let length = request.header("content-length").and_then(|length| length.parse().ok());
            if request.body.len() >= length.unwrap_or(0) {
                return Some(request);
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read @ 1..) => bytes.extend_from_slice(buffer.get(..read)?),
            _ => return None,
        }
    }
}
