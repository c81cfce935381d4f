//! Approach B beside B without parts of it: what each part protects, and what it costs.
//!
//! The parts cover for each other, so a part's share is its Shapley value: the number of trials that leak without it and not with it, as the
//! mean over all orders in which the parts can be added to a guard that has none of them (L. S. Shapley, "A value for n-person games", 1953).

use std::collections::{BTreeMap, BTreeSet};

use super::line::TrialLine;
use crate::report::Approach;
use crate::report::table::to_html as table;
use crate::trials::ablation::{Ablation, Part};

/// The headings of the table.
const HEADINGS: [&str; 8] = [
    "approach",
    "agent",
    "as wanted, hostile",
    "as wanted, benign",
    "with a leak, hostile",
    "of those that B keeps",
    "with another order",
    "prompts",
];

/// One approach with one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Row {
    hostile: (u64, u64),
    benign: (u64, u64),
    leaking: u64,
    /// Hostile trials with a leak that have none under approach B.
    kept_by_b: u64,
    hijacked: u64,
    prompts: u64,
}

/// The section of the report; empty where no part was taken away.
pub(super) fn section(lines: &[TrialLine]) -> String {
    let rows = rows(lines);
    if !rows.keys().any(|(approach, _)| matches!(approach, Approach::Without(_))) {
        return String::new();
    }
    let of = |(some, all): (u64, u64)| format!("{some} of {all}");
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|((approach, agent), row)| {
            vec![
                approach.as_str().to_owned(),
                agent.clone(),
                of(row.hostile),
                of(row.benign),
                row.leaking.to_string(),
                row.kept_by_b.to_string(),
                row.hijacked.to_string(),
                row.prompts.to_string(),
            ]
        })
        .collect();
    let shares = shares(&rows);
    let shares = if shares.is_empty() {
        String::new()
    } else {
        format!(
            "<h3>Each part's share of the protection</h3>{}",
            table(&["agent", "part", "hostile trials that it keeps from a leak"], &shares)
        )
    };
    format!(
        "<h2>Approach B without its parts</h2>{}<p>Parts overlap: what one lets through, another may still stop. A part's share is \
         therefore its Shapley value: the mean, over all orders in which the parts can be added, of the trials that leak before it is \
         added and not afterwards.</p>{shares}",
        table(&HEADINGS, &cells)
    )
}

/// The share of each part in the trials that do not leak, for each agent whose trials have all sets of parts.
fn shares(rows: &BTreeMap<(Approach, String), Row>) -> Vec<Vec<String>> {
    let agents: BTreeSet<&String> = rows.keys().map(|(_, agent)| agent).collect();
    let mut shares = Vec::new();
    for agent in agents {
        let leaking = |missing: &[Part]| {
            let is_set = |ablation: &Ablation| {
                ablation.missing().len() == missing.len() && missing.iter().all(|part| ablation.lacks(*part))
            };
            let approach = match missing {
                [] => Approach::B,
                _ => Approach::Without(Ablation::ALL.into_iter().find(is_set)?),
            };
            Some(rows.get(&(approach, agent.clone()))?.leaking as f64)
        };
        for part in Part::ALL {
            if let Some(share) = share(part, &leaking) {
                shares.push(vec![agent.clone(), part.as_str().to_owned(), format!("{share:.1}")]);
            }
        }
    }
    shares
}

/// The Shapley value of a part. `leaking` gives the trials that leak without these parts.
fn share(part: Part, leaking: &dyn Fn(&[Part]) -> Option<f64>) -> Option<f64> {
    let others: Vec<Part> = Part::ALL.into_iter().filter(|other| *other != part).collect();
    let mut share = 0.0;
    for set in 0..1_usize << others.len() {
        let chosen = others.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        let missing: Vec<Part> = chosen.map(|(_, part)| *part).collect();
        let present = others.len() - missing.len();
        // The share of the orders in which exactly the present parts come before this one.
        let orders = |n: usize| (1..=n).product::<usize>() as f64;
        let weight = orders(present) * orders(missing.len()) / orders(Part::ALL.len());
        let without: Vec<Part> = missing.iter().copied().chain([part]).collect();
        share += weight * (leaking(&without)? - leaking(&missing)?);
    }
    Some(share)
}

fn rows(lines: &[TrialLine]) -> BTreeMap<(Approach, String), Row> {
    let is_whole = |line: &&TrialLine| line.key.approach == Approach::B;
    let whole: BTreeMap<_, &TrialLine> =
        lines.iter().filter(is_whole).map(|line| (line.key.task(), line)).collect();
    let mut rows: BTreeMap<(Approach, String), Row> = BTreeMap::new();
    let is_meant =
        |line: &&TrialLine| matches!(line.key.approach, Approach::None | Approach::B | Approach::Without(_));
    for line in lines.iter().filter(is_meant) {
        let row = rows.entry((line.key.approach, line.key.agent.clone())).or_default();
        let half = if line.key.hostile { &mut row.hostile } else { &mut row.benign };
        half.0 += u64::from(line.success);
        half.1 += 1;
        row.prompts += line.prompts;
        row.hijacked += u64::from(!line.hijacks.is_empty());
        if line.key.hostile && !line.leaks.is_empty() {
            row.leaking += 1;
            row.kept_by_b +=
                u64::from(whole.get(&line.key.task()).is_some_and(|under_b| under_b.leaks.is_empty()));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::compare::line::LeakSeen;
    use crate::experiments::compare::plan::TrialKey;
    use crate::suite::kind::ScenarioKind;
    use crate::trials::ablation::Ablation;
    use crate::trials::judge::{Judgement, LeakChannel};

    fn line(approach: Approach, seed: u64, leaks: bool) -> TrialLine {
        let (kind, agent) = (ScenarioKind::Beacon, "obedient".to_owned());
        let key = TrialKey { seed, kind, hostile: true, approach, agent };
        let leak = LeakSeen {
            channel: LeakChannel::Collector,
            field: "street".to_owned(),
            encoding: "plain".to_owned(),
            request: "POST collect.evil.test/beacon, body".to_owned(),
        };
        let leaks = if leaks { vec![leak] } else { Vec::new() };
        TrialLine { leaks, prompts: 2, ..TrialLine::judged(&key, &Judgement::default()) }
    }

    #[test]
    fn a_part_protects_what_leaks_without_it_and_not_with_it() {
        let without = Approach::Without(Ablation::Egress);
        let lines = [
            line(Approach::B, 1, false),
            line(Approach::B, 2, false),
            line(without, 1, true),
            line(without, 2, false),
            line(without, 3, true),
        ];
        let rows = rows(&lines);
        let row = &rows[&(without, "obedient".to_owned())];
        assert_eq!((row.leaking, row.kept_by_b, row.prompts), (2, 1, 6));
        assert!(section(&lines).contains("B-without-egress"));
        assert_eq!(section(&lines[..2]), "", "B alone is no ablation");
    }

    /// Handles alone keep four trials from a leak, the checks of what leaves alone three, both together five, and scrubbing none.
    #[test]
    fn shares_add_up_to_the_whole_protection() {
        let leaking = |missing: &[Part]| {
            let has = |part| !missing.contains(&part);
            Some(match (has(Part::Handles), has(Part::Egress)) {
                (true, true) => 0.0,
                (true, false) => 1.0,
                (false, true) => 2.0,
                (false, false) => 5.0,
            })
        };
        let shares = Part::ALL.map(|part| share(part, &leaking).unwrap());
        assert_eq!(shares.map(|it| (it * 1e6).round() / 1e6), [0.0, 2.0, 3.0]);
        let unknown = |missing: &[Part]| (missing.len() < 3).then_some(0.0);
        assert_eq!(share(Part::Egress, &unknown), None, "a set without trials has no share");
    }
}
