//! What of a session's history bars an event, and what would end that.

use std::ops::Range;

use sirl::Kind;

use crate::alphabet::Axis;
use crate::compile::Compiled;
use crate::session::{Bar, Counted, SessionRule};
use crate::spans::Rule;
use crate::table::Root;
use crate::{History, Policy};

/// A rule about the session that bars an event by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barred {
    /// The signal that it sets.
    pub axis: Axis,
    /// The rule as the policy writes it.
    pub rule: String,
    /// Where it stands, in bytes of the policy's text, where that is known.
    pub span: Option<Range<usize>>,
    /// What ends it, in words of the policy. A new task always does.
    pub until: String,
}

impl std::fmt::Display for Barred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (until {})", self.rule, self.until)
    }
}

impl<State> Compiled<State> {
    /// Every rule about the session that bars an event after this history, and what would end it. The limit
    /// of prompts is among them where it is reached: it bars what must be asked.
    pub fn barred(&self, root: Root, history: &History) -> Vec<Barred> {
        self.policy.barred(root, history)
    }
}

impl Policy {
    fn barred(&self, root: Root, history: &History) -> Vec<Barred> {
        let session = &self.session;
        let mut found = Vec::new();
        for (place, bar) in session.bars.iter().enumerate().filter(|(_, bar)| bar.concerns(root)) {
            if alone(session, place).bars(history, root, bar.is_taint()) {
                found.push(Barred {
                    axis: if bar.is_taint() { Axis::Taint } else { Axis::Session },
                    rule: bar.to_string(),
                    span: self.place(Rule::Bar(place)),
                    until: bar.until.map_or("new_task".to_owned(), |until| format!("{until} or new_task")),
                });
            }
        }
        let mut limit = |axis, rule| {
            found.push(Barred { axis, rule, span: None, until: "new_task".to_owned() });
        };
        let event = Counted::of(root);
        if let Some(most) = session.uses.get(&event).filter(|_| session.is_spent(history, event)) {
            limit(Axis::Uses, format!("at most {most} {}", event.as_str()));
        }
        let buys = matches!(root, Root::Request(Kind::Purchase, _));
        if let Some(most) = session.money.filter(|most| buys && history.spent_minor() >= most.minor) {
            limit(Axis::Amount, format!("at most {most}"));
        }
        if let Some(most) = session.prompts.filter(|most| history.prompts() >= *most) {
            limit(Axis::Prompts, format!("at most {most} prompts"));
        }
        found
    }
}

/// The rules with one bar, the others kept only so that it keeps its latch.
pub(crate) fn alone(session: &SessionRule, place: usize) -> SessionRule {
    let silent = |(number, bar): (usize, &Bar)| Bar {
        never: if number == place { bar.never.clone() } else { Vec::new() },
        ..bar.clone()
    };
    SessionRule { bars: session.bars.iter().enumerate().map(silent).collect(), ..session.clone() }
}
