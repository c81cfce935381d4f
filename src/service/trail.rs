//! The last records of the audit log, for a person who looks at the extension's page of settings. A record holds no
//! value.

use std::path::Path;

use policy_dfa::Reason;
use serde_json::{Value, json};

use crate::audit::{Record, segments};
use crate::consent::Answer;
use crate::consent::visible::visible;
use crate::storage::SystemDisk;

/// How many records are shown.
const LAST: usize = 40;

/// The longest record that is looked at, in bytes.
const LONGEST: usize = 4096;

/// The most characters of one thing that is said of a record.
const LONGEST_WORDS: usize = 400;

/// The last records, oldest first, each with its time, what it is about, where, and what became of it; none where there
/// is no log, or it cannot be read.
pub(super) fn last(folder: &Path) -> Vec<Value> {
    let disk = &SystemDisk;
    let found = segments(disk, folder).unwrap_or_default();
    // A new segment has few records, so the one before is looked at too.
    let newest: Vec<Vec<u8>> =
        found.iter().rev().take(2).rev().filter_map(|segment| segment.read(disk).ok()).collect();
    let text = newest.concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| line.len() <= LONGEST).collect();
    lines.iter().skip(lines.len().saturating_sub(LAST)).map(|line| told(line)).collect()
}

fn told(line: &str) -> Value {
    let Ok(record) = Record::parse(line) else {
        return json!({ "time": null, "what": "a line that is no record of the log", "where": "", "decision": "" });
    };
    let (what, decision) = words(&record);
    let place = if record.body.contains_key("origins") { "origins" } else { "origin" };
    let place = joined(&record, place, str::to_owned);
    let shown = |text: String| visible(&text, LONGEST_WORDS);
    json!({
        "time": record.unix_ms,
        "what": shown(what),
        "where": shown(place),
        "decision": shown(decision),
    })
}

/// What a record says under a name, as words.
fn of(record: &Record, name: &str) -> String {
    joined(record, name, |text| text.replace('_', " "))
}

/// What a record says under a name: a text, a number, or texts one after the other.
fn joined(record: &Record, name: &str, text: impl Fn(&str) -> String) -> String {
    let word = |value: &Value| value.as_str().map(&text);
    match record.body.get(name) {
        Some(Value::Array(all)) => all.iter().filter_map(word).collect::<Vec<_>>().join(", "),
        Some(Value::Number(number)) => number.to_string(),
        Some(value) => word(value).unwrap_or_default(),
        None => String::new(),
    }
}

/// What happened, and what became of it.
fn words(record: &Record) -> (String, String) {
    let of = |name| of(record, name);
    let is = |name: &str| record.body.get(name).and_then(Value::as_bool).unwrap_or(false);
    let ended = |reason: String, well: &str| match reason.as_str() {
        "" => well.to_owned(),
        reason => format!("no: {reason}"),
    };
    // With its fields, where it has some.
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
        "outcome" if of("failed") == Reason::Unconfirmed.code() => {
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
    fn the_last_records_are_shown_and_a_missing_log_is_none() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("audit");
        assert_eq!(last(&folder), Vec::<Value>::new());
        let mut log = FolderLog::open(&folder).unwrap().log;
        for _ in 0..LAST + 5 {
            log.append(SessionId::LOG, &AuditEvent::Ended, 1, false).unwrap();
        }
        let told = last(&folder);
        assert_eq!(told.len(), LAST);
        let ended = json!({ "time": 1, "what": "The task ended", "where": "", "decision": "" });
        assert_eq!(told[LAST - 1], ended);
    }

    #[test]
    fn a_record_says_what_where_and_what_became_of_it() {
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
        let told = last(&folder);
        let said = |at: usize| ["what", "where", "decision"].map(|name| told[at][name].as_str().unwrap());
        let at = told.len() - 4;
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
