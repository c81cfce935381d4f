//! The record of what was asked, decided and done: append-only, hash-chained, free of values.
//!
//! Each line is one JSON object with sorted keys. Its `hash` is the SHA-256 of the line without that
//! key, and `previous` is the hash of the line before, so that an edit, a gap or a swap shows. A cut at
//! the end does not show from the file alone.
//!
//! The event types hold kinds, field names, origins and reasons. They have no room for a value, its
//! length, its last digits, page text or a query string.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use browser_signals::{Container, Origin};
use policy_dfa::{Reason, VerbKind};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use sirl::{FieldSet, Kind, Money};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEvent {
    /// A session began under a policy.
    Started {
        /// The policy's hash.
        policy: [u8; 32],
    },
    /// The task was sealed.
    Sealed {
        /// Where it may act.
        origins: Vec<Origin>,
        /// What it may ask for.
        kinds: Vec<Kind>,
        /// What it may spend.
        budget: Option<Money>,
        /// The container the user agreed to.
        container: Container,
    },
    /// The user was asked, and answered.
    Asked {
        /// What about: one word for each thing in the prompt.
        about: Vec<String>,
        /// Whether the user agreed.
        agreed: bool,
    },
    /// A verb was decided.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// The page it was aimed at.
        origin: Option<Origin>,
        /// Why not, if it was refused.
        refused: Option<Reason>,
    },
    /// A request was refused.
    Refused {
        /// Its number in the session.
        request: u64,
        /// Its kind; none if it could not be read.
        kind: Option<Kind>,
        /// Its fields.
        fields: FieldSet,
        /// The page.
        origin: Option<Origin>,
        /// Why.
        reason: Reason,
    },
    /// A release is about to happen.
    Intent {
        /// Its number in the session.
        request: u64,
        /// Its kind.
        kind: Kind,
        /// Its fields.
        fields: FieldSet,
        /// The page, or the payee.
        origin: Origin,
        /// `fill` or `payment_api`.
        delivery: &'static str,
        /// For a purchase: the amount.
        amount: Option<Money>,
    },
    /// How that release ended.
    Outcome {
        /// Its number in the session.
        request: u64,
        /// Why it failed, if it did.
        failed: Option<Reason>,
    },
    /// Something the browser tried was refused below the policy: a dialog, a popup, a request.
    Browser {
        /// What, as one word.
        what: &'static str,
    },
    /// The session ended.
    Ended,
}

fn fields_json(fields: FieldSet) -> Value {
    fields.iter().map(|field| Value::from(field.as_str())).collect()
}

fn origin_json(origin: Option<&Origin>) -> Value {
    origin.map_or(Value::Null, |origin| Value::from(origin.to_string()))
}

fn money_json(amount: Option<Money>) -> Value {
    amount.map_or(Value::Null, |amount| Value::from(amount.to_string()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl AuditEvent {
    fn to_json(&self) -> Value {
        let reason = |reason: &Option<Reason>| reason.map_or(Value::Null, |r| Value::from(r.code()));
        match self {
            AuditEvent::Started { policy } => json!({"event": "started", "policy": hex(policy)}),
            AuditEvent::Sealed { origins, kinds, budget, container } => json!({
                "event": "sealed",
                "origins": origins.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "kinds": kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
                "budget": money_json(*budget),
                "container": container.as_str(),
            }),
            AuditEvent::Asked { about, agreed } => {
                json!({"event": "asked", "about": about, "agreed": agreed})
            }
            AuditEvent::Verb { verb, origin, refused } => json!({
                "event": "verb",
                "verb": verb.as_str(),
                "origin": origin_json(origin.as_ref()),
                "refused": reason(refused),
            }),
            AuditEvent::Refused { request, kind, fields, origin, reason } => json!({
                "event": "refused",
                "request": request,
                "kind": kind.map(Kind::as_str),
                "fields": fields_json(*fields),
                "origin": origin_json(origin.as_ref()),
                "reason": reason.code(),
            }),
            AuditEvent::Intent { request, kind, fields, origin, delivery, amount } => json!({
                "event": "intent",
                "request": request,
                "kind": kind.as_str(),
                "fields": fields_json(*fields),
                "origin": origin.to_string(),
                "delivery": delivery,
                "amount": money_json(*amount),
            }),
            AuditEvent::Outcome { request, failed } => {
                json!({"event": "outcome", "request": request, "failed": reason(failed)})
            }
            AuditEvent::Browser { what } => json!({"event": "browser", "what": what}),
            AuditEvent::Ended => json!({"event": "ended"}),
        }
    }
}

/// Where records go. An error means that nothing may be released (I9).
pub trait AuditLog: Send {
    /// Appends one record; with `sync`, it is on disk when this returns.
    fn append(&mut self, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()>;
}

/// The head of a chain: what the next record builds on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    next: u64,
    head: String,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { next: 0, head: "0".repeat(64) }
    }
}

impl Chain {
    /// How many records the chain has.
    pub fn length(&self) -> u64 {
        self.next
    }

    /// The hash of the last record.
    pub fn head(&self) -> &str {
        &self.head
    }

    fn link(&mut self, event: &AuditEvent, unix_ms: u64) -> String {
        let mut record = match event.to_json() {
            Value::Object(record) => record,
            _ => Map::new(),
        };
        record.insert("number".into(), self.next.into());
        record.insert("time".into(), unix_ms.into());
        record.insert("previous".into(), self.head.clone().into());
        let hash = hex(&Sha256::digest(canonical(&record)));
        record.insert("hash".into(), hash.clone().into());
        self.next += 1;
        self.head = hash;
        canonical(&record)
    }

    /// Checks one line against the chain and moves on. The error says what is wrong with it.
    pub fn follow(&mut self, line: &str) -> Result<Map<String, Value>, String> {
        let record: Map<String, Value> =
            serde_json::from_str(line).map_err(|_| "not a record of the log".to_owned())?;
        if canonical(&record) != line {
            return Err("not written as the log writes it".to_owned());
        }
        let mut unsealed = record.clone();
        let hash = unsealed.remove("hash");
        let computed = hex(&Sha256::digest(canonical(&unsealed)));
        if hash.as_ref().and_then(Value::as_str) != Some(computed.as_str()) {
            return Err("its content does not match its hash: it was changed".to_owned());
        }
        if record.get("previous").and_then(Value::as_str) != Some(self.head.as_str()) {
            return Err("it does not follow the record before it: one was removed, added or moved".to_owned());
        }
        if record.get("number").and_then(Value::as_u64) != Some(self.next) {
            return Err(format!("its number is not {}", self.next));
        }
        self.next += 1;
        self.head = computed;
        Ok(record)
    }
}

/// JSON with keys sorted at every level and no spaces: the bytes that are hashed.
fn canonical(record: &Map<String, Value>) -> String {
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
            scalar => out.push_str(&scalar.to_string()),
        }
    }
    fn object(map: &Map<String, Value>, out: &mut String) {
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort();
        out.push('{');
        for (i, key) in keys.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push(':');
            write(map.get(key).unwrap_or(&Value::Null), out);
        }
        out.push('}');
    }
    let mut out = String::new();
    object(record, &mut out);
    out
}

/// What is wrong with a log, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {record} (line {line}): {problem}")]
pub struct BrokenChain {
    /// The number the record should have.
    pub record: u64,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

/// Checks a whole log. Gives its records and the chain's head, or the first bad record.
pub fn verify(text: &str) -> Result<(Vec<Map<String, Value>>, Chain), BrokenChain> {
    let mut chain = Chain::default();
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let record = chain.next;
        let at = |problem| BrokenChain { record, line: index + 1, problem };
        records.push(chain.follow(line).map_err(at)?);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let problem = "the last line is cut short: the machine stopped while it was written".to_owned();
        return Err(BrokenChain { record: chain.next, line: records.len(), problem });
    }
    Ok((records, chain))
}

/// A log in a file, one record a line.
pub struct FileLog {
    file: File,
    chain: Chain,
}

impl FileLog {
    /// Opens a log to append to it, or starts a new one. A log whose chain is broken is not appended to.
    pub fn open(path: &Path) -> io::Result<FileLog> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        let text = std::fs::read_to_string(path)?;
        let (_, chain) =
            verify(&text).map_err(|broken| io::Error::new(io::ErrorKind::InvalidData, broken.to_string()))?;
        Ok(FileLog { file, chain })
    }
}

impl AuditLog for FileLog {
    fn append(&mut self, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()> {
        let mut next = self.chain.clone();
        let mut line = next.link(event, unix_ms);
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        if sync {
            self.file.sync_data()?;
        }
        self.chain = next;
        Ok(())
    }
}

/// A log in memory, for runs that keep no file. Clones share the same records.
#[derive(Debug, Clone, Default)]
pub struct MemoryLog {
    inner: std::sync::Arc<std::sync::Mutex<(Chain, String)>>,
}

impl MemoryLog {
    /// The whole log as text.
    pub fn text(&self) -> String {
        self.inner.lock().map(|inner| inner.1.clone()).unwrap_or_default()
    }
}

impl AuditLog for MemoryLog {
    fn append(&mut self, event: &AuditEvent, unix_ms: u64, _sync: bool) -> io::Result<()> {
        let mut inner = self.inner.lock().map_err(|_| io::Error::other("the log's lock is broken"))?;
        let line = inner.0.link(event, unix_ms);
        inner.1.push_str(&line);
        inner.1.push('\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> String {
        let mut log = MemoryLog::default();
        let origin = Origin::parse("https://shop.example").unwrap();
        log.append(&AuditEvent::Started { policy: [7; 32] }, 1, true).unwrap();
        log.append(
            &AuditEvent::Verb { verb: VerbKind::Open, origin: Some(origin.clone()), refused: None },
            2,
            false,
        )
        .unwrap();
        let reason = Reason::InvalidContainer;
        let refused = AuditEvent::Refused {
            request: 1,
            kind: Some(Kind::Address),
            fields: FieldSet::EMPTY,
            origin: Some(origin),
            reason,
        };
        log.append(&refused, 3, false).unwrap();
        log.append(&AuditEvent::Ended, 4, true).unwrap();
        log.text()
    }

    #[test]
    fn a_whole_log_verifies() {
        let (records, chain) = verify(&sample()).unwrap();
        assert_eq!(records.len(), 4);
        assert_eq!(chain.length(), 4);
        assert_eq!(records[2]["reason"], "invalid_container");
    }

    #[test]
    fn every_changed_byte_is_found() {
        let log = sample();
        for at in 0..log.len() - 1 {
            let mut bytes = log.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            assert!(verify(&text).is_err(), "byte {at} changed unseen");
        }
    }

    #[test]
    fn a_removed_or_moved_record_is_found() {
        let log = sample();
        let lines: Vec<&str> = log.lines().collect();
        for drop in 0..lines.len() - 1 {
            let text: String =
                lines.iter().enumerate().filter(|(i, _)| *i != drop).map(|(_, l)| format!("{l}\n")).collect();
            assert_eq!(verify(&text).unwrap_err().record, drop as u64);
        }
        let swapped = format!("{}\n{}\n{}\n{}\n", lines[0], lines[2], lines[1], lines[3]);
        assert_eq!(verify(&swapped).unwrap_err().line, 2);
    }

    #[test]
    fn a_torn_last_line_is_named() {
        let log = sample();
        assert!(verify(&log[..log.len() - 1]).unwrap_err().problem.contains("cut short"));
    }

    #[test]
    fn a_file_log_goes_on_where_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        FileLog::open(&path).unwrap().append(&AuditEvent::Started { policy: [1; 32] }, 1, true).unwrap();
        FileLog::open(&path).unwrap().append(&AuditEvent::Ended, 2, true).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(verify(&text).unwrap().1.length(), 2);
        std::fs::write(&path, text.replace("ended", "endet")).unwrap();
        assert!(FileLog::open(&path).is_err());
    }
}
