//! What came together, counted.

use std::collections::BTreeMap;
use std::fmt;

use browser_signals::Origin;
use serde_json::{Value, json};

use crate::audit::{About, WouldHave};

/// One line of a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// What it is about.
    pub about: About,
    /// On which page; none where no origin was known.
    pub origin: Option<Origin>,
    /// What a guard would have done.
    pub would: WouldHave,
}

/// What a guard would have done in a session in which nothing was blocked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservationReport {
    /// What a guard would have let pass, by what it is about.
    pub passed: BTreeMap<About, u64>,
    /// What it would not have let pass as it is.
    pub rows: BTreeMap<Row, u64>,
    /// How many prompts the user would have seen.
    pub prompts: u32,
    /// How many records could not be written. A guard would have refused there; this goes on.
    pub unrecorded: u64,
}

impl ObservationReport {
    /// How many times the user would have been asked, the agent refused, or words withheld.
    pub fn count(&self, of: impl Fn(&Row) -> bool) -> u64 {
        self.rows.iter().filter(|(row, _)| of(row)).map(|(_, count)| count).sum()
    }

    /// How many things a guard would have refused.
    pub fn denied(&self) -> u64 {
        self.count(|row| matches!(row.would, WouldHave::Denied(_)))
    }

    /// How many it would have asked about. Several may share a prompt.
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
                "reason": row.would.reason().map(|reason| reason.code()),
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
            let reason = row.would.reason().map(|reason| reason.code()).unwrap_or_default();
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
