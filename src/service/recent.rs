//! The recent entries of the audit log, for the extension's settings page. A record contains no value.

use std::path::Path;

use policy_dfa::Reason;
use serde_json::{Value, json};

use crate::audit::{Record, segments};
use crate::consent::Answer;
use crate::consent::visible;
use crate::storage::SystemDisk;

/// The number of records that are shown.
const SHOWN: usize = 40;

/// The longest record that is read, in bytes.
const MAX_RECORD: usize = 4096;

/// The maximum number of characters of one column.
const MAX_COLUMN: usize = 400;

/// The recent records, oldest first, each with its time, its subject, its site and its outcome. A missing or unreadable
/// log has none.
pub(super) fn entries(folder: &Path) -> Vec<Value> {
    let disk = &SystemDisk;
    let found = segments(disk, folder).unwrap_or_default();
    // A new segment has few records, so the segment before it is read too.
    let newest: Vec<Vec<u8>> =
        found.iter().rev().take(2).rev().filter_map(|segment| segment.read(disk).ok()).collect();
    let text = newest.concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| line.len() <= MAX_RECORD).collect();
    lines.iter().skip(lines.len().saturating_sub(SHOWN)).map(|line| described(line)).collect()
}

fn described(line: &str) -> Value {
    let Ok(record) = Record::parse(line) else {
        return json!({ "time": null, "what": "a line that is no record of the log", "where": "", "decision": "" });
    };
    let (what, decision) = subject_and_outcome(&record);
    let site = if record.body.contains_key("origins") { "origins" } else { "origin" };
    let site = joined(&record, site, str::to_owned);
    let shown = |text: String| visible(&text, MAX_COLUMN);
    json!({
        "time": record.unix_ms,
        "what": shown(what),
        "where": shown(site),
        "decision": shown(decision),
    })
}

/// The text of a field of a record, in words.
fn of(record: &Record, name: &str) -> String {
    joined(record, name, |text| text.replace('_', " "))
}

/// The content of a field of a record: a text, a number, or a list of texts.
fn joined(record: &Record, name: &str, text: impl Fn(&str) -> String) -> String {
    let word = |value: &Value| value.as_str().map(&text);
    match record.body.get(name) {
        Some(Value::Array(all)) => all.iter().filter_map(word).collect::<Vec<_>>().join(", "),
        Some(Value::Number(number)) => number.to_string(),
        Some(value) => word(value).unwrap_or_default(),
        None => String::new(),
    }
}

/// The subject of a record, and its outcome.
fn subject_and_outcome(record: &Record) -> (String, String) {
    let of = |name| of(record, name);
    let is = |name: &str| record.body.get(name).and_then(Value::as_bool).unwrap_or(false);
    let ended = |reason: String, well: &str| match reason.as_str() {
        "" => well.to_owned(),
        reason => format!("no: {reason}"),
    };
    // The kind with its fields, if it has any.
    let asked_for = |kind: String| {
        let kind = if kind.is_empty() { "something that cannot be read".to_owned() } else { kind };
        match of("fields") {
            fields if fields.is_empty() => kind,
            fields => format!("{kind} ({fields})"),
        }
    };
    let (what, decision) = match record.event.as_str() {
        "started" => ("A task was begun".to_owned(), String::new()),
        "observing" => ("A task was watched, and nothing blocked".to_owned(), String::new()),
        "observed" => (format!("Watched: {}", asked_for(of("about"))), of("would_have_been")),
        "sealed" => {
            (format!("The task may ask for: {}", or_nothing(of("kinds"))), format!("in {}", of("container")))
        }
        "consent_asked" => (format!("You were asked: {}", asked_for(of("about"))), String::new()),
        "consent_answered" => {
            let answer = Answer::from_word(&of("answer")).map(|answer| answer.to_string());
            ("You answered".to_owned(), answer.unwrap_or_default())
        }
        "consent_revoked" => {
            (format!("An answer of yours: {}", asked_for(of("about"))), "taken back".to_owned())
        }
        "consent_never" => (format!("Your rule: {}", of("about")), "never".to_owned()),
        "vault" => (format!("The vault: {}", of("act")), String::new()),
        "verb" => (format!("The agent: {}", of("verb")), ended(of("refused"), "allowed")),
        "refused" => (format!("The agent asked for: {}", asked_for(of("kind"))), ended(of("reason"), "")),
        "intent" => (format!("The agent asked for: {}", asked_for(of("kind"))), "yes".to_owned()),
        "outcome" if of("failed") == Reason::Unconfirmed.name() => {
            ("It was sent to the page, which may have it".to_owned(), "not known".to_owned())
        }
        "outcome" => ("It was delivered".to_owned(), ended(of("failed"), "done")),
        "hand_over" => {
            let done = if is("finished") { "you did" } else { "you did not" };
            (format!("You could finish by hand: {}", of("kind")), done.to_owned())
        }
        "browser" => (format!("The browser was kept from: {}", of("what")), "stopped".to_owned()),
        "ended" => ("The task ended".to_owned(), String::new()),
        "log_opened" => ("This record was opened".to_owned(), String::new()),
        "unknown_outcome" => ("How a delivery ended is not known".to_owned(), String::new()),
        "head_signed" => ("This record was signed".to_owned(), String::new()),
        other => (other.replace('_', " "), String::new()),
    };
    (what, decision)
}

fn or_nothing(text: String) -> String {
    if text.is_empty() { "nothing".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use browser_signals::Origin;
    use policy_dfa::Delivery;
    use sirl::{Field, FieldSet, Kind};

    use super::*;
    use crate::audit::{AuditEvent, AuditLog, FolderLog, SessionId};

    #[test]
    fn the_recent_records_are_shown_and_a_missing_log_has_none() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("audit");
        assert_eq!(entries(&folder), Vec::<Value>::new());
        let mut log = FolderLog::open(&folder).unwrap().log;
        for _ in 0..SHOWN + 5 {
            log.append(SessionId::LOG, &AuditEvent::Ended, 1, false).unwrap();
        }
        let shown = entries(&folder);
        assert_eq!(shown.len(), SHOWN);
        let ended = json!({ "time": 1, "what": "The task ended", "where": "", "decision": "" });
        assert_eq!(shown[SHOWN - 1], ended);
    }

    #[test]
    fn an_entry_has_subject_site_and_outcome() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("audit");
        let mut log = FolderLog::open(&folder).unwrap().log;
        let origin = Origin::parse("https://my_shop.example").unwrap();
        let fields = FieldSet::EMPTY.with(Field::PostalCode);
        let (kind, session) = (Kind::Address, SessionId::new([7; 8]));
        let delivery = Delivery::Fill;
        let intent =
            AuditEvent::Intent { request: 1, kind, fields, origin: origin.clone(), delivery, amount: None };
        let reason = Reason::WrongDestination;
        let refused = AuditEvent::Refused {
            request: 2,
            kind: None,
            fields: FieldSet::EMPTY,
            origin: Some(origin),
            reason,
        };
        for event in [intent, AuditEvent::Outcome { request: 1, failed: None }, refused] {
            log.append(session, &event, 5, false).unwrap();
        }
        std::fs::OpenOptions::new()
            .append(true)
            .open(folder.join("000001.jsonl"))
            .map(|mut file| {
                std::io::Write::write_all(&mut file, b"{\"event\":\"intent\"}\n").unwrap();
            })
            .unwrap();
        let shown = entries(&folder);
        let said = |at: usize| ["what", "where", "decision"].map(|name| shown[at][name].as_str().unwrap());
        let at = shown.len() - 4;
        assert_eq!(
            said(at),
            ["The agent asked for: address (postal code)", "https://my_shop.example", "yes"]
        );
        assert_eq!(said(at + 1), ["It was delivered", "", "done"]);
        let unread = "The agent asked for: something that cannot be read";
        assert_eq!(said(at + 2), [unread, "https://my_shop.example", "no: wrong destination"]);
        assert_eq!(said(at + 3), ["a line that is no record of the log", "", ""]);
    }
}
