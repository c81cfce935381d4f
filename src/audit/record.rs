//! One line of a log, read; the ids of sessions and logs.

use std::fmt;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use vault::Entropy;

use super::canonical::{canonical, hex, unhex};
use super::problem::Problem;

/// Which session a record belongs to, so that sessions side by side can share a log. It is random and says
/// nothing about the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Option<[u8; 8]>);

impl SessionId {
    /// Of no session: what concerns the vault or the log as a whole. A release has to name its session.
    pub const LOG: SessionId = SessionId(None);

    /// The session with this id.
    pub const fn new(id: [u8; 8]) -> SessionId {
        SessionId(Some(id))
    }

    /// A new session's id.
    pub fn random(entropy: &mut dyn Entropy) -> SessionId {
        let mut id = [0; 8];
        entropy.fill(&mut id);
        SessionId(Some(id))
    }

    /// Reads sixteen hexadecimal digits, as a record has them.
    pub fn parse(digits: &str) -> Option<SessionId> {
        unhex(digits).map(SessionId::new)
    }

    /// Whether it is of a session.
    pub const fn is_session(self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(id) => f.write_str(&hex(id)),
            None => f.write_str("-"),
        }
    }
}

/// Which log a record or a head belongs to; random, given when the log is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LogId(pub [u8; 16]);

impl LogId {
    /// A new log's id.
    pub fn random(entropy: &mut dyn Entropy) -> LogId {
        let mut id = [0; 16];
        entropy.fill(&mut id);
        LogId(id)
    }

    /// Reads 32 hexadecimal digits.
    pub fn parse(digits: &str) -> Option<LogId> {
        unhex(digits).map(LogId)
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// One record, as it stands in its line. That it is where it belongs is known once a chain followed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number in the log, from 0.
    pub number: u64,
    /// When it was written, in milliseconds since 1970.
    pub unix_ms: u64,
    /// Its session.
    pub session: SessionId,
    /// The SHA-256 of the record without this hash.
    pub hash: [u8; 32],
    /// The hash of the record before.
    pub previous: [u8; 32],
    /// The event's name.
    pub event: String,
    /// What the event says, by name: texts, whole numbers, yes or no, nothing, and lists of texts.
    pub body: Map<String, Value>,
}

impl Record {
    /// Reads a line without its line end. One record has one text: any other spelling of it is refused.
    ///
    /// # Errors
    /// [`Problem::NotARecord`], [`Problem::NotCanonical`], [`Problem::Changed`].
    pub fn parse(line: &str) -> Result<Record, Problem> {
        let mut body: Map<String, Value> = serde_json::from_str(line).map_err(|_| Problem::NotARecord)?;
        if canonical(&body) != line {
            return Err(Problem::NotCanonical);
        }
        if !body.values().all(is_plain) {
            return Err(Problem::NotARecord);
        }
        let hash = digest(&mut body, "hash")?;
        if unsealed_hash(line).ok_or(Problem::NotARecord)? != hash {
            return Err(Problem::Changed);
        }
        let previous = digest(&mut body, "previous")?;
        let number = number(&mut body, "number")?;
        let unix_ms = self::number(&mut body, "time")?;
        let Some(Value::String(event)) = body.remove("event") else { return Err(Problem::NotARecord) };
        let session = match body.remove("session") {
            None => SessionId::LOG,
            Some(Value::String(id)) => SessionId::parse(&id).ok_or(Problem::NotARecord)?,
            Some(_) => return Err(Problem::NotARecord),
        };
        Ok(Record { number, unix_ms, session, hash, previous, event, body })
    }

    /// The line it was read from.
    pub fn to_line(&self) -> String {
        let mut record = self.unsealed();
        record.insert("hash".into(), hex(&self.hash).into());
        canonical(&record)
    }

    /// The record without its hash.
    pub(super) fn unsealed(&self) -> Map<String, Value> {
        let mut record = self.body.clone();
        record.insert("event".into(), self.event.clone().into());
        record.insert("number".into(), self.number.into());
        record.insert("previous".into(), hex(&self.previous).into());
        if self.session.is_session() {
            record.insert("session".into(), self.session.to_string().into());
        }
        record.insert("time".into(), self.unix_ms.into());
        record
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.body.get(key).and_then(Value::as_str)
    }

    pub(super) fn whole(&self, key: &str) -> Option<u64> {
        self.body.get(key).and_then(Value::as_u64)
    }
}

/// The hash of a canonical line without the hash in it. Without nested objects, the key stands there once: in a
/// text its quotes would be escaped, and in a list no colon follows.
fn unsealed_hash(line: &str) -> Option<[u8; 32]> {
    const KEY: &str = "\"hash\":\"";
    let from = line.find(KEY)?;
    let before = line.get(..from)?;
    let after = line.get(from + KEY.len() + 64..)?.strip_prefix("\",")?;
    let mut hasher = Sha256::new();
    hasher.update(before);
    hasher.update(after);
    Some(hasher.finalize().into())
}

fn digest(body: &mut Map<String, Value>, key: &str) -> Result<[u8; 32], Problem> {
    let value = body.remove(key);
    value.as_ref().and_then(Value::as_str).and_then(unhex).ok_or(Problem::NotARecord)
}

fn number(body: &mut Map<String, Value>, key: &str) -> Result<u64, Problem> {
    body.remove(key).as_ref().and_then(Value::as_u64).ok_or(Problem::NotARecord)
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.is_u64(),
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Object(_) => false,
    }
}
