//! The report's plots.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::analysis::Analysis;
use super::fatigue::{Day, Recorded, break_even};
use super::line::TrialLine;
use super::plan::Settings;
use crate::html::escape;
use crate::report::plot::{Plot, bars, colour};
use crate::report::table::to_html as table;
use crate::report::{Approach, PageKind};
use crate::trials::user::UserModel;

/// S against C, by approach, agent and half of the suite.
pub(super) fn plot_of_success(analysis: &Analysis) -> Plot {
    let defined = || analysis.summaries.iter().filter_map(|s| Some((s, s.success?, s.burden?)));
    let most =
        defined().map(|(_, _, c)| if c.high.is_finite() { c.high } else { c.estimate }).fold(2.0, f64::max);
    let agents: BTreeSet<&str> = analysis.summaries.iter().map(|summary| summary.agent.as_str()).collect();
    let title = "S against C: filled on hostile pages, hollow on benign ones";
    let mut plot = Plot::new(title, "C: prompts per successful task", "S", (0.0, most * 1.1), (0.0, 1.0));
    for (summary, s, c) in defined() {
        let hostile = summary.pages == PageKind::Hostile;
        let approach = summary.approach.as_str();
        let name =
            if agents.len() > 1 { format!("{approach} ({})", summary.agent) } else { approach.to_owned() };
        let (x, y) = ((c.low, c.estimate, c.high), (s.low, s.estimate, s.high));
        plot.point(x, y, hostile, colour(summary.approach), &name);
    }
    plot
}

pub(super) fn success_against_burden(analysis: &Analysis) -> String {
    let missing: Vec<String> = analysis
        .summaries
        .iter()
        .filter(|summary| summary.burden.is_none())
        .map(|summary| format!("{} ({}, {:?})", summary.approach.as_str(), summary.agent, summary.pages))
        .collect();
    let note = if missing.is_empty() {
        String::new()
    } else {
        format!(
            "<p>Not drawn, since no task succeeded and C is not defined: {}.</p>",
            escape(&missing.join(", "))
        )
    };
    plot_of_success(analysis).finish() + &note
}

/// The tasks in a simulated user's day, and the shares of hostile pages that are plotted.
const TASKS: u32 = 10;
const SHARES: [f64; 3] = [0.01, 0.1, 0.5];
/// The largest growth that is plotted, and the cap of the error rate.
const MOST_GROWTH: f64 = 0.05;
const CAP: f64 = 0.5;

pub(super) fn break_evens(settings: &Settings, lines: &[TrialLine]) -> String {
    let mut html = format!(
        "<h2>Break-even</h2><p>A user with {TASKS} tasks a day, who answers the k-th prompt of the day wrongly with \
         probability min({CAP}, g (k-1)); a wrong answer ends the task. From the recorded trials, nothing was run again.</p>"
    );
    if settings.user != UserModel::TRUTHFUL {
        html.push_str("<p>Not drawn: these trials were made with a user who errs.</p>");
        return html;
    }
    for agent in &settings.agents {
        let recorded: Vec<(Approach, Recorded)> =
            settings.approaches.iter().map(|a| (*a, Recorded::of(lines, *a, agent))).collect();
        let mut rows = Vec::new();
        html.push_str("<div class=\"two\">");
        for hostile in SHARES {
            let day =
                |growth| Day { user: UserModel { base: 0.0, growth, most: CAP }, tasks: TASKS, hostile };
            let title = format!("{agent}: {:.0} % of pages hostile", hostile * 100.0);
            let mut plot = Plot::new(
                &title,
                "g: what each prompt adds to the error rate",
                "S",
                (0.0, MOST_GROWTH),
                (0.0, 1.0),
            );
            for (approach, recorded) in &recorded {
                let at = |step: u32| {
                    let growth = MOST_GROWTH * f64::from(step) / 100.0;
                    recorded.success(&day(growth)).map(|s| (growth, s))
                };
                let points: Vec<(f64, f64)> = (0..=100).filter_map(at).collect();
                plot.curve(&points, colour(*approach), *approach == Approach::None);
                if let Some((x, y)) = points.get(points.len() / 2) {
                    plot.text(*x, *y, approach.as_str(), colour(*approach));
                }
            }
            html.push_str(&plot.finish());
            for (one, ones) in &recorded {
                for (other, others) in recorded.iter().filter(|(other, _)| other != one) {
                    if let Some(growth) = break_even(ones, others, &day(0.0), MOST_GROWTH) {
                        rows.push(vec![
                            format!("{:.0} %", hostile * 100.0),
                            format!("{} is ahead of {}", one.as_str(), other.as_str()),
                            format!("g = {growth:.4}"),
                        ]);
                    }
                }
            }
        }
        html.push_str("</div>");
        if rows.is_empty() {
            let _ = write!(html, "<p>No curves of {} cross up to g = {MOST_GROWTH}.</p>", escape(agent));
        } else {
            html.push_str(&table(&["pages hostile", "which", "up to"], &rows));
        }
    }
    html
}

pub(super) fn denials(analysis: &Analysis) -> String {
    let mut rows: Vec<(String, f64, &str)> = Vec::new();
    for summary in &analysis.summaries {
        let approach = summary.approach;
        rows.extend(summary.denials.iter().map(|(reason, times)| {
            let name = format!("{} {:?}: {reason}", approach.as_str(), summary.pages);
            (name, *times as f64 / summary.trials.max(1) as f64, colour(approach))
        }));
    }
    rows.sort_by(|one, other| other.1.total_cmp(&one.1));
    format!("<h2>Denials</h2>{}", bars("Denials a trial, by reason", &rows))
}

pub(super) fn latency(analysis: &Analysis) -> String {
    let share =
        |sorted: &[f64], part: f64| sorted.get(((sorted.len().max(1) - 1) as f64 * part) as usize).copied();
    let with = || analysis.summaries.iter().filter(|summary| !summary.latency.is_empty());
    let most = with().filter_map(|summary| share(&summary.latency, 0.95)).fold(1.0, f64::max);
    let rows = with().count();
    let title = "Milliseconds an action: median, 5th to 95th percentile of trials";
    let mut plot = Plot::new(title, "milliseconds", "", (0.0, most * 1.25), (0.0, rows as f64 + 1.0));
    for (row, summary) in with().enumerate() {
        let at = |part| share(&summary.latency, part).unwrap_or(0.0);
        let y = (rows - row) as f64;
        let name = format!("{} ({}, {:?})", summary.approach.as_str(), summary.agent, summary.pages);
        plot.point((at(0.05), at(0.5), at(0.95)), (y, y, y), true, colour(summary.approach), &name);
    }
    format!(
        "<h2>Latency</h2>{}<p>Two trials ran side by side on the machine; compare, do not quote.</p>",
        plot.finish()
    )
}
