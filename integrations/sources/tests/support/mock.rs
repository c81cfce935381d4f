//! A peer that speaks the protocol as KeePassXC does, and can lie.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_box::{PublicKey, SalsaBox, SecretKey};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use super::KEY;
use super::plain::{next, open, random, seal};

/// A defect of the peer, from the first `get-logins` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    None,
    WrongNonce,
    SameNonce,
    WrongNonceInside,
    OtherClient,
    OtherAction,
    TenMegabytes,
    Garbage,
    NotEncrypted,
    OtherKey,
    Hang,
    DieInTheMiddle,
    Flood,
    GluedNotices,
    ByteByByte,
    ErrorNumber(u32),
    LockedWhileAsking,
    NoEntryFields,
    OtherDatabase,
    /// The association is unknown from the first request on.
    Stranger,
    /// Nothing is answered at all.
    Deaf,
    ShortKey,
}

/// The user's answers in KeePassXC's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// The setting to give credentials without asking.
    NeverAsked,
    /// The user has allowed everything for the true host, and is asked about any other one, which takes this many
    /// milliseconds and ends in a refusal or a permission.
    Refuses(u64),
    Allows(u64),
}

#[derive(Clone)]
pub struct MockEntry {
    pub number: u8,
    pub url: &'static str,
    pub password: String,
    pub fields: Value,
}

pub fn entry(number: u8, url: &'static str) -> MockEntry {
    MockEntry { number, url, password: format!("hunter-{number}"), fields: json!([]) }
}

#[derive(Clone)]
pub struct Plan {
    pub entries: Vec<MockEntry>,
    pub version: &'static str,
    pub lie: Lie,
    pub user: User,
    pub compares_schemes: bool,
    /// The host that the user has decided about.
    pub known_host: &'static str,
}

impl Plan {
    pub fn new(entries: Vec<MockEntry>) -> Plan {
        Plan {
            entries,
            version: "2.7.4",
            lie: Lie::None,
            user: User::NeverAsked,
            compares_schemes: true,
            known_host: "login.shop.example",
        }
    }
}

pub struct MockKeePassXc {
    pub path: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
}

impl MockKeePassXc {
    pub fn start(plan: Plan) -> MockKeePassXc {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("org.keepassxc.KeePassXC.BrowserServer");
        let listener = UnixListener::bind(&path).unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mock = MockKeePassXc { path, asked: Arc::clone(&asked), folder };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let peer = Peer { stream, plan: plan.clone(), asked: Arc::clone(&asked), tests: 0 };
                tokio::spawn(peer.serve());
            }
        });
        mock
    }

    /// The folder of the socket.
    pub fn runtime(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The addresses that logins were asked for by.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

struct Peer {
    stream: UnixStream,
    plan: Plan,
    asked: Arc<Mutex<Vec<String>>>,
    tests: u32,
}

impl Peer {
    async fn serve(mut self) {
        let secret = SecretKey::from_bytes(random());
        let mut cipher = None;
        let mut chunk = vec![0; 1 << 16];
        while let Ok(length @ 1..) = self.stream.read(&mut chunk).await {
            let request: Value = serde_json::from_slice(&chunk[..length]).expect("one request in one piece");
            let nonce: [u8; 24] =
                STANDARD.decode(request["nonce"].as_str().unwrap()).unwrap().try_into().unwrap();
            if self.plan.lie == Lie::Deaf {
                continue;
            }
            if request["action"] == "change-public-keys" {
                let key = STANDARD.decode(request["publicKey"].as_str().unwrap()).unwrap();
                cipher = Some(SalsaBox::new(&PublicKey::from_slice(&key).unwrap(), &secret));
                let ours = secret.public_key();
                let ours =
                    if self.plan.lie == Lie::ShortKey { &ours.as_bytes()[1..] } else { ours.as_bytes() };
                let answer = json!({"action": "change-public-keys", "version": self.plan.version, "success": "true",
                    "publicKey": STANDARD.encode(ours), "nonce": STANDARD.encode(next(nonce))});
                self.write(&answer.to_string()).await;
                continue;
            }
            let cipher = cipher.as_ref().unwrap();
            let content = open(cipher, nonce, request["message"].as_str().unwrap());
            assert_eq!(content["action"], request["action"]);
            match content["action"].as_str().unwrap() {
                "associate" if self.plan.lie == Lie::None => {
                    assert_eq!(STANDARD.decode(content["idKey"].as_str().unwrap()).unwrap().len(), 32);
                    self.success(cipher, nonce, "associate", json!({"id": "guard", "hash": "db"})).await;
                }
                "test-associate" if self.plan.lie != Lie::Stranger && content["key"] == KEY => {
                    self.tests += 1;
                    let other = self.plan.lie == Lie::OtherDatabase && self.tests > 1;
                    let hash = if other { "other" } else { "db" };
                    self.success(cipher, nonce, "test-associate", json!({"id": "guard", "hash": hash})).await;
                }
                "test-associate" => self.error("test-associate", 8).await,
                "get-logins" => {
                    assert_eq!(content["keys"], json!([{"id": "guard", "key": KEY}]));
                    let url = content["url"].as_str().unwrap().to_owned();
                    self.asked.lock().unwrap().push(url.clone());
                    if !self.get_logins(cipher, nonce, &url, request["clientID"].as_str().unwrap()).await {
                        return;
                    }
                }
                action => self.error(action, 6).await,
            }
        }
    }

    /// Matches as KeePassXC does; asks the user as it does.
    async fn get_logins(&mut self, cipher: &SalsaBox, nonce: [u8; 24], url: &str, client: &str) -> bool {
        let fitting: Vec<MockEntry> =
            self.plan.entries.iter().filter(|entry| self.fits(entry.url, url)).cloned().collect();
        let is_known = parts(url).1 == self.plan.known_host;
        let mut given = fitting.clone();
        if !is_known && !fitting.is_empty() {
            match self.plan.user {
                User::NeverAsked => {}
                User::Allows(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                User::Refuses(ms) => {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    given.clear();
                }
            }
        }
        let tells = self.plan.version == "2.7.9";
        if self.plan.lie == Lie::LockedWhileAsking {
            self.write(r#"{"action":"database-locked"}"#).await;
            self.error("get-logins", 15).await;
            return true;
        }
        if given.is_empty() && (fitting.is_empty() || !tells) {
            self.error("get-logins", 15).await;
            return true;
        }
        let entries: Vec<Value> = given
            .iter()
            .map(|entry| {
                json!({"uuid": format!("{:02x}", entry.number).repeat(16), "login": format!("ana-{}", entry.number),
                    "password": entry.password, "name": "hunter-title", "group": "Root", "totp": "123456",
                    "stringFields": entry.fields})
            })
            .collect();
        let mut answer = json!({"hash": "db", "count": entries.len(), "entries": entries, "id": ""});
        let nonce = match self.plan.lie {
            Lie::SameNonce => return self.raw(cipher, nonce, nonce, &answer).await,
            Lie::WrongNonce => return self.raw(cipher, random(), random(), &answer).await,
            _ => nonce,
        };
        match self.plan.lie {
            Lie::WrongNonceInside => return self.raw(cipher, next(nonce), random(), &answer).await,
            Lie::NoEntryFields => {
                answer = json!({"hash": "db", "entries": [{"uuid": "hunter-9", "password": "hunter-9"}]});
            }
            Lie::ErrorNumber(number) => {
                self.error("get-logins", number).await;
                return true;
            }
            Lie::Hang => {
                self.write(r#"{"action":"get-logins","mess"#).await;
                return true;
            }
            Lie::DieInTheMiddle => {
                self.write(r#"{"action":"get-logins","mess"#).await;
                return false;
            }
            Lie::Garbage => {
                self.write("hunter-2 is no JSON").await;
                return true;
            }
            Lie::Flood => {
                while self.stream.write_all(br#"{"action":"database-locked"}"#).await.is_ok() {}
                return false;
            }
            Lie::TenMegabytes => {
                let long = format!(r#"{{"action":"get-logins","message":"{}"}}"#, "A".repeat(10 << 20));
                let _ = self.stream.write_all(long.as_bytes()).await;
                return true;
            }
            Lie::NotEncrypted => {
                let answer =
                    json!({"action": "get-logins", "nonce": STANDARD.encode(next(nonce)), "entries": []});
                self.write(&answer.to_string()).await;
                return true;
            }
            _ => {}
        }
        answer["nonce"] = STANDARD.encode(next(nonce)).into();
        answer["version"] = self.plan.version.into();
        let other =
            SalsaBox::new(&SecretKey::from_bytes(random()).public_key(), &SecretKey::from_bytes(random()));
        let cipher = if self.plan.lie == Lie::OtherKey { &other } else { cipher };
        let mut outer = json!({"action": "get-logins", "message": seal(cipher, next(nonce), &answer),
            "nonce": STANDARD.encode(next(nonce))});
        match self.plan.lie {
            Lie::OtherClient => outer["clientID"] = "another".into(),
            Lie::OtherAction => outer["action"] = "get-totp".into(),
            _ => outer["clientID"] = client.into(),
        }
        let (locked, unlocked) = (r#"{"action":"database-locked"}"#, r#"{"action":"database-unlocked"}"#);
        match self.plan.lie {
            Lie::GluedNotices => self.write(&format!("{locked}{unlocked}{outer}{locked}\n{unlocked}")).await,
            Lie::ByteByByte => {
                for byte in format!("{unlocked} {outer}").bytes() {
                    self.stream.write_all(&[byte]).await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
            _ => self.write(&outer.to_string()).await,
        }
        true
    }

    async fn raw(&mut self, cipher: &SalsaBox, outside: [u8; 24], inside: [u8; 24], answer: &Value) -> bool {
        let mut answer = answer.clone();
        answer["nonce"] = STANDARD.encode(inside).into();
        let outer = json!({"action": "get-logins", "message": seal(cipher, outside, &answer),
            "nonce": STANDARD.encode(outside)});
        self.write(&outer.to_string()).await;
        true
    }

    fn fits(&self, entry: &str, asked: &str) -> bool {
        let ((scheme, host, port), (asked_scheme, asked_host, asked_port)) = (parts(entry), parts(asked));
        (!self.plan.compares_schemes || scheme == asked_scheme)
            && (port.is_none() || port == asked_port)
            && asked_host.ends_with(host)
    }

    async fn success(&mut self, cipher: &SalsaBox, nonce: [u8; 24], action: &str, mut answer: Value) {
        answer["nonce"] = STANDARD.encode(next(nonce)).into();
        answer["version"] = self.plan.version.into();
        answer["success"] = "true".into();
        let outer = json!({"action": action, "message": seal(cipher, next(nonce), &answer),
            "nonce": STANDARD.encode(next(nonce))});
        self.write(&outer.to_string()).await;
    }

    async fn error(&mut self, action: &str, number: u32) {
        let answer =
            json!({"action": action, "errorCode": number.to_string(), "error": "hunter-2 was refused"});
        self.write(&answer.to_string()).await;
    }

    async fn write(&mut self, text: &str) {
        let _ = self.stream.write_all(text.as_bytes()).await;
    }
}

fn parts(url: &str) -> (&str, &str, Option<&str>) {
    let (scheme, rest) = url.split_once("://").unwrap();
    match rest.split_once(':') {
        Some((host, port)) => (scheme, host, Some(port)),
        None => (scheme, rest, None),
    }
}
