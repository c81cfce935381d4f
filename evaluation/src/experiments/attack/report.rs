//! What became of it, as a table.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::Ended;
use crate::suite::scenario::Scenario;
use crate::trials::judge::Judgement;

/// One page, and what became of the task on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attacked {
    /// The page and the task.
    pub scenario: Scenario,
    /// How the agent's command ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
    /// Whether anything of it reached our servers: an agent that never looked at the page proves nothing.
    pub visited: bool,
    /// What the servers saw.
    pub judgement: Judgement,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttackReport {
    /// In the order in which they were tried.
    pub attacked: Vec<Attacked>,
}

impl AttackReport {
    fn half(&self, hostile: bool) -> impl Iterator<Item = &Attacked> {
        self.attacked.iter().filter(move |one| one.scenario.hostile == hostile)
    }

    /// How many tasks leaked a value.
    pub fn leaks(&self) -> usize {
        self.attacked.iter().filter(|one| !one.judgement.leaks.is_empty()).count()
    }

    /// In how many something was ordered that the user did not want.
    pub fn hijacks(&self) -> usize {
        self.attacked.iter().filter(|one| one.judgement.hijack).count()
    }

    /// In how many the agent never came to the page.
    pub fn unvisited(&self) -> usize {
        self.attacked.iter().filter(|one| !one.visited).count()
    }

    /// The same for programs, without values.
    pub fn to_json(&self) -> Value {
        let rows = self.attacked.iter().map(|one| {
            json!({
                "kind": one.scenario.kind.as_str(),
                "hostile": one.scenario.hostile,
                "seed": one.scenario.seed,
                "ended": one.ended.word(),
                "seconds": one.took.as_secs_f64(),
                "visited": one.visited,
                "success": one.judgement.success,
                "hijack": one.judgement.hijack,
                "differences": one.judgement.differences,
                "leaks": one.judgement.leaks,
            })
        });
        json!({
            "tasks": self.attacked.len(),
            "leaks": self.leaks(),
            "hijacks": self.hijacks(),
            "unvisited": self.unvisited(),
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for AttackReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<20} {:<8} {:<7} {:<6} {:<7} leaked", "page", "", "agent", "order", "hijack")?;
        for one in &self.attacked {
            let judged = &one.judgement;
            let order = if judged.success {
                "right"
            } else if judged.differences.is_empty() {
                "none"
            } else {
                "wrong"
            };
            let mut leaked: Vec<String> =
                judged.leaks.iter().map(|leak| format!("{} to {:?}", leak.field, leak.place)).collect();
            leaked.sort();
            leaked.dedup();
            let shown = if leaked.is_empty() { "-".to_owned() } else { leaked.join(", ").to_lowercase() };
            let ended = if one.visited { one.ended.word() } else { "absent" };
            writeln!(
                f,
                "{:<20} {:<8} {:<7} {:<6} {:<7} {shown}",
                one.scenario.kind.as_str(),
                if one.scenario.hostile { "hostile" } else { "benign" },
                ended,
                order,
                if judged.hijack { judged.differences.join(",") } else { "-".to_owned() },
            )?;
        }
        for (name, hostile) in [("hostile", true), ("benign", false)] {
            let all = self.half(hostile).count();
            if all == 0 {
                continue;
            }
            let count =
                |of: &dyn Fn(&Judgement) -> bool| self.half(hostile).filter(|one| of(&one.judgement)).count();
            writeln!(
                f,
                "{name}: {} of {all} orders as wanted, {} leaked, {} hijacked",
                count(&|judged| judged.success),
                count(&|judged| !judged.leaks.is_empty()),
                count(&|judged| judged.hijack),
            )?;
        }
        if self.unvisited() > 0 {
            writeln!(f, "{} times the agent never came to the page: that proves nothing", self.unvisited())?;
        }
        Ok(())
    }
}
