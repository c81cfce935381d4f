//! Summaries of the trials by approach, agent and half of the suite.

use std::collections::BTreeMap;

use super::line::TrialLine;
use crate::agent::chat::DIVERGED;
use crate::report::{Approach, PageKind};
use crate::statistics::{
    Interval, Pair, Resampling, Tally, burden_interval, median, rate_interval, rule_of_three,
};
use crate::trials::judge::LeakChannel;

/// The unit of the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The page's template.
    Template,
    /// The scenario: a coarser unit, reported as well.
    Kind,
}

/// One approach and agent on one half of the suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The approach.
    pub approach: Approach,
    /// The agent's name.
    pub agent: String,
    /// The half of the suite.
    pub pages: PageKind,
    /// The number of trials.
    pub trials: u64,
    /// The number of templates.
    pub templates: u64,
    /// S.
    pub success: Option<Interval>,
    /// S with the scenario as the unit.
    pub success_by_kind: Option<Interval>,
    /// C; `None` if it is not defined.
    pub burden: Option<Interval>,
    /// The number of trials with a leak.
    pub leaking: u64,
    /// The number of leaked values, by channel.
    pub channels: BTreeMap<LeakChannel, u64>,
    /// The number of trials with an order that is not the user's.
    pub hijacked: u64,
    /// Denials by reason.
    pub denials: BTreeMap<String, u64>,
    /// Grants by kind.
    pub grants: BTreeMap<String, u64>,
    /// The mean milliseconds of an action in each trial, in ascending order.
    pub latency: Vec<f64>,
    /// The number of trials that broke off.
    pub broken_off: u64,
    /// The number of repetitions after a failure of browser or servers.
    pub repeated: u64,
}

impl Summary {
    /// The median of the milliseconds.
    pub fn median_latency(&self) -> Option<f64> {
        median(&self.latency)
    }

    /// A count of trials as text. A zero is followed by the upper bound of its rate: three over the number of
    /// templates.
    pub fn counted(&self, count: u64) -> String {
        match rule_of_three(self.templates) {
            Some(bound) if count == 0 => format!("0 (< {:.1} %)", bound * 100.0),
            _ => format!("{count} of {}", self.trials),
        }
    }
}

/// The half of the suite to which a trial belongs.
pub fn half(line: &TrialLine) -> PageKind {
    if line.key.hostile { PageKind::Hostile } else { PageKind::Benign }
}

/// The tallies of the given lines, by unit.
pub fn tallies<'a>(lines: impl Iterator<Item = &'a TrialLine>, unit: Unit) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for line in lines {
        let name = match unit {
            Unit::Template => line.template.clone(),
            Unit::Kind => line.key.kind.as_str().to_owned(),
        };
        let tally = tallies.entry(name).or_default();
        tally.trials += 1;
        tally.successes += u64::from(line.success);
        tally.prompts += line.prompts;
    }
    tallies
}

/// The tallies of two approaches of one agent on the trials that both have made, by unit.
pub fn pairs(
    lines: &[TrialLine],
    agent: &str,
    pages: PageKind,
    new: Approach,
    old: Approach,
    unit: Unit,
) -> Vec<Pair> {
    let of = |approach: Approach| -> BTreeMap<(u64, &str), &TrialLine> {
        let own = lines
            .iter()
            .filter(|line| line.key.approach == approach && line.key.agent == agent && half(line) == pages);
        own.map(|line| ((line.key.seed, line.key.kind.as_str()), line)).collect()
    };
    let (new, old) = (of(new), of(old));
    let unreplayed =
        |line: &TrialLine| line.broke_off.as_deref().is_some_and(|why| why.starts_with(DIVERGED));
    let shared: Vec<_> = new
        .iter()
        .filter_map(|(key, new)| Some((*new, *old.get(key)?)))
        .filter(|(new, old)| !unreplayed(new) && !unreplayed(old))
        .collect();
    let (new, old) = (
        tallies(shared.iter().map(|(new, _)| *new), unit),
        tallies(shared.iter().map(|(_, old)| *old), unit),
    );
    let pair =
        |(name, new): (&String, &Tally)| Pair { new: *new, old: old.get(name).copied().unwrap_or_default() };
    new.iter().map(pair).collect()
}

/// Summaries of every approach, agent and half, in that order.
pub fn summaries(lines: &[TrialLine], how: &Resampling) -> Vec<Summary> {
    let mut groups: BTreeMap<(Approach, &str, PageKind), Vec<&TrialLine>> = BTreeMap::new();
    for line in lines {
        groups.entry((line.key.approach, &line.key.agent, half(line))).or_default().push(line);
    }
    groups
        .into_iter()
        .map(|((approach, agent, pages), group)| summary(approach, agent, pages, &group, how))
        .collect()
}

fn summary(
    approach: Approach,
    agent: &str,
    pages: PageKind,
    group: &[&TrialLine],
    how: &Resampling,
) -> Summary {
    let by = |unit| tallies(group.iter().copied(), unit).into_values().collect::<Vec<Tally>>();
    let (templates, kinds) = (by(Unit::Template), by(Unit::Kind));
    let count = |test: fn(&TrialLine) -> bool| group.iter().filter(|line| test(line)).count() as u64;
    let mut channels = BTreeMap::new();
    for leak in group.iter().flat_map(|line| &line.leaks) {
        *channels.entry(leak.channel).or_default() += 1;
    }
    let acted = group.iter().filter(|line| line.actions > 0);
    let mut latency: Vec<f64> = acted.map(|line| line.milliseconds / line.actions as f64).collect();
    latency.sort_by(f64::total_cmp);
    Summary {
        approach,
        agent: agent.to_owned(),
        pages,
        trials: group.len() as u64,
        templates: templates.len() as u64,
        success: rate_interval(&templates, how),
        success_by_kind: rate_interval(&kinds, how),
        burden: burden_interval(&templates, how),
        leaking: count(|line| !line.leaks.is_empty()),
        channels,
        hijacked: count(|line| !line.hijacks.is_empty()),
        denials: sum(group.iter().map(|line| &line.denials)),
        grants: sum(group.iter().map(|line| &line.grants)),
        latency,
        broken_off: count(|line| line.broke_off.is_some()),
        repeated: group.iter().map(|line| u64::from(line.repeated)).sum(),
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, times) in counts.flatten() {
        *all.entry(name.clone()).or_default() += times;
    }
    all
}
