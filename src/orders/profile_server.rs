//! The server of the guard's profile, on a loopback address. Shops on the same machine fetch it from there; for others, whoever runs the
//! guard serves the same text at a public address.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use checkout_protocols::PROFILE_PATH;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use crate::system::loopback::Address;
use crate::system::own_ports::OwnPort;

/// Serves one profile until it is dropped.
pub struct ProfileServer {
    url: Url,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
    _own_port: OwnPort,
}

struct Shared {
    address: Address,
    published: Mutex<Option<String>>,
}

impl ProfileServer {
    /// Listens on a free port of the loopback address. It must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Those of opening a port.
    pub async fn start() -> io::Result<ProfileServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { address: Address::new(port), published: Mutex::default() });
        let url = format!("{}{PROFILE_PATH}", shared.address.origin()).parse().map_err(io::Error::other)?;
        let router = Router::new().route(PROFILE_PATH, get(answer)).with_state(Arc::clone(&shared));
        let (_stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        tokio::spawn(async move { serving.await });
        Ok(ProfileServer { url, shared, _stop, _own_port: OwnPort::register(port) })
    }

    /// The address of the profile, for [`OrderDesk::new`](super::OrderDesk::new).
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Serves this profile from now on, as [`OrderDesk::profile`](super::OrderDesk::profile) gives it.
    pub fn publish(&self, profile: &Value) {
        *self.shared.published.lock().unwrap_or_else(PoisonError::into_inner) = Some(profile.to_string());
    }
}

/// Answers a call that names this server. A page whose host's address was changed to this one names another.
async fn answer(State(shared): State<Arc<Shared>>, head: Parts) -> Response {
    if !shared.address.is_of(&head) {
        return StatusCode::MISDIRECTED_REQUEST.into_response();
    }
    match shared.published.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        Some(profile) => ([(CONTENT_TYPE, "application/json")], profile).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    async fn fetched(url: &Url) -> String {
        fetched_as(url, &format!("127.0.0.1:{}", url.port().unwrap())).await
    }

    async fn fetched_as(url: &Url, host: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).await.unwrap();
        let request = format!("GET {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", url.path());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_published_profile_is_served_until_the_end() {
        let server = ProfileServer::start().await.unwrap();
        let url = server.url().clone();
        assert!(fetched(&url).await.starts_with("HTTP/1.1 404"), "nothing is published yet");
        server.publish(&json!({"signing_keys": []}));
        let answer = fetched(&url).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("{\"signing_keys\":[]}"), "{answer}");
        for host in ["rebound.example", "127.0.0.1", "localhost", "rebound.example:1"] {
            assert!(fetched_as(&url, host).await.starts_with("HTTP/1.1 421"), "{host}");
        }
        let other = url.join("/other").unwrap();
        assert!(fetched(&other).await.starts_with("HTTP/1.1 404"));
    }
}
