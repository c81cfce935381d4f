//! A device of the user's: `UserClient` of the crate `ap-client`, at a relay of the crate `ap-proxy`. The WebSocket between them is of the
//! test, since the one of `ap-client` needs OpenSSL.

use std::net::SocketAddr;
use std::sync::Mutex;

use ap_client::{
    ClientError, CredentialData, CredentialQuery, CredentialRequestReply, MemoryConnectionStore,
    MemoryIdentityProvider, ProxyClient, UserClient, UserClientHandle, UserClientRequest,
};
use ap_proxy::server::ProxyServer;
use ap_proxy_client::IncomingMessage;
use ap_proxy_protocol::{IdentityFingerprint, IdentityKeyPair, Messages, RendezvousCode};
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message as Frame;

/// A relay on this machine.
pub async fn relay() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { ProxyServer::new(address).run_with_listener(listener).await });
    address
}

/// A device that listens.
pub struct Device {
    client: UserClient,
}

impl Device {
    /// A device at this relay. It answers each query as `answer` says, `None` being a refusal.
    pub async fn at(
        relay: SocketAddr,
        answer: impl FnMut(&str) -> Option<CredentialData> + Send + 'static,
    ) -> Device {
        Device::through(Wire { relay, out: None, repeats: false, answered: Mutex::default() }, answer).await
    }

    /// A device whose relay sends every earlier answer again before each new one.
    pub async fn repeated_at(
        relay: SocketAddr,
        answer: impl FnMut(&str) -> Option<CredentialData> + Send + 'static,
    ) -> Device {
        Device::through(Wire { relay, out: None, repeats: true, answered: Mutex::default() }, answer).await
    }

    async fn through(
        wire: Wire,
        mut answer: impl FnMut(&str) -> Option<CredentialData> + Send + 'static,
    ) -> Device {
        let UserClientHandle { client, mut notifications, mut requests } = UserClient::connect(
            Box::new(MemoryIdentityProvider::new()),
            Box::new(MemoryConnectionStore::new()),
            Box::new(wire),
            None,
            None,
        )
        .await
        .unwrap();
        tokio::spawn(async move { while notifications.recv().await.is_some() {} });
        tokio::spawn(async move {
            while let Some(request) = requests.recv().await {
                if let UserClientRequest::CredentialRequest { query, reply, .. } = request {
                    let CredentialQuery::Domain(host) = query else { panic!("another query than by host") };
                    let credential = answer(&host);
                    let approved = credential.is_some();
                    let _ = reply.send(CredentialRequestReply { approved, credential, credential_id: None });
                }
            }
        });
        Device { client }
    }

    /// A token for one pairing.
    pub async fn token(&self) -> String {
        self.client.get_psk_token(None, false).await.unwrap()
    }
}

struct Wire {
    relay: SocketAddr,
    out: Option<mpsc::UnboundedSender<Messages>>,
    repeats: bool,
    answered: Mutex<Vec<Vec<u8>>>,
}

impl Wire {
    fn send(&self, message: Messages) -> Result<(), ClientError> {
        let out = self.out.as_ref().ok_or(ClientError::NotInitialized)?;
        out.send(message).map_err(|_| ClientError::ChannelClosed)
    }
}

#[async_trait::async_trait]
impl ProxyClient for Wire {
    async fn connect(
        &mut self,
        key: IdentityKeyPair,
    ) -> Result<mpsc::UnboundedReceiver<IncomingMessage>, ClientError> {
        let tcp = TcpStream::connect(self.relay).await.unwrap();
        let (socket, _) = client_async(format!("ws://{}", self.relay), tcp).await.unwrap();
        let (mut write, mut read) = socket.split();
        let (out, mut from) = mpsc::unbounded_channel::<Messages>();
        let (to, incoming) = mpsc::unbounded_channel();
        self.out = Some(out.clone());
        tokio::spawn(async move {
            while let Some(message) = from.recv().await {
                write.send(Frame::text(serde_json::to_string(&message).unwrap())).await.unwrap();
            }
        });
        let (ready, is_ready) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            let mut ready = Some(ready);
            while let Some(Ok(Frame::Text(text))) = read.next().await {
                match serde_json::from_str(text.as_str()).unwrap() {
                    Messages::AuthChallenge(challenge) => {
                        out.send(Messages::AuthResponse(key.identity(), challenge.sign(&key))).unwrap();
                        ready.take().map(|ready| ready.send(()));
                    }
                    Messages::Send { source: Some(source), destination, payload } => {
                        let _ = to.send(IncomingMessage::Send { source, destination, payload });
                    }
                    _ => {}
                }
            }
        });
        is_ready.await.unwrap();
        Ok(incoming)
    }

    async fn request_rendezvous(&self) -> Result<(), ClientError> {
        self.send(Messages::GetRendezvous)
    }

    async fn request_identity(&self, code: RendezvousCode) -> Result<(), ClientError> {
        self.send(Messages::GetIdentity(code))
    }

    async fn send_to(&self, destination: IdentityFingerprint, payload: Vec<u8>) -> Result<(), ClientError> {
        let mut answered = self.answered.lock().unwrap();
        for earlier in answered.iter().filter(|_| self.repeats) {
            self.send(Messages::Send { source: None, destination, payload: earlier.clone() })?;
        }
        answered.push(payload.clone());
        self.send(Messages::Send { source: None, destination, payload })
    }

    async fn disconnect(&mut self) -> Result<(), ClientError> {
        self.out = None;
        Ok(())
    }
}
