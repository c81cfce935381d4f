//! The pairing with a device, and what the vault keeps of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ap_noise::{HandshakePacket, InitiatorHandshake, MultiDeviceTransport, Psk, TransportPacket};
use ap_proxy_protocol::{IdentityFingerprint, IdentityKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::AgentAccessError;
use super::message::{Message, Query, Request, Response};
use super::relay::{Relay, RelayAddress};

/// The mark of the stored form, with its version.
const MARK: &str = "agent-access-1";

/// The length of a token: a key and a fingerprint of 32 bytes each in hexadecimal digits, with `_` between them.
const TOKEN: usize = 129;

/// A connection with a device of the user's: the relay's address, the guard's own key, the device's fingerprint and the key of the session.
/// It cannot be printed, cloned or serialised.
pub struct Connection {
    relay: RelayAddress,
    key: IdentityKeyPair,
    device: IdentityFingerprint,
    /// The state of the session. It is opened anew for each request, so that a relay which sends wrong messages spoils nothing.
    session: Zeroizing<Vec<u8>>,
}

impl Connection {
    /// Pairs with the device that showed this token, within `limit`. The token is good for one pairing, unless the user made a reusable one.
    ///
    /// # Errors
    /// [`AgentAccessError`].
    pub async fn pair(
        relay: RelayAddress,
        token: &str,
        limit: Duration,
    ) -> Result<Connection, AgentAccessError> {
        let (shared, device) = read_token(token).ok_or(AgentAccessError::BadToken)?;
        let key = IdentityKeyPair::generate();
        let paired = tokio::time::timeout(limit, session(&relay, &key, device, shared)).await;
        let session = paired.map_err(|_| AgentAccessError::TimedOut)??;
        Ok(Connection { relay, key, device, session })
    }

    /// The relay's address.
    pub const fn relay(&self) -> &RelayAddress {
        &self.relay
    }

    /// The fingerprint of the device's key, in hexadecimal digits.
    pub fn device(&self) -> String {
        self.device.to_hex()
    }

    /// The connection as lines of text, to be stored in the vault as [`vault::StateName::AgentAccess`].
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let own = Zeroizing::new(self.key.to_cose());
        let [own, session] =
            [own.as_slice(), self.session.as_slice()].map(|bytes| Zeroizing::new(STANDARD.encode(bytes)));
        let parts = [MARK, self.relay.as_str(), &self.device.to_hex(), &own, &session];
        // The room is there from the start, so that no copy stays behind.
        let length = parts.iter().map(|part| part.len() + 1).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(length));
        for part in parts {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(b'\n');
        }
        bytes
    }

    /// Reads the bytes of [`Connection::to_bytes`].
    ///
    /// # Errors
    /// [`AgentAccessError::NotAConnection`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Connection, AgentAccessError> {
        Connection::read(bytes).ok_or(AgentAccessError::NotAConnection)
    }

    fn read(bytes: &[u8]) -> Option<Connection> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        let mut line = || lines.next();
        if line()? != MARK {
            return None;
        }
        let relay = line()?.parse().ok()?;
        let device = IdentityFingerprint::from_hex(line()?).ok()?;
        let own = Zeroizing::new(STANDARD.decode(line()?).ok()?);
        let session = Zeroizing::new(STANDARD.decode(line()?).ok()?);
        MultiDeviceTransport::restore_state(&session).ok()?;
        let key = IdentityKeyPair::from_cose(&own).ok()?;
        Some(Connection { relay, key, device, session })
    }

    /// Connects to the relay, and asks the device nothing.
    pub(super) async fn reach(&self) -> Result<(), AgentAccessError> {
        Relay::connect(&self.relay, &self.key, self.device).await.map(drop)
    }

    /// Asks the device for its login of a host, and returns the decrypted answer. The user agrees there.
    pub(super) async fn ask(&self, host: &str) -> Result<Zeroizing<Vec<u8>>, AgentAccessError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| AgentAccessError::Relay)?;
        let id = format!("req-{:032x}", u128::from_be_bytes(random));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let timestamp = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let request =
            Request { kind: "credential_request", query: Query::Domain(host), timestamp, request_id: &id };
        let request = serde_json::to_vec(&request).map_err(|_| AgentAccessError::Relay)?;

        let mut session = self.session()?;
        let sealed = session.encrypt(&request).map_err(|_| AgentAccessError::NotAConnection)?;
        let mut relay = Relay::connect(&self.relay, &self.key, self.device).await?;
        relay.send(&Message::CredentialRequest { encrypted: STANDARD.encode(sealed.encode()) }).await?;
        loop {
            let Message::CredentialResponse { encrypted } = relay.receive().await? else { continue };
            // A relay may repeat old answers and send wrong ones: neither spoils the session, and neither is ours.
            let Some(plain) = opened(&mut self.session()?, &encrypted) else { continue };
            let response: Response = serde_json::from_slice(&plain).map_err(|_| AgentAccessError::Answer)?;
            if response.request_id.as_deref() == Some(&id) {
                return Ok(plain);
            }
        }
    }

    fn session(&self) -> Result<MultiDeviceTransport, AgentAccessError> {
        MultiDeviceTransport::restore_state(&self.session).map_err(|_| AgentAccessError::NotAConnection)
    }
}

fn opened(session: &mut MultiDeviceTransport, encrypted: &str) -> Option<Zeroizing<Vec<u8>>> {
    let packet = TransportPacket::decode(&STANDARD.decode(encrypted).ok()?).ok()?;
    session.decrypt(&packet).ok().map(Zeroizing::new)
}

/// Makes the session of a pairing.
async fn session(
    relay: &RelayAddress,
    key: &IdentityKeyPair,
    device: IdentityFingerprint,
    shared: Psk,
) -> Result<Zeroizing<Vec<u8>>, AgentAccessError> {
    let mut relay = Relay::connect(relay, key, device).await?;
    let psk_id = Some(shared.id());
    let mut handshake = InitiatorHandshake::with_psk(shared);
    let start = handshake.send_start().and_then(|start| start.encode());
    let data = STANDARD.encode(start.map_err(|_| AgentAccessError::Relay)?);
    let ciphersuite = format!("{:?}", handshake.ciphersuite());
    relay.send(&Message::HandshakeInit { data, ciphersuite, psk_id }).await?;
    loop {
        let Message::HandshakeResponse { data } = relay.receive().await? else { continue };
        let packet = STANDARD.decode(data).ok().and_then(|bytes| HandshakePacket::decode(&bytes).ok());
        let packet = packet.ok_or(AgentAccessError::Answer)?;
        handshake.receive_finish(&packet).map_err(|_| AgentAccessError::NotConnected)?;
        let (session, _) = handshake.finalize().map_err(|_| AgentAccessError::NotConnected)?;
        return session.save_state().map(Zeroizing::new).map_err(|_| AgentAccessError::Relay);
    }
}

fn read_token(token: &str) -> Option<(Psk, IdentityFingerprint)> {
    let (key, device) = token.trim().split_once('_').filter(|_| token.trim().len() == TOKEN)?;
    Some((Psk::from_hex(key).ok()?, IdentityFingerprint::from_hex(device).ok()?))
}
