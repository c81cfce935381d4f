//! The server by HTTP: MCP's streamable HTTP on the loopback address, for clients with tokens.
//!
//! | module | subject |
//! |---|---|
//! | [`tokens`] | the clients' tokens, and the user's labels for them |
//! | `checks` | which requests are answered |
//! | `client` | the sessions of one client |

mod checks;
mod client;
pub mod tokens;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{Method, Response, StatusCode};
use portcullis::own_ports::OwnPort;
use portcullis::signals::playwright::BrowserSettings;
use rmcp::model::{ClientRequest, JsonRpcMessage, JsonRpcRequest};
use rmcp::transport::StreamableHttpServerConfig;
use tokio::net::TcpListener;

use checks::{Door, PATH, Refused, only};
use client::Client;
use tokens::{ClientLabel, Tokens};

use crate::gateway::Served;
use crate::settings::{GatewayError, GatewaySettings};
use crate::wire::{self, MAX_BYTES, Nesting, Oversized};
use crate::worker::Lasting;

/// The longest time for a request's body to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The longest time for answers after the end. A connection that stays open does not keep the guard from ending.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Listens at an address of this machine.
///
/// # Errors
/// [`GatewayError::NotLoopback`] for an address that others reach, and [`GatewayError::Listen`] if the port is taken.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, GatewayError> {
    if !address.ip().is_loopback() {
        return Err(GatewayError::NotLoopback(address.ip()));
    }
    let failed = |error| GatewayError::Listen { address, error };
    TcpListener::bind(address).await.map_err(failed)
}

/// The state that all requests share.
struct Shared {
    door: Door,
    clients: Vec<Client>,
    browser: BrowserSettings,
    settings: GatewaySettings,
}

/// Serves until `stop` ends. Then all sessions end, with their containers.
pub(crate) fn serve(
    listener: TcpListener,
    tokens: Tokens,
    (lasting, browser, settings): (Lasting, BrowserSettings, GatewaySettings),
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
) -> Served {
    Box::pin(async move {
        let address = listener.local_addr().map_err(|error| GatewayError::Protocol(error.to_string()))?;
        if !address.ip().is_loopback() {
            return Err(GatewayError::NotLoopback(address.ip()));
        }
        // No container reaches this port.
        let _own = OwnPort::register(address.port());
        // The checks of `Host` and `Origin` are the door's, which compares exactly.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(MAX_BYTES);
        let (end_sessions, ending) = (config.cancellation_token.clone(), config.cancellation_token.clone());
        let door = Door::new(address, tokens);
        let client = |label: &ClientLabel| Client::new(label.clone(), &lasting, &settings, config.clone());
        let clients = door.labels().map(client).collect();
        let shared = Arc::new(Shared { door, clients, browser, settings });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let stopped = async move {
            stop.await;
            end_sessions.cancel();
        };
        let ended = async {
            ending.cancelled().await;
            tokio::time::sleep(LAST_ANSWERS).await;
        };
        let served = tokio::select! {
            served = async { axum::serve(listener, router).with_graceful_shutdown(stopped).await } => served,
            () = ended => Ok(()),
        };
        for client in &shared.clients {
            client.is_free().await;
        }
        served.map_err(|error| GatewayError::Listen { address, error })
    })
}

/// Answers a request in a task of its own. When a client disconnects, its request is dropped here, and a session that was about to begin
/// would otherwise be dropped with the guard in its hands.
async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let answered = tokio::spawn(async move { shared.route(request).await.unwrap_or_else(Refused::response) });
    answered.await.unwrap_or_else(|_| {
        let mut failed = Response::new(Body::empty());
        *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        failed
    })
}

impl Shared {
    async fn route(&self, request: Request) -> Result<Response<Body>, Refused> {
        let (mut head, body) = request.into_parts();
        let label = self.door.admit(&head)?;
        let client = self.clients.iter().find(|client| client.label() == label).ok_or(Refused::Token)?;
        if head.uri.path() != PATH {
            return Err(Refused::Path);
        }
        let session = head.headers.contains_key(&SESSION);
        if session && !client.has(only(&head.headers, &SESSION).unwrap_or_default()).await {
            return Err(Refused::Session);
        }
        // The token goes no further.
        head.headers.remove(header::AUTHORIZATION);
        if head.method != Method::POST {
            return Ok(client.answer(Request::from_parts(head, Body::empty())).await);
        }
        let bytes = read(body).await?;
        let message =
            wire::parse(&bytes).map_err(|answer| Refused::Message(StatusCode::BAD_REQUEST, answer))?;
        let begins = !session
            && matches!(
                &message,
                Some(JsonRpcMessage::Request(JsonRpcRequest {
                    request: ClientRequest::InitializeRequest(_),
                    ..
                }))
            );
        let request = Request::from_parts(head, Body::from(bytes));
        if !begins {
            return Ok(client.answer(request).await);
        }
        let begun = client.begin(request, &self.browser, &self.settings).await;
        begun.map_err(|error| Refused::NotBegun(error.to_string()))
    }
}

/// Reads a body until it is too long or too deep.
async fn read(mut body: Body) -> Result<Vec<u8>, Refused> {
    let oversized = |oversized: Oversized| {
        let status = match oversized {
            Oversized::Long => StatusCode::PAYLOAD_TOO_LARGE,
            Oversized::Deep => StatusCode::BAD_REQUEST,
        };
        Refused::Message(status, oversized.answer())
    };
    let (mut bytes, mut nesting) = (Vec::new(), Nesting::default());
    let all = async {
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let Ok(part) = frame.map_err(|_| Refused::Body)?.into_data() else { continue };
            if bytes.len() + part.len() > MAX_BYTES {
                return Err(oversized(Oversized::Long));
            }
            nesting.read(&part).map_err(oversized)?;
            bytes.extend_from_slice(&part);
        }
        Ok(())
    };
    tokio::time::timeout(BODY_TIME, all).await.map_err(|_| Refused::Body)??;
    Ok(bytes)
}
