//! Approach B beside B without one of its parts: what each part protects, and what it costs.

use std::collections::BTreeMap;

use super::line::TrialLine;
use crate::report::Approach;
use crate::report::table::to_html as table;

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
    format!(
        "<h2>Approach B without its parts</h2>{}<p>Each part's share of the protection is the number of trials that leak, or end in \
         another order, without it and not with it. Parts overlap: what one lets through, another may still stop.</p>",
        table(&HEADINGS, &cells)
    )
}

fn rows(lines: &[TrialLine]) -> BTreeMap<(Approach, String), Row> {
    let is_whole = |line: &&TrialLine| line.key.approach == Approach::B;
    let whole: BTreeMap<_, &TrialLine> =
        lines.iter().filter(is_whole).map(|line| (line.key.task(), line)).collect();
    let mut rows: BTreeMap<(Approach, String), Row> = BTreeMap::new();
    for line in lines.iter().filter(|line| matches!(line.key.approach, Approach::B | Approach::Without(_))) {
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
}
