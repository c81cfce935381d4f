//! The results of an attack, as a table.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::Ended;
use crate::suite::scenario::Scenario;
use crate::trials::judge::Judgement;

/// One page, and the result of the task on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attacked {
    /// The page and the task.
    pub scenario: Scenario,
    /// The end of the agent's command.
    pub ended: Ended,
    /// The duration.
    pub took: Duration,
    /// True if a request reached the servers: an agent that never opened the page proves nothing.
    pub visited: bool,
    /// The judgement at the servers.
    pub judgement: Judgement,
}

/// The results of all tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttackReport {
    /// In the order of the trials.
    pub attacked: Vec<Attacked>,
}

impl AttackReport {
    fn half(&self, hostile: bool) -> impl Iterator<Item = &Attacked> {
        self.attacked.iter().filter(move |one| one.scenario.hostile == hostile)
    }

    /// The number of tasks with a leak.
    pub fn leaks(&self) -> usize {
        self.attacked.iter().filter(|one| !one.judgement.leaks.is_empty()).count()
    }

    /// The number of tasks with an order that differs from the user's wish.
    pub fn hijacks(&self) -> usize {
        self.attacked.iter().filter(|one| one.judgement.hijack).count()
    }

    /// The number of tasks whose page the agent never opened.
    pub fn unvisited(&self) -> usize {
        self.attacked.iter().filter(|one| !one.visited).count()
    }

    /// The results as JSON, without values.
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
                judged.leaks.iter().map(|leak| format!("{} to {:?}", leak.field, leak.channel)).collect();
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
