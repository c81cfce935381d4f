//! The report of an observation: counts of the prompts and refusals that a guard would have caused.

use std::collections::BTreeMap;
use std::fmt;

use browser_signals::Origin;
use serde_json::{Value, json};

use crate::audit::{AuditSubject, WouldHave};

/// One row of a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReportRow {
    /// The subject.
    pub about: AuditSubject,
    /// The page's origin; `None` if it is unknown.
    pub origin: Option<Origin>,
    /// The guard's reaction.
    pub would: WouldHave,
}

/// The reactions of a guard in a session in which nothing was blocked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservationReport {
    /// The number of events that a guard would have let pass, by subject.
    pub passed: BTreeMap<AuditSubject, u64>,
    /// The number of events that it would not have let pass unchanged.
    pub rows: BTreeMap<ReportRow, u64>,
    /// The number of prompts that the user would have seen.
    pub prompts: u32,
    /// The number of records that could not be written. A guard would have refused these actions; an observer goes on.
    pub unrecorded: u64,
}

impl ObservationReport {
    /// The number of events in the rows that satisfy a predicate.
    pub fn count(&self, of: impl Fn(&ReportRow) -> bool) -> u64 {
        self.rows.iter().filter(|(row, _)| of(row)).map(|(_, count)| count).sum()
    }

    /// The number of events that a guard would have refused.
    pub fn denied(&self) -> u64 {
        self.count(|row| matches!(row.would, WouldHave::Denied(_)))
    }

    /// The number of events that a guard would have asked about. Several may share a prompt.
    pub fn asked(&self) -> u64 {
        self.count(|row| row.would == WouldHave::Asked)
    }

    /// The report as JSON, without values.
    pub fn to_json(&self) -> Value {
        let passed: BTreeMap<&str, u64> = self.passed.iter().map(|(about, n)| (about.as_str(), *n)).collect();
        let rows = self.rows.iter().map(|(row, count)| {
            json!({
                "about": row.about.as_str(),
                "origin": row.origin.as_ref().map(ToString::to_string),
                "would_have_been": row.would.as_str(),
                "reason": row.would.reason().map(|reason| reason.name()),
                "count": count,
            })
        });
        json!({
            "blocked": 0,
            "prompts": self.prompts,
            "passed": passed,
            "would_have": rows.collect::<Vec<_>>(),
            "unrecorded": self.unrecorded,
        })
    }
}

impl fmt::Display for ObservationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed: u64 = self.passed.values().sum();
        writeln!(
            f,
            "nothing was blocked; a guard would have let {passed} pass, refused {}, and asked in {} prompts",
            self.denied(),
            self.prompts
        )?;
        for (row, count) in &self.rows {
            let origin = row.origin.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            let reason = row.would.reason().map(|reason| reason.name()).unwrap_or_default();
            writeln!(
                f,
                "{count:>6}  {:<9} {:<10} {origin} {reason}",
                row.would.as_str(),
                row.about.as_str()
            )?;
        }
        if self.unrecorded > 0 {
            writeln!(f, "{} records could not be written", self.unrecorded)?;
        }
        Ok(())
    }
}
