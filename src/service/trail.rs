//! The last records of the audit log, for the extension's page of settings. A record holds no value.

use std::path::Path;

use crate::audit::segments;
use crate::storage::SystemDisk;

/// How many records are shown.
const LAST: usize = 40;

/// The longest record that is shown, in bytes.
const LONGEST: usize = 4096;

/// The last records, oldest first; none where there is no log, or it cannot be read.
pub(super) fn last(folder: &Path) -> Vec<String> {
    let disk = &SystemDisk;
    let found = segments(disk, folder).unwrap_or_default();
    // A new segment has few records, so the one before is looked at too.
    let newest: Vec<Vec<u8>> =
        found.iter().rev().take(2).rev().filter_map(|segment| segment.read(disk).ok()).collect();
    let text = newest.concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| line.len() <= LONGEST).collect();
    lines.iter().skip(lines.len().saturating_sub(LAST)).map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::audit::{AuditEvent, AuditLog, FolderLog, SessionId};

    #[test]
    fn the_last_records_are_shown_and_a_missing_log_is_none() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("audit");
        assert_eq!(last(&folder), Vec::<String>::new());
        let mut log = FolderLog::open(&folder).unwrap().log;
        for _ in 0..LAST + 5 {
            log.append(SessionId::LOG, &AuditEvent::Ended, 1, false).unwrap();
        }
        let lines = last(&folder);
        assert_eq!(lines.len(), LAST);
        assert!(lines[LAST - 1].contains("\"ended\""), "{}", lines[LAST - 1]);
    }
}
