//! The hash chain, and the releases that are open at its end.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::problem::Problem;
use super::record::{LogId, Record, SessionId, canonical, hex};

/// A release that was begun and has no recorded outcome. After a crash it is unknown whether it took place, and the user
/// has to be informed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedRelease {
    /// Its session.
    pub session: SessionId,
    /// Its number in the session.
    pub request: u64,
    /// The number of the record that began it.
    pub record: u64,
    /// The time of that record, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The kind of request.
    pub kind: String,
    /// The fields.
    pub fields: Vec<String>,
    /// The page, or the payee.
    pub origin: String,
    /// For a purchase: the amount. For a card in a form: the total that the page named.
    pub amount: Option<String>,
}

impl fmt::Display for UnfinishedRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}, request {} of session {}: ", self.record, self.request, self.session)?;
        match &self.amount {
            Some(amount) if self.kind == "purchase" => {
                write!(f, "{} of {amount} to {}", self.kind, self.origin)
            }
            _ => write!(f, "{} ({}) to {}", self.kind, self.fields.join(", "), self.origin),
        }
    }
}

/// The end of a chain, on which the next record builds, and the releases that are open there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    next: u64,
    head: [u8; 32],
    log: Option<LogId>,
    signed: bool,
    open: BTreeMap<(SessionId, u64), UnfinishedRelease>,
}

impl Chain {
    /// The number of records.
    pub fn length(&self) -> u64 {
        self.next
    }

    /// The hash of the last record; zeros where there is none.
    pub fn head(&self) -> [u8; 32] {
        self.head
    }

    /// The log's id, if a record contains it. Single files of an earlier version have none.
    pub fn log(&self) -> Option<LogId> {
        self.log
    }

    /// Whether a record says that a head was signed.
    pub fn was_signed(&self) -> bool {
        self.signed
    }

    /// The releases that were begun and have no recorded outcome, by session.
    pub fn open(&self) -> impl Iterator<Item = &UnfinishedRelease> {
        self.open.values()
    }

    /// Makes the next record and advances the chain. Returns the record's line, without a line end.
    ///
    /// # Errors
    /// [`Problem::OutOfStep`] for a release that ends and was not begun, that is begun twice, or that names no
    /// session. The chain is then unchanged.
    pub(super) fn link(&mut self, session: SessionId, body: Value, unix_ms: u64) -> Result<String, Problem> {
        let Value::Object(mut body) = body else { return Err(Problem::NotARecord) };
        let Some(Value::String(event)) = body.remove("event") else { return Err(Problem::NotARecord) };
        if matches!(event.as_str(), "intent" | "outcome") && !session.is_session() {
            return Err(Problem::OutOfStep);
        }
        let (number, previous) = (self.next, self.head);
        let mut record = Record { number, unix_ms, session, hash: [0; 32], previous, event, body };
        let mut whole = record.unsealed();
        record.hash = Sha256::digest(canonical(&whole)).into();
        whole.insert("hash".into(), hex(&record.hash).into());
        self.apply(&record)?;
        self.next += 1;
        self.head = record.hash;
        Ok(canonical(&whole))
    }

    /// Checks one line against the chain and advances the chain.
    ///
    /// # Errors
    /// The problem of the line; the chain is then unchanged.
    pub fn follow(&mut self, line: &str) -> Result<Record, Problem> {
        let record = Record::parse(line)?;
        if record.previous != self.head {
            return Err(Problem::Unlinked);
        }
        if record.number != self.next {
            return Err(Problem::Number(self.next));
        }
        self.apply(&record)?;
        self.next += 1;
        self.head = record.hash;
        Ok(record)
    }

    /// Applies a record to the open releases and to the log's state.
    fn apply(&mut self, record: &Record) -> Result<(), Problem> {
        match record.event.as_str() {
            "log_opened" => {
                let log = record.text("log").and_then(LogId::parse).ok_or(Problem::NotARecord)?;
                if self.log.is_some_and(|known| known != log) {
                    return Err(Problem::OtherLog);
                }
                self.log = Some(log);
            }
            "head_signed" => self.signed = true,
            "intent" => {
                let unfinished = unfinished(record)?;
                let key = (record.session, unfinished.request);
                // Sessions without ids, of an earlier version, all counted their requests from one.
                if record.session.is_session() && self.open.contains_key(&key) {
                    return Err(Problem::OutOfStep);
                }
                self.open.insert(key, unfinished);
            }
            "outcome" | "unknown_outcome" => {
                let request = record.whole("request").ok_or(Problem::NotARecord)?;
                let was_open = self.open.remove(&(record.session, request)).is_some();
                if !was_open && record.session.is_session() {
                    return Err(Problem::OutOfStep);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn unfinished(record: &Record) -> Result<UnfinishedRelease, Problem> {
    let text = |key| record.text(key).map(str::to_owned);
    let listed = record.body.get("fields").and_then(Value::as_array).ok_or(Problem::NotARecord)?;
    Ok(UnfinishedRelease {
        session: record.session,
        request: record.whole("request").ok_or(Problem::NotARecord)?,
        record: record.number,
        unix_ms: record.unix_ms,
        kind: text("kind").ok_or(Problem::NotARecord)?,
        fields: listed.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        origin: text("origin").ok_or(Problem::NotARecord)?,
        amount: text("amount"),
    })
}
