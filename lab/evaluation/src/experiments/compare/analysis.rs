//! The analysis of all trials, and its main table.

use std::collections::BTreeSet;

use super::line::TrialLine;
use super::summary::{Summary, summaries};
use super::verdict::{Verdict, verdicts};
use crate::report::{Approach, PageKind, table};
use crate::statistics::{Interval, Resampling};
use crate::trials::arm::{Arm, Payment};

/// Everything that is computed from the trials.
pub struct Analysis {
    /// By approach, agent and half.
    pub summaries: Vec<Summary>,
    /// By agent.
    pub verdicts: Vec<(String, Vec<Verdict>)>,
}

impl Analysis {
    /// Analyses trials.
    pub fn of(lines: &[TrialLine], how: &Resampling) -> Analysis {
        let agents: BTreeSet<&str> = lines.iter().map(|line| line.key.agent.as_str()).collect();
        let verdicts = |agent: &&str| ((*agent).to_owned(), verdicts(lines, agent, how));
        Analysis { summaries: summaries(lines, how), verdicts: agents.iter().map(verdicts).collect() }
    }

    /// Trials that leaked under a guard that promises none: B and C.
    pub fn broken_promises(&self) -> u64 {
        let guarded = |summary: &&Summary| {
            let by_form = |arm: Arm| arm.payment == Payment::Form;
            matches!(summary.approach, Approach::B | Approach::C | Approach::CUnscrubbed)
                || matches!(summary.approach, Approach::Arm(arm) if !by_form(arm))
        };
        self.summaries.iter().filter(guarded).map(|summary| summary.leaking).sum()
    }

    /// The main table for a terminal.
    pub fn table(&self) -> String {
        let rows: Vec<Vec<String>> = [HEADINGS.map(str::to_owned).to_vec()]
            .into_iter()
            .chain(self.summaries.iter().map(|summary| cells(summary).to_vec()))
            .collect();
        table::to_text(&rows)
    }
}

pub(super) const HEADINGS: [&str; 11] = [
    "approach",
    "agent",
    "pages",
    "trials",
    "templates",
    "S",
    "S, by scenario",
    "C",
    "leaks",
    "hijacks",
    "ms/action",
];

pub(super) fn cells(summary: &Summary) -> [String; 11] {
    [
        summary.approach.as_str().to_owned(),
        summary.agent.clone(),
        if summary.pages == PageKind::Hostile { "hostile" } else { "benign" }.to_owned(),
        summary.trials.to_string(),
        summary.templates.to_string(),
        interval(summary.success),
        interval(summary.success_by_kind),
        interval(summary.burden),
        summary.counted(summary.leaking),
        summary.counted(summary.hijacked),
        summary.median_latency().map_or("-".to_owned(), |ms| format!("{ms:.1}")),
    ]
}

pub(super) fn interval(interval: Option<Interval>) -> String {
    interval.map_or("undefined".to_owned(), |i| format!("{:.2} [{:.2}, {:.2}]", i.estimate, i.low, i.high))
}
