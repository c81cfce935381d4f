//! The rules of an event as a table.

use crate::alphabet::{Axis, Mask};
use crate::compile::Compiled;
use crate::guard::{End, Guard, Rules};
use crate::table::{Outcome, Root};
use crate::{ConsentScope, Partial};

/// The rules of an event, in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// The event, and the policy's name and version.
    pub title: String,
    /// A row for each rule. None where the answer is always the same.
    pub rows: Vec<Row>,
    /// What follows when every rule has passed.
    pub end: String,
}

/// A rule in a [`Sheet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The signal that is read, and where the rule applies if not always.
    pub signal: String,
    /// The symbols that pass.
    pub passes: String,
    /// What happens with the others.
    pub otherwise: String,
    /// The rule as the policy writes it, or what the language says of every request.
    pub rule: String,
}

impl Row {
    fn cells(&self) -> [&str; 4] {
        [&self.signal, &self.passes, &self.otherwise, &self.rule]
    }
}

const HEADS: [&str; 4] = ["signal", "passes", "else", "rule"];

impl<State> Compiled<State> {
    /// The rules of an event as a table.
    pub fn sheet(&self, root: Root) -> Sheet {
        let title = format!("{root}, {} version {}", self.policy.name(), self.policy.version());
        match self.policy.rules(root) {
            Rules::Fixed(Outcome::Grant(_)) => Sheet { title, rows: Vec::new(), end: "granted".to_owned() },
            Rules::Fixed(_) => {
                let why = self.policy.nothing_said(root);
                Sheet {
                    title,
                    rows: Vec::new(),
                    end: format!("refused ({}): {}", why.reason.code(), why.rule),
                }
            }
            Rules::Chain(guards, end) => {
                let rows = guards.iter().map(|guard| self.row(root, guard)).collect();
                let soft = guards.iter().any(|guard| guard.soft);
                Sheet { title, rows, end: ending(end, soft) }
            }
        }
    }

    fn row(&self, root: Root, guard: &Guard) -> Row {
        let whole = Partial::anything();
        let rule = self.policy.hurdle(root, guard, &whole.witness()).rule;
        let fails = if guard.soft { "asked".to_owned() } else { guard.reason.code() };
        let unknown = if guard.axis.unknown() == 0 { "" } else { "; unknown: refused" };
        let place = match guard.when {
            Some(when) => format!("{} (if {when})", guard.axis.as_str()),
            None => guard.axis.as_str().to_owned(),
        };
        Row {
            signal: place,
            passes: names(guard.axis, guard.pass),
            otherwise: format!("{fails}{unknown}"),
            rule,
        }
    }
}

fn ending(end: End, soft: bool) -> String {
    let granted = match end.grant {
        Outcome::Grant(Some(way)) => format!("granted by {}", way.as_str()),
        _ => "granted".to_owned(),
    };
    let how = match end.scope {
        Some(ConsentScope::EveryTime) => "asked every time",
        Some(ConsentScope::Session) => "asked once per session",
        Some(ConsentScope::Site) => "asked once per site",
        None if soft => "asked where a row says so",
        None => return format!("then {granted}"),
    };
    let limit = if end.counted { ", while prompts are left" } else { "" };
    format!("then {how}{limit}; with a yes {granted}")
}

/// The symbols of a set by name.
pub(super) fn names(axis: Axis, set: Mask) -> String {
    let all = axis.symbols().iter().enumerate().filter(|(place, _)| set & (1 << place) != 0);
    all.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

pub(super) fn text(table: &Sheet) -> String {
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

pub(super) fn markdown(table: &Sheet) -> String {
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

/// Text that Markdown takes as it is: every character that could mean something is escaped.
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
    // Underscores inside of words stay as they are in Markdown.
    out
}
