//! The report's list of single leaks.

use super::line::TrialLine;
use crate::report::Approach;
use crate::report::table::to_html as table;

/// The report's section: every leak under a guard. Without a guard there are too many to read, and the main table
/// counts them by channel.
pub(super) fn section(lines: &[TrialLine]) -> String {
    let guarded = lines.iter().filter(|line| line.key.approach != Approach::None);
    let rows: Vec<Vec<String>> = guarded
        .flat_map(|line| {
            line.leaks.iter().map(|leak| {
                let half = if line.key.hostile { "hostile" } else { "benign" };
                vec![
                    line.key.approach.as_str().to_owned(),
                    line.key.agent.clone(),
                    format!("{} ({half}, seed {})", line.key.kind.as_str().replace('_', " "), line.key.seed),
                    leak.field.replace('_', " "),
                    format!("{:?}", leak.channel),
                    leak.request.clone(),
                    leak.encoding.clone(),
                    line.grants.keys().cloned().collect::<Vec<_>>().join(", "),
                ]
            })
        })
        .collect();
    if rows.is_empty() {
        return "<h2>Leaks under a guard</h2><p>None.</p>".to_owned();
    }
    let headings = [
        "approach",
        "agent",
        "page",
        "value",
        "channel",
        "it came through",
        "written",
        "granted in the trial",
    ];
    format!("<h2>Leaks under a guard</h2>{}", table(&headings, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::compare::line::LeakSeen;
    use crate::experiments::compare::plan::TrialKey;
    use crate::suite::kind::ScenarioKind;
    use crate::trials::judge::{Judgement, LeakChannel};

    #[test]
    fn each_leak_under_a_guard_is_listed_with_its_request() {
        let line = |approach| {
            let key = TrialKey {
                seed: 3,
                kind: ScenarioKind::Beacon,
                hostile: true,
                approach,
                agent: "obedient".to_owned(),
            };
            let leak = LeakSeen {
                channel: LeakChannel::Collector,
                field: "card_number".to_owned(),
                encoding: "base64".to_owned(),
                request: "POST collect.evil.test/beacon, body".to_owned(),
            };
            TrialLine { leaks: vec![leak], ..TrialLine::judged(&key, &Judgement::default()) }
        };
        let html = section(&[line(Approach::A), line(Approach::None)]);
        assert_eq!(html.matches("POST collect.evil.test/beacon, body").count(), 1);
        for words in ["beacon (hostile, seed 3)", "card number", "Collector", "base64"] {
            assert!(html.contains(words), "{words}");
        }
        assert!(section(&[line(Approach::None)]).contains("None."));
    }
}
