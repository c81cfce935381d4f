//! The rules by which the history of a session bars an event, and the events that end the bar.

use std::ops::Range;

use sirl::Kind;

use crate::automaton::compile::Compiled;
use crate::decision::history::History;
use crate::language::policy::Policy;
use crate::language::session::{Bar, NEW_TASK, SessionRule};
use crate::language::spans::RuleId;
use crate::vocabulary::alphabet::Axis;
use crate::vocabulary::event::{EventKind, Root};

/// A session rule that bars an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barred {
    /// The signal that it sets.
    pub axis: Axis,
    /// The rule as the policy has it.
    pub rule: String,
    /// Its location in bytes of the policy's text, where that is known.
    pub span: Option<Range<usize>>,
    /// The events that end the bar, in the words of the policy. A new task always does.
    pub until: String,
}

impl std::fmt::Display for Barred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (until {})", self.rule, self.until)
    }
}

impl<State> Compiled<State> {
    /// Every session rule that bars an event after this history, with the events that end the bar. A limit of prompts
    /// that is reached is among them, since it bars events that need a prompt.
    pub fn barred(&self, root: Root, history: &History) -> Vec<Barred> {
        self.policy.barred(root, history)
    }
}

impl Policy {
    fn barred(&self, root: Root, history: &History) -> Vec<Barred> {
        let session = &self.session;
        let mut found = Vec::new();
        for (index, bar) in session.bars.iter().enumerate().filter(|(_, bar)| bar.concerns(root)) {
            if only_bar(session, index).bars(history, root, bar.is_taint()) {
                found.push(Barred {
                    axis: if bar.is_taint() { Axis::Taint } else { Axis::Session },
                    rule: bar.to_string(),
                    span: self.span_of(RuleId::Bar(index)),
                    until: bar.until.map_or(NEW_TASK.to_owned(), |until| format!("{until} or {NEW_TASK}")),
                });
            }
        }
        let mut limit = |axis, rule| {
            found.push(Barred { axis, rule, span: None, until: NEW_TASK.to_owned() });
        };
        let event = EventKind::of(root);
        if let Some(most) = session.uses.get(&event).filter(|_| session.is_spent(history, event)) {
            limit(Axis::Uses, format!("at most {most} {}", event.as_str()));
        }
        let buys = matches!(root, Root::Request(Kind::Purchase, _));
        if let Some(most) = session.money.filter(|most| buys && history.spent_minor() >= most.minor) {
            limit(Axis::Amount, format!("at most {most}"));
        }
        if let Some(most) = session.prompts.filter(|_| session.is_out_of_prompts(history)) {
            limit(Axis::Prompts, format!("at most {most} prompts"));
        }
        found
    }
}

/// The session rules in which only the `after` rule at `index` bars events. The others stay, so that it keeps its
/// latch.
fn only_bar(session: &SessionRule, index: usize) -> SessionRule {
    let silent = |(number, bar): (usize, &Bar)| Bar {
        never: if number == index { bar.never.clone() } else { Vec::new() },
        ..bar.clone()
    };
    SessionRule { bars: session.bars.iter().enumerate().map(silent).collect(), ..session.clone() }
}
