//! The relay: a WebSocket that carries sealed messages between known keys.

use std::str::FromStr;
use std::sync::Arc;

use ap_proxy_protocol::{IdentityFingerprint, IdentityKeyPair, Messages};
use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use url::{Host, Url};

use super::AgentAccessError;
use super::message::Message;

/// The most bytes of a frame. The protocol writes each byte of a message as a number in JSON.
const LONGEST: usize = 1 << 20;

/// The address of a relay: by TLS, or without it on this machine alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayAddress(Url);

impl FromStr for RelayAddress {
    type Err = AgentAccessError;

    fn from_str(text: &str) -> Result<RelayAddress, AgentAccessError> {
        let url = Url::parse(text).map_err(|_| AgentAccessError::BadRelay)?;
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(AgentAccessError::BadRelay),
        };
        let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let fits = is_plain && (url.scheme() == "wss" || url.scheme() == "ws" && is_here);
        if fits { Ok(RelayAddress(url)) } else { Err(AgentAccessError::BadRelay) }
    }
}

impl RelayAddress {
    /// The address as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    async fn open(&self) -> Result<Box<dyn Stream>, AgentAccessError> {
        let host = self.0.host_str().ok_or(AgentAccessError::BadRelay)?;
        let port = self.0.port_or_known_default().ok_or(AgentAccessError::BadRelay)?;
        // An address of the sixth version stands in brackets in a URL, and without them everywhere else.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let tcp = TcpStream::connect((host, port)).await.map_err(|_| AgentAccessError::Unreachable)?;
        if self.0.scheme() == "ws" {
            return Ok(Box::new(tcp));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|_| AgentAccessError::BadRelay)?;
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|_| AgentAccessError::Unreachable)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tls = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        Ok(Box::new(tls.map_err(|_| AgentAccessError::Unreachable)?))
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection to a relay, for messages with one device.
pub(super) struct Relay {
    socket: WebSocketStream<Box<dyn Stream>>,
    device: IdentityFingerprint,
}

impl Relay {
    /// Connects, and proves the guard's key to the relay.
    pub(super) async fn connect(
        address: &RelayAddress,
        key: &IdentityKeyPair,
        device: IdentityFingerprint,
    ) -> Result<Relay, AgentAccessError> {
        let limits = WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST));
        let opened = client_async_with_config(address.as_str(), address.open().await?, Some(limits)).await;
        let (socket, _) = opened.map_err(|_| AgentAccessError::Relay)?;
        let mut relay = Relay { socket, device };
        let Messages::AuthChallenge(challenge) = relay.next().await? else {
            return Err(AgentAccessError::Relay);
        };
        relay.write(&Messages::AuthResponse(key.identity(), challenge.sign(key))).await?;
        Ok(relay)
    }

    /// Sends a message to the device.
    pub(super) async fn send(&mut self, message: &Message) -> Result<(), AgentAccessError> {
        let payload = serde_json::to_vec(message).map_err(|_| AgentAccessError::Relay)?;
        self.write(&Messages::Send { source: None, destination: self.device, payload }).await
    }

    /// Waits for the device's next message. What others send, and what is no message, is passed over.
    pub(super) async fn receive(&mut self) -> Result<Message, AgentAccessError> {
        loop {
            if let Messages::Send { source: Some(source), payload, .. } = self.next().await?
                && source == self.device
                && let Ok(message) = serde_json::from_slice(&payload)
            {
                return Ok(message);
            }
        }
    }

    async fn write(&mut self, message: &Messages) -> Result<(), AgentAccessError> {
        let text = serde_json::to_string(message).map_err(|_| AgentAccessError::Relay)?;
        self.socket.send(Frame::text(text)).await.map_err(|_| AgentAccessError::Relay)
    }

    async fn next(&mut self) -> Result<Messages, AgentAccessError> {
        loop {
            let frame = self.socket.next().await.ok_or(AgentAccessError::Relay)?;
            match frame.map_err(|_| AgentAccessError::Relay)? {
                Frame::Text(text) => {
                    return serde_json::from_str(text.as_str()).map_err(|_| AgentAccessError::Relay);
                }
                Frame::Ping(_) | Frame::Pong(_) => {}
                _ => return Err(AgentAccessError::Relay),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RelayAddress;

    #[test]
    fn a_relay_elsewhere_is_reached_by_tls_alone() {
        for address in [
            "wss://relay.example",
            "wss://relay.example:8443/a",
            "ws://127.0.0.1:8080",
            "ws://[::1]:1",
            "ws://localhost",
        ] {
            assert!(address.parse::<RelayAddress>().is_ok(), "{address}");
        }
        for address in [
            "",
            "relay.example",
            "ws://relay.example",
            "https://relay.example",
            "wss://",
            "wss://a:b@relay.example",
        ] {
            assert!(address.parse::<RelayAddress>().is_err(), "{address}");
        }
    }
}
