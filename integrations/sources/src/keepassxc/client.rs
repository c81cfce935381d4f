//! The connection: handshake, association, logins.

use std::collections::HashSet;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser_signals::Origin;
use serde::Serialize;
use tokio::time::Instant;
use vault::Secret;
use zeroize::Zeroizing;

use super::answer;
use super::exact;
use super::message::{self, Handshake, Meaning, Nonce, Request, Session};
use super::proof::{self, Proof};
use super::wire::Wire;
use super::{Association, KeePassXcError};

/// The notices that may come before an answer. More are a flood.
const MOST_NOTICES: usize = 64;

/// A connection to KeePassXC. An error that leaves it unclear what comes next closes it, and so does dropping the
/// future of a call; then every call returns [`KeePassXcError::Closed`].
pub struct Client {
    wire: Option<Wire>,
    session: Session,
    id: String,
}

/// A login of exactly the origin that was asked for. It cannot be printed or cloned.
pub struct Login {
    /// The entry's number in KeePassXC, in hexadecimal digits.
    pub uuid: String,
    /// The user name.
    pub user_name: Secret,
    /// The password.
    pub password: Secret,
    /// The one-time code of this moment, for an entry that has a seed.
    pub code: Option<Secret>,
}

/// The logins of one origin, and the number of those that were dropped.
pub struct Logins {
    /// The logins that are proved to be of exactly this origin.
    pub exact: Vec<Login>,
    /// The entries of another host, port or scheme that KeePassXC gives to this origin too.
    pub elsewhere: usize,
    /// The entries that nothing is proved about, because a person's decision in KeePassXC may withhold the proof.
    /// The remedy is an additional attribute `KPH: portcullis` with the value `{URL}` in the entry, or KeePassXC's
    /// setting to give credentials without asking.
    pub unproven: usize,
    /// The entries of exactly this origin with a value that no box of a form takes: a control character, or more
    /// than 4 KiB.
    pub unusable: usize,
}

#[derive(Serialize)]
struct Associate<'a> {
    action: &'a str,
    key: &'a str,
    #[serde(rename = "idKey")]
    id_key: &'a str,
}

#[derive(Serialize)]
struct TestAssociate<'a> {
    action: &'a str,
    id: &'a str,
    key: &'a str,
}

#[derive(Serialize)]
struct GetLogins<'a> {
    action: &'a str,
    url: &'a str,
    keys: [Key<'a>; 1],
}

#[derive(Serialize)]
struct Key<'a> {
    id: &'a str,
    key: &'a str,
}

/// An answer that was decrypted, with the nonce that it must hold.
pub(super) type Opened = (Zeroizing<Vec<u8>>, String);

impl Client {
    /// Connects to a socket that [`super::socket::find`] found, and exchanges fresh keys.
    ///
    /// # Errors
    /// The socket is not there or not safe, nobody listens, or the peer breaks the protocol.
    pub async fn connect(socket: &Path, deadline: Instant) -> Result<Client, KeePassXcError> {
        let mut wire = Wire::connect(socket, deadline).await?;
        let id = STANDARD.encode(message::random::<24>()?);
        let (handshake, nonce) = (Handshake::new()?, Nonce::fresh()?);
        let request = Request {
            action: "change-public-keys",
            client_id: &id,
            nonce: &nonce.text(),
            message: None,
            public_key: Some(handshake.public_key()),
            trigger_unlock: None,
        };
        match exchange(&mut wire, &request, &nonce, deadline).await? {
            Meaning::PublicKey(peer) => {
                Ok(Client { wire: Some(wire), session: handshake.finish(&peer)?, id })
            }
            Meaning::Refused(error) => Err(error),
            _ => Err(KeePassXcError::Protocol("a handshake without a public key")),
        }
    }

    /// Asks the user in KeePassXC's window to allow this guard and to give it a name.
    ///
    /// # Errors
    /// [`KeePassXcError::Denied`], [`KeePassXcError::Locked`], or the connection fails.
    pub async fn associate(&mut self, deadline: Instant) -> Result<Association, KeePassXcError> {
        let key = Zeroizing::new(message::random()?);
        let id_key = Zeroizing::new(STANDARD.encode(key.as_slice()));
        let ours = self.session.public_key().to_owned();
        let request = Associate { action: "associate", key: &ours, id_key: &id_key };
        let (plain, nonce) = self.ask("associate", &request, deadline).await?;
        let name = answer::about(&plain, &nonce)?.id.unwrap_or_default();
        Association::new(name, key).ok_or(KeePassXcError::Protocol("an association without a usable name"))
    }

    /// Asks if the open database knows the association.
    ///
    /// # Errors
    /// [`KeePassXcError::NotAssociated`], [`KeePassXcError::Locked`], or the connection fails.
    pub async fn test_associate(
        &mut self,
        association: &Association,
        deadline: Instant,
    ) -> Result<(), KeePassXcError> {
        self.database(association, deadline).await.map(drop)
    }

    /// Has KeePassXC show its window for unlocking, and waits until the user unlocked a database there.
    ///
    /// # Errors
    /// [`KeePassXcError::TimedOut`] if the user did not, or the connection fails.
    pub async fn unlock(
        &mut self,
        association: &Association,
        deadline: Instant,
    ) -> Result<(), KeePassXcError> {
        let mut wire = self.wire.take().ok_or(KeePassXcError::Closed)?;
        let (nonce, key) = (Nonce::fresh()?, association.key());
        let content = TestAssociate { action: "test-associate", id: association.name(), key: &key };
        let request = Request {
            action: "test-associate",
            client_id: &self.id,
            nonce: &nonce.text(),
            message: Some(self.session.seal(&content, &nonce)?),
            public_key: None,
            trigger_unlock: Some("true"),
        };
        let bytes = serde_json::to_vec(&request)
            .map_err(|_| KeePassXcError::Protocol("a request that is no JSON"))?;
        wire.send(&bytes, deadline).await?;
        for _ in 0..MOST_NOTICES {
            let object = wire.receive(deadline).await?;
            match message::meaning(&object, request.action, request.client_id, &nonce)? {
                // The request itself is answered at once, by an error if the database is locked.
                Meaning::Refused(KeePassXcError::Locked) | Meaning::Notice { locked: None | Some(true) } => {}
                Meaning::Refused(error) => return Err(error),
                Meaning::Notice { locked: Some(false) } | Meaning::Message(_) => {
                    self.wire = Some(wire);
                    return Ok(());
                }
                Meaning::PublicKey(_) => {
                    return Err(KeePassXcError::Protocol("an answer that is not encrypted"));
                }
            }
        }
        Err(KeePassXcError::Protocol("a flood of notices"))
    }

    /// Asks for the logins of an origin, and proves which are of exactly this origin; see [`super::exact`].
    ///
    /// KeePassXC may ask the user about each entry, within the deadline. A question of ours that it asks the user
    /// about names a host that starts with `portcullis-check`. Where the user's answer could not change the result,
    /// this method does not wait for it: it returns, and the connection is closed.
    ///
    /// # Errors
    /// [`KeePassXcError::NoLogins`] if nothing was given at all; [`KeePassXcError::NotHttps`]; the database is locked,
    /// does not know the association or was changed; or the connection fails.
    pub async fn logins(
        &mut self,
        association: &Association,
        origin: &Origin,
        deadline: Instant,
    ) -> Result<Logins, KeePassXcError> {
        if origin.scheme() != "https" {
            return Err(KeePassXcError::NotHttps);
        }
        let before = self.database(association, deadline).await?;
        let (plain, nonce) = self.ask_for_logins(association, &exact::address(origin), deadline).await?;
        let (about, found) = answer::logins(&plain, &nonce)?;
        drop(plain);
        if about.hash != before {
            return Err(KeePassXcError::Changed);
        }
        if found.is_empty() {
            return Err(KeePassXcError::NoLogins);
        }
        let mut open: HashSet<&str> =
            found.iter().filter(|entry| entry.address.is_none()).map(|entry| &*entry.uuid).collect();
        let mut elsewhere = HashSet::new();
        let proof = Proof { association, deadline, tells_refusals: exact::tells_refusals(&about.version) };
        let mut proven = HashSet::new();
        if !open.is_empty() {
            proven = proof.find(self, origin, &mut open, &mut elsewhere).await?;
        }
        // The proof is of one database if the same one is at the front at both ends.
        if !proven.is_empty() && self.database(association, deadline).await? != before {
            return Err(KeePassXcError::Changed);
        }
        let proven: HashSet<String> = proven.into_iter().map(str::to_owned).collect();
        Ok(proof::sort(found, origin, &proven, &elsewhere))
    }

    /// The database at the front, which knows the association.
    async fn database(
        &mut self,
        association: &Association,
        deadline: Instant,
    ) -> Result<String, KeePassXcError> {
        let key = association.key();
        let request = TestAssociate { action: "test-associate", id: association.name(), key: &key };
        let (plain, nonce) = self.ask("test-associate", &request, deadline).await?;
        Ok(answer::about(&plain, &nonce)?.hash)
    }

    /// Asks for the logins of an address, and of nothing but the address.
    pub(super) async fn ask_for_logins(
        &mut self,
        association: &Association,
        url: &str,
        deadline: Instant,
    ) -> Result<Opened, KeePassXcError> {
        let key = association.key();
        let keys = [Key { id: association.name(), key: &key }];
        self.ask("get-logins", &GetLogins { action: "get-logins", url, keys }, deadline).await
    }

    /// Sends a request and decrypts its answer. The connection stays open only after an answer that fits.
    async fn ask(
        &mut self,
        action: &str,
        content: &impl Serialize,
        deadline: Instant,
    ) -> Result<Opened, KeePassXcError> {
        let mut wire = self.wire.take().ok_or(KeePassXcError::Closed)?;
        let nonce = Nonce::fresh()?;
        let request = Request {
            action,
            client_id: &self.id,
            nonce: &nonce.text(),
            message: Some(self.session.seal(content, &nonce)?),
            public_key: None,
            trigger_unlock: None,
        };
        let nonce_of_answer = nonce.next();
        match exchange(&mut wire, &request, &nonce, deadline).await? {
            Meaning::Message(sealed) => {
                let plain = self.session.open(&sealed, &nonce_of_answer)?;
                self.wire = Some(wire);
                Ok((plain, nonce_of_answer.text()))
            }
            Meaning::Refused(error) => {
                self.wire = Some(wire);
                Err(error)
            }
            _ => Err(KeePassXcError::Protocol("an answer that is not encrypted")),
        }
    }
}

/// Sends a request and waits for its answer. Notices before it are read over.
async fn exchange(
    wire: &mut Wire,
    request: &Request<'_>,
    nonce: &Nonce,
    deadline: Instant,
) -> Result<Meaning, KeePassXcError> {
    let bytes =
        serde_json::to_vec(request).map_err(|_| KeePassXcError::Protocol("a request that is no JSON"))?;
    wire.send(&bytes, deadline).await?;
    let mut is_locked = false;
    for _ in 0..MOST_NOTICES {
        let object = wire.receive(deadline).await?;
        match message::meaning(&object, request.action, request.client_id, nonce)? {
            Meaning::Notice { locked } => is_locked = locked.unwrap_or(is_locked),
            // A question to the user is withdrawn when the database is locked, and reads as a refusal.
            Meaning::Refused(KeePassXcError::NoLogins | KeePassXcError::Denied) if is_locked => {
                return Ok(Meaning::Refused(KeePassXcError::Locked));
            }
            answer => return Ok(answer),
        }
    }
    Err(KeePassXcError::Protocol("a flood of notices"))
}
