//! Formats one record for a person or a program.

use portcullis::audit::Record;
use serde_json::Value;

use super::Selection;

impl Selection {
    /// Formats a line of the log, if it is selected. A line that is not a record is always shown to a person, and to a
    /// program that asked for everything.
    pub fn line(&self, line: &str) -> Option<String> {
        let everything = self.session.is_none() && self.event.is_none();
        let Ok(record) = Record::parse(line) else {
            return (!self.json || everything).then(|| {
                if self.json { line.to_owned() } else { "?     not a record of the log".to_owned() }
            });
        };
        let of_session = self.session.is_none_or(|session| session == record.session);
        let of_event = self.event.as_ref().is_none_or(|event| *event == record.event);
        (of_session && of_event).then(|| if self.json { line.to_owned() } else { readable(&record) })
    }
}

/// Time, number, session, event, and the event's fields.
fn readable(record: &Record) -> String {
    let says: Vec<String> = record
        .body
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| format!("{}={}", plain(key), word(value)))
        .collect();
    let (number, session, event) = (record.number, record.session.to_string(), plain(&record.event));
    format!("{} {number:<5} {session:<16} {event:<16} {}", time(record.unix_ms), says.join(" "))
}

/// A time as UTC text; the number itself if it is out of range.
pub fn time(unix_ms: u64) -> String {
    let stamp = i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    stamp.map_or(unix_ms.to_string(), |stamp| format!("{stamp:.3}"))
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        Value::Array(items) => items.iter().map(word).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Escapes control characters, so that a forged log cannot control the terminal.
fn plain(text: &str) -> String {
    text.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc() {
        assert_eq!(time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(time(1_795_276_947_123), "2026-11-21T16:02:27.123Z");
        assert_eq!(time(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}"), "a\\u{1b}[2Jb\\u{202e}");
    }
}
