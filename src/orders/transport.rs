//! The way of a call to a shop: through the container's proxy, over TLS, without following a redirect and without cookies.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::{HOST, PROXY_AUTHORIZATION};
use axum::http::{Request, Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use browser_signals::Origin;
use browser_signals::playwright::ContainerProxy;
use checkout_protocols::{Agent, Call, MAX_ANSWER, Method, Reply};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Url;
use zeroize::Zeroizing;

/// How long one call may take, from the connection to the last byte of the answer.
const CALL_WITHIN: Duration = Duration::from_secs(15);

/// Sends calls through one proxy.
pub(crate) struct Transport {
    proxy: SocketAddr,
    credential: Zeroizing<String>,
    tls: Arc<ClientConfig>,
    agent: Arc<Agent>,
}

/// The reply to a call. Its body may repeat the buyer's address, so it is wiped.
pub(crate) struct OwnReply(Option<(u16, Zeroizing<Vec<u8>>)>);

impl OwnReply {
    /// The reply as the protocol reads it.
    pub(crate) fn as_reply(&self) -> Reply<'_> {
        match &self.0 {
            Some((status, body)) => Reply::Answer { status: *status, body },
            None => Reply::Lost,
        }
    }

    /// The body of an answer with this status.
    pub(crate) fn body_of(&self, status: u16) -> Option<&[u8]> {
        self.0.as_ref().filter(|(it, _)| *it == status).map(|(_, body)| body.as_slice())
    }
}

impl Transport {
    /// Through the proxy of a container. `agent` is who calls, and signs every call.
    pub(crate) fn new(proxy: &ContainerProxy, tls: Arc<ClientConfig>, agent: Arc<Agent>) -> Transport {
        let credential = Zeroizing::new(STANDARD.encode(proxy.credential().as_bytes()));
        Transport { proxy: proxy.address(), credential, tls, agent }
    }

    /// Sends a call, and reads the whole answer.
    pub(crate) async fn send(&self, call: &Call) -> OwnReply {
        let mut request = Request::builder().method(match call.method() {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        });
        for (name, value) in call.headers(&self.agent) {
            request = request.header(name, value);
        }
        self.exchange(call.url(), request, call.body().to_vec()).await
    }

    /// Reads what is at an address of a site.
    pub(crate) async fn read(&self, origin: &Origin, path: &str) -> OwnReply {
        let Ok(url) = Url::parse(&format!("{origin}{path}")) else { return OwnReply(None) };
        self.exchange(&url, Request::builder().header("Accept", "application/json"), Vec::new()).await
    }

    async fn exchange(&self, url: &Url, request: axum::http::request::Builder, body: Vec<u8>) -> OwnReply {
        let answered = timeout(CALL_WITHIN, self.over_tls(url, request, body)).await;
        OwnReply(answered.ok().and_then(Result::ok))
    }

    async fn over_tls(
        &self,
        url: &Url,
        request: axum::http::request::Builder,
        body: Vec<u8>,
    ) -> Result<(u16, Zeroizing<Vec<u8>>), Broken> {
        let host = url.host_str().filter(|_| url.scheme() == "https").ok_or(Broken)?;
        let port = url.port_or_known_default().ok_or(Broken)?;
        let tunnel = self.tunnel(&format!("{host}:{port}")).await?;
        let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(name).map_err(|_| Broken)?;
        let stream = TlsConnector::from(Arc::clone(&self.tls)).connect(name, tunnel).await?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let request = request.uri(url.path()).header(HOST, authority).body(Body::from(body));
        let answer = one_exchange(stream, request.map_err(|_| Broken)?).await?;
        let status = answer.status().as_u16();
        let body = to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await.map_err(|_| Broken)?;
        Ok((status, Zeroizing::new(body.to_vec())))
    }

    /// A connection through the proxy, which judges the address and writes down why it refuses one.
    async fn tunnel(&self, to: &str) -> Result<impl AsyncRead + AsyncWrite + Unpin + Send + 'static, Broken> {
        let stream = TcpStream::connect(self.proxy).await?;
        let credential = Zeroizing::new(format!("Basic {}", self.credential.as_str()));
        let request = Request::builder()
            .method("CONNECT")
            .uri(to)
            .header(HOST, to)
            .header(PROXY_AUTHORIZATION, credential.as_str())
            .body(Body::empty());
        let answer = one_exchange(stream, request.map_err(|_| Broken)?).await?;
        if answer.status() != StatusCode::OK {
            return Err(Broken);
        }
        Ok(TokioIo::new(hyper::upgrade::on(answer).await?))
    }
}

/// Sends one request over a connection of its own. The connection lives as long as its answer.
async fn one_exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Body>,
) -> Result<Response<Incoming>, Broken> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    Ok(sender.send_request(request).await?)
}

/// A connection that could not be made, or broke. Why it broke changes nothing: the shop may have carried the call out.
struct Broken;

impl From<std::io::Error> for Broken {
    fn from(_: std::io::Error) -> Broken {
        Broken
    }
}

impl From<hyper::Error> for Broken {
    fn from(_: hyper::Error) -> Broken {
        Broken
    }
}
