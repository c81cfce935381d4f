//! One line of a log, its canonical form, and the ids of sessions and logs.
//!
//! The canonical form, which is hashed, is JSON with keys sorted at every level and no spaces.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use vault::Entropy;

use super::problem::Problem;

/// The session of a record, so that concurrent sessions can share a log. It is random and reveals nothing about the
/// session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Option<[u8; 8]>);

impl SessionId {
    /// No session, for events of the vault or the log as a whole. A release has to name its session.
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

    /// Whether it names a session.
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

/// The text of its `Display`.
impl Serialize for SessionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The id of a log: random, and chosen when the log is made.
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

/// One record, as its line holds it. [`Chain::follow`](super::Chain::follow) checks its position in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number in the log, from 0.
    pub number: u64,
    /// The time of writing, in milliseconds since 1970.
    pub unix_ms: u64,
    /// Its session.
    pub session: SessionId,
    /// The SHA-256 of the record without this hash.
    pub hash: [u8; 32],
    /// The hash of the record before.
    pub previous: [u8; 32],
    /// The event's name.
    pub event: String,
    /// The event's members by name: strings, whole numbers, booleans, null, and lists of strings.
    pub body: Map<String, Value>,
}

impl Record {
    /// Reads a line without its line end. Each record has one canonical text: any other spelling is refused.
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

/// The hash of a canonical line without its `hash` member. The key occurs once, since there are no nested objects: within
/// a string its quotes would be escaped, and within a list no colon follows.
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

/// The canonical text of a record.
pub(super) fn canonical(record: &Map<String, Value>) -> String {
    let mut out = String::with_capacity(512);
    object(record, &mut out);
    out
}

fn object(map: &Map<String, Value>, out: &mut String) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    // The order of keys in a map depends on a feature of serde_json that another crate may turn on.
    entries.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (i, (key, value)) in entries.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        text(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => object(map, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::String(value) => text(value, out),
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn text(value: &str, out: &mut String) {
    if value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(value);
        out.push('"');
    } else {
        out.push_str(&Value::from(value).to_string());
    }
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads the output of [`hex`]: exactly `N` bytes, in lower-case digits.
pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_texts_escaped_at_every_level() {
        let Value::Object(map) = json!({"b": [{"z": 1, "a": null}], "a": "\"\n\u{e9}", "c": {"y": true}})
        else {
            panic!("not an object")
        };
        assert_eq!(
            canonical(&map),
            "{\"a\":\"\\\"\\n\u{e9}\",\"b\":[{\"a\":null,\"z\":1}],\"c\":{\"y\":true}}"
        );
    }

    #[test]
    fn hexadecimal_digits_round_trip_and_have_one_spelling() {
        assert_eq!(hex(&[0, 0x9a, 255]), "009aff");
        assert_eq!(unhex("009aff"), Some([0, 0x9a, 255]));
        for bad in ["009afF", "009af", "009aff0", "+09aff", "009a\u{e9}"] {
            assert_eq!(unhex::<3>(bad), None, "{bad}");
        }
    }
}
