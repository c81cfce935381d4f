//! What a picture of an event shows: a card for each state, with its refusals inside, so that lines are left
//! for what goes on.

use crate::ConsentScope;
use crate::alphabet::{Axis, Mask};
use crate::compile::Compiled;
use crate::diagram::{Diagrams, Edge, Leaf};
use crate::table::{Outcome, Root};

use super::table::names;

/// One event as cards and lines.
pub(super) struct Picture {
    pub(super) title: String,
    /// From the first that is read; a card points only to cards after it.
    pub(super) cards: Vec<Card>,
    pub(super) lines: Vec<Line>,
}

/// A state, or an end.
pub(super) struct Card {
    pub(super) head: String,
    /// Which symbols are refused, and why.
    pub(super) refused: Vec<String>,
    pub(super) sort: Sort,
}

/// What a card stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    State,
    Grant,
    Ask,
    Deny,
}

/// From one card to another.
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
}

impl<State> Compiled<State> {
    pub(super) fn picture(&self, root: Root) -> Picture {
        let mut diagrams = Diagrams::default();
        let start = self.table.diagram(&mut diagrams, root);
        let title = format!("{root}, {} version {}", self.policy.name(), self.policy.version());
        let order = reached(&diagrams, start);
        let number = |edge: Edge| order.iter().position(|known| *known == edge);
        let (mut cards, mut lines) = (Vec::new(), Vec::new());
        for (from, edge) in order.iter().enumerate() {
            let Some(axis) = diagrams.axis(*edge) else {
                cards.push(end(diagrams.leaf(*edge)));
                continue;
            };
            let mut refused = Vec::new();
            for (target, symbols) in ways(&diagrams, *edge, axis) {
                match (diagrams.leaf(target), number(target)) {
                    (Some(Leaf::Outcome(Outcome::Deny(_, reason))), _) => {
                        refused.push(format!("{}: {}", short(axis, symbols), reason.code()));
                    }
                    (_, Some(to)) => lines.push(Line { from, to, label: short(axis, symbols) }),
                    (_, None) => {}
                }
            }
            cards.push(Card { head: axis.as_str().to_owned(), refused, sort: Sort::State });
        }
        Picture { title, cards, lines }
    }
}

/// The states and the ends that are not refusals, in the order of the axes; a refusal only where it is all
/// there is.
fn reached(diagrams: &Diagrams, start: Edge) -> Vec<Edge> {
    let (mut open, mut found) = (vec![start], vec![]);
    while let Some(edge) = open.pop() {
        let refusal = matches!(diagrams.leaf(edge), Some(Leaf::Outcome(Outcome::Deny(..))));
        if found.contains(&edge) || (refusal && edge != start) {
            continue;
        }
        found.push(edge);
        if let Some(axis) = diagrams.axis(edge) {
            open.extend(ways(diagrams, edge, axis).into_iter().map(|(target, _)| target));
        }
    }
    // An end has no axis and comes last; a grant before a question.
    found.sort_by_key(|edge| {
        (diagrams.axis(*edge).is_none(), diagrams.axis(*edge), end_order(diagrams, *edge))
    });
    found
}

fn end_order(diagrams: &Diagrams, edge: Edge) -> u8 {
    match diagrams.leaf(edge) {
        Some(Leaf::Outcome(Outcome::Grant(_))) => 1,
        Some(_) => 2,
        None => 0,
    }
}

/// The symbols of a set by name, or those that are not in it where that is shorter.
fn short(axis: Axis, symbols: Mask) -> String {
    let others = axis.full() & !symbols;
    if others != 0 && others.count_ones() < symbols.count_ones() {
        format!("all but {}", names(axis, others))
    } else {
        names(axis, symbols)
    }
}

/// Where a state goes on, and with which symbols.
fn ways(diagrams: &Diagrams, edge: Edge, axis: Axis) -> Vec<(Edge, Mask)> {
    let mut found: Vec<(Edge, Mask)> = Vec::new();
    for place in 0..axis.symbols().len() as u8 {
        let target = diagrams.after(edge, axis, place);
        match found.iter_mut().find(|(known, _)| *known == target) {
            Some((_, symbols)) => *symbols |= 1 << place,
            None => found.push((target, 1 << place)),
        }
    }
    found
}

fn end(leaf: Option<Leaf>) -> Card {
    let (head, sort) = match leaf {
        Some(Leaf::Outcome(Outcome::Grant(None))) => ("granted".to_owned(), Sort::Grant),
        Some(Leaf::Outcome(Outcome::Grant(Some(way)))) => {
            (format!("granted by {}", way.as_str()), Sort::Grant)
        }
        Some(Leaf::Outcome(Outcome::Ask(scope))) => {
            let scope = match scope {
                ConsentScope::EveryTime => "every time",
                ConsentScope::Session => "once per session",
                ConsentScope::Site => "once per site",
            };
            (format!("asked, {scope}"), Sort::Ask)
        }
        Some(Leaf::Outcome(Outcome::Deny(_, reason))) => (format!("refused: {}", reason.code()), Sort::Deny),
        Some(Leaf::In | Leaf::Out) | None => (String::new(), Sort::State),
    };
    Card { head, refused: Vec::new(), sort }
}
