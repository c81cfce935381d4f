//! The web socket that the second program connects to.
//!
//! A page of any site can open web sockets to this machine. It is refused: its requests have an `Origin`, it does not
//! know the path, and with another name for this machine the `Host` differs.

use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};
use zeroize::Zeroizing;

use super::relay::RelayEvent;

/// The longest message of the second program's.
const LONGEST: usize = 16 << 20;

/// The longest time that a client may take for its handshake.
const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// The pause after a connection that could not be accepted.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

/// The most clients without a handshake. A further one replaces the one that has been silent for longest.
const MOST_PENDING: usize = 64;

/// The unguessable path, from 32 random bytes.
pub(super) fn path(secret: &[u8; 32]) -> Zeroizing<String> {
    let mut path = Zeroizing::new(String::with_capacity(65));
    path.push('/');
    for byte in secret {
        for half in [byte >> 4, byte & 15] {
            path.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    path
}

/// Listens on a free port of the loopback address, for one client after the other. Returns the address.
pub(super) async fn listen(
    path: Zeroizing<String>,
    relay: mpsc::UnboundedSender<RelayEvent>,
) -> io::Result<Zeroizing<String>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let host = listener.local_addr()?.to_string();
    let address = Zeroizing::new(format!("ws://{host}{}", path.as_str()));
    let (admitted, mut waiting) = mpsc::channel(1);
    let knock = Arc::new((host, path));
    tokio::spawn(async move {
        let mut pending: VecDeque<JoinHandle<()>> = VecDeque::new();
        while !admitted.is_closed() {
            let Ok((stream, _)) = listener.accept().await else {
                // The connection broke, or no file descriptor is free: try the next one.
                tokio::time::sleep(BETWEEN_ATTEMPTS).await;
                continue;
            };
            // A silent client keeps no other out: handshakes run at the same time, and the oldest is dropped.
            pending.retain(|client| !client.is_finished());
            if pending.len() >= MOST_PENDING
                && let Some(longest) = pending.pop_front()
            {
                longest.abort();
            }
            let (knock, admitted) = (Arc::clone(&knock), admitted.clone());
            pending.push_back(tokio::spawn(async move {
                if let Some(socket) = admit(stream, &knock.0, &knock.1).await {
                    // After its handshake it may wait as long as it needs to.
                    tokio::spawn(async move {
                        let _browser_gone = admitted.send(socket).await;
                    });
                }
            }));
        }
    });
    tokio::spawn(async move {
        // One client at a time: a second one waits until the first is gone.
        while let Some(socket) = waiting.recv().await {
            if serve(socket, &relay).await.is_none() {
                return;
            }
        }
    });
    Ok(address)
}

/// The web socket of a client that knows the address; any other client is refused.
async fn admit(stream: TcpStream, host: &str, path: &str) -> Option<WebSocketStream<TcpStream>> {
    let _nagle_stays = stream.set_nodelay(true);
    let config = WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST));
    #[expect(clippy::result_large_err, reason = "the type is tungstenite's")]
    let judge = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        if is_ours(request, host, path) { Ok(response) } else { Err(nothing_here()) }
    };
    let handshake = accept_hdr_async_with_config(stream, judge, Some(config));
    tokio::time::timeout(HELLO_WITHIN, handshake).await.ok()?.ok()
}

/// Serves one connection to its end; none where the relay is gone.
async fn serve(socket: WebSocketStream<TcpStream>, relay: &mpsc::UnboundedSender<RelayEvent>) -> Option<()> {
    let (mut out, mut from) = socket.split();
    let (send, mut queued) = mpsc::unbounded_channel::<String>();
    relay.send(RelayEvent::Connected(send)).ok()?;
    loop {
        tokio::select! {
            message = queued.recv() => {
                // The relay drops its client when the browser is gone.
                let Some(message) = message else { break };
                if out.send(Message::text(message)).await.is_err() {
                    break;
                }
            }
            message = from.next() => match message {
                Some(Ok(Message::Text(text))) => relay.send(RelayEvent::Received(text.to_string())).ok()?,
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
        }
    }
    relay.send(RelayEvent::Gone).ok()
}

fn is_ours(request: &Request, host: &str, path: &str) -> bool {
    let header = |name: &str| request.headers().get_all(name).iter().collect::<Vec<_>>();
    let hosts = header("host");
    header("origin").is_empty()
        && hosts.len() == 1
        && hosts.iter().all(|given| given.as_bytes() == host.as_bytes())
        && request.uri().query().is_none()
        && same(request.uri().path(), path)
}

/// Compares in a time that does not reveal how much of a guess was right.
fn same(guess: &str, path: &str) -> bool {
    let differences = guess.bytes().zip(path.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    guess.len() == path.len() && differences == 0
}

fn nothing_here() -> ErrorResponse {
    let mut response = ErrorResponse::new(None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn request(host: &str, path: &str, origin: Option<&str>) -> Request {
        let mut request = Request::builder().uri(path).header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn only_the_second_program_gets_in() {
        let (host, path) = ("127.0.0.1:4000", path(&[0x5a; 32]));
        assert_eq!(path.len(), 65);
        assert!(is_ours(&request(host, &path, None), host, &path));
        assert!(!is_ours(&request("localhost:4000", &path, None), host, &path));
        assert!(!is_ours(&request("evil.example:4000", &path, None), host, &path));
        assert!(!is_ours(&request(host, "/devtools/browser", None), host, &path));
        assert!(!is_ours(&request(host, "/", None), host, &path));
        assert!(!is_ours(&request(host, &format!("{}?x", path.as_str()), None), host, &path));
        assert!(!is_ours(&request(host, &path, Some("https://evil.example")), host, &path));
        assert!(!is_ours(&request(host, &path, Some("null")), host, &path));
    }

    /// The server's answer to a handshake.
    async fn knock(at: &str, path: &str, more: &str) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = TcpStream::connect(at).await.unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 256];
        let length = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(answer.get(..length).unwrap()).into_owned()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn silent_and_refused_clients_keep_no_other_out() {
        let (relay, mut heard) = mpsc::unbounded_channel();
        let address = listen(path(&[7; 32]), relay).await.unwrap();
        let url: url::Url = address.parse().unwrap();
        let at = format!("127.0.0.1:{}", url.port().unwrap());
        let mut silent = Vec::new();
        for _ in 0..3 * MOST_PENDING {
            silent.push(TcpStream::connect(&at).await.unwrap());
        }
        for (path, more) in [("/", ""), (url.path(), "Origin: https://evil.example\r\n")] {
            let refused = knock(&at, path, more).await;
            assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
        }
        assert!(heard.try_recv().is_err());
        let admitted = knock(&at, url.path(), "").await;
        assert!(admitted.starts_with("HTTP/1.1 101"), "{admitted}");
        assert!(matches!(heard.recv().await, Some(RelayEvent::Connected(_))));
    }
}
