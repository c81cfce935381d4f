//! Which requests are answered.
//!
//! Every page can send requests to a port of this machine, and an attacker can point a name of theirs at it. So a request
//! names the listener's own address as its `Host`, comes from no other origin, and has a client's token, which no page knows.

use std::net::SocketAddr;

use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;

use super::tokens::{ClientLabel, Tokens};

/// The path of the server.
pub const PATH: &str = "/mcp";

/// Why a request is not answered.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It names another host.
    #[error("the `Host` of a request has to be the address of this server with its port; use {0}")]
    Host(String),
    /// A page of another origin sent it.
    #[error("pages of other origins cannot use this server; send no `Origin`, or the address of this server")]
    Origin,
    /// It has no token of a client.
    #[error("send `Authorization: Bearer TOKEN` with a token of the file of tokens")]
    Token,
    /// It names a session that has ended, that never was, or that another client began.
    #[error("you have no such session; begin one with `initialize`")]
    Session,
    /// It has another path.
    #[error("there is nothing here; the server is at /mcp")]
    Path,
    /// The body did not arrive.
    #[error("the body of the request did not arrive; send it again")]
    Body,
    /// The body is too long or too deep, or no message.
    #[error("the body of the request is not a message of the protocol")]
    Message(StatusCode, Box<TxJsonRpcMessage<RoleServer>>),
    /// The session cannot begin.
    #[error("{0}")]
    NotBegun(String),
}

impl Refused {
    /// The response: an error of JSON-RPC, without the number of a request.
    pub fn response(self) -> Response<Body> {
        let status = match &self {
            Refused::Host(_) | Refused::Origin => StatusCode::FORBIDDEN,
            Refused::Token => StatusCode::UNAUTHORIZED,
            Refused::Session | Refused::Path => StatusCode::NOT_FOUND,
            Refused::Body => StatusCode::REQUEST_TIMEOUT,
            Refused::Message(status, _) => *status,
            Refused::NotBegun(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let challenge = matches!(self, Refused::Token);
        let message = match self {
            Refused::Message(_, message) => *message,
            other => JsonRpcMessage::error(ErrorData::invalid_request(other.to_string(), None), None),
        };
        let body = serde_json::to_vec(&message).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if challenge {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The listener's own addresses, and the tokens of its clients.
pub struct Door {
    hosts: [String; 2],
    origins: [String; 2],
    tokens: Tokens,
}

impl Door {
    pub fn new(address: SocketAddr, tokens: Tokens) -> Door {
        let hosts = [address.to_string(), format!("localhost:{}", address.port())];
        let origins = hosts.each_ref().map(|host| format!("http://{host}"));
        Door { hosts, origins, tokens }
    }

    /// The client that sent a request.
    ///
    /// # Errors
    /// [`Refused`] if the request names another host or comes from another origin, or has no token.
    pub fn admit(&self, head: &Parts) -> Result<&ClientLabel, Refused> {
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        if head.uri.authority().is_some() || !only(&head.headers, &header::HOST).is_some_and(is_own) {
            return Err(Refused::Host(self.hosts.join(" or ")));
        }
        if head.headers.contains_key(header::ORIGIN) {
            let is_own = |origin: &str| self.origins.iter().any(|own| own == origin);
            only(&head.headers, &header::ORIGIN).filter(|origin| is_own(origin)).ok_or(Refused::Origin)?;
        }
        let sent = only(&head.headers, &header::AUTHORIZATION).and_then(|sent| sent.split_once(' '));
        let token = sent.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token);
        token.and_then(|token| self.tokens.client(token)).ok_or(Refused::Token)
    }

    /// The labels of all clients.
    pub fn labels(&self) -> impl Iterator<Item = &ClientLabel> {
        self.tokens.labels()
    }
}

/// The value of a header that occurs exactly once.
pub fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}
