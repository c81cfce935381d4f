//! The rules of an event as a table.

use crate::automaton::compile::Compiled;
use crate::automaton::guards::{End, Guard, Rules};
use crate::vocabulary::alphabet::Valuation;
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

/// The rules of an event, in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTable {
    /// The event, and the policy's name and version.
    pub title: String,
    /// A row for each rule. Empty where the outcome is always the same.
    pub rows: Vec<RuleRow>,
    /// The outcome when every rule has passed.
    pub end: String,
}

/// A rule in a [`RuleTable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// The signal that is read, with the condition of the rule if it has one.
    pub signal: String,
    /// The symbols that pass.
    pub passes: String,
    /// The outcome of the other symbols.
    pub otherwise: String,
    /// The rule as the policy has it, or a rule that the language implies for every request.
    pub rule: String,
}

impl RuleRow {
    fn cells(&self) -> [&str; 4] {
        [&self.signal, &self.passes, &self.otherwise, &self.rule]
    }
}

const HEADS: [&str; 4] = ["signal", "passes", "else", "rule"];

impl<State> Compiled<State> {
    /// The rules of an event as a table.
    pub fn rule_table(&self, root: Root) -> RuleTable {
        let title = format!("{root}, {} version {}", self.policy.name(), self.policy.version());
        match self.policy.rules(root) {
            Rules::Fixed(Outcome::Grant(_)) => {
                RuleTable { title, rows: Vec::new(), end: "granted".to_owned() }
            }
            Rules::Fixed(_) => {
                let why = self.policy.missing_rules(root);
                RuleTable {
                    title,
                    rows: Vec::new(),
                    end: format!("refused ({}): {}", why.reason.code(), why.rule),
                }
            }
            Rules::Chain(guards, end) => {
                let rows = guards.iter().map(|guard| self.row(root, guard)).collect();
                let soft = guards.iter().any(|guard| guard.soft);
                RuleTable { title, rows, end: ending(end, soft) }
            }
        }
    }

    fn row(&self, root: Root, guard: &Guard) -> RuleRow {
        let rule = self.policy.failed_rule(root, guard, &Valuation::FIRST).rule;
        let fails = if guard.soft { "asked every time".to_owned() } else { guard.reason.code() };
        let unknown = if guard.axis.unknown() == 0 { "" } else { "; unknown: refused" };
        let signal = match guard.when {
            Some(when) => format!("{} (if {when})", guard.axis.as_str()),
            None => guard.axis.as_str().to_owned(),
        };
        RuleRow {
            signal,
            passes: guard.axis.names(guard.pass, ", "),
            otherwise: format!("{fails}{unknown}"),
            rule,
        }
    }
}

fn ending(end: End, soft: bool) -> String {
    let granted = match end.grant {
        Outcome::Grant(Some(delivery)) => format!("granted by {}", delivery.as_str()),
        _ => "granted".to_owned(),
    };
    let how = match end.scope {
        Some(scope) if soft => format!("asked {} where no row says otherwise", scope.how_often()),
        Some(scope) => format!("asked {}", scope.how_often()),
        None if soft => "asked where a row says so".to_owned(),
        None => return format!("then {granted}"),
    };
    let limit = if end.counted { ", while prompts are left" } else { "" };
    format!("then {how}{limit}; with a yes {granted}")
}

pub(super) fn text(table: &RuleTable) -> String {
    let mut widths = HEADS.map(str::len);
    for row in &table.rows {
        for (width, cell) in widths.iter_mut().zip(row.cells()) {
            *width = (*width).max(cell.len());
        }
    }
    let line = |cells: [&str; 4]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("  {}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut out = format!("{}\n", table.title);
    if !table.rows.is_empty() {
        out += &line(HEADS);
        for row in &table.rows {
            out += &line(row.cells());
        }
    }
    out + "  " + &table.end + "\n"
}

pub(super) fn markdown(table: &RuleTable) -> String {
    let mut out = format!("### {}\n\n", escaped(&table.title));
    if !table.rows.is_empty() {
        out += "| signal | passes | else | rule |\n|---|---|---|---|\n";
        for row in &table.rows {
            let [signal, passes, fails, rule] = row.cells().map(escaped);
            out += &format!("| {signal} | {passes} | {fails} | {rule} |\n");
        }
        out += "\n";
    }
    out + &escaped(&table.end) + "\n"
}

/// Text in which every character with a meaning in Markdown is escaped.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\\' | '|' | '*' | '`' | '[' | ']' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    // Markdown does not interpret underscores inside of words.
    out
}
