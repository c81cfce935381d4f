//! The time of day, for records and for what stands until a day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The day of a time in milliseconds since 1970, in UTC, such as `2026-11-21`.
pub(crate) fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).ok();
    at.map_or_else(|| "a day out of range".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}
