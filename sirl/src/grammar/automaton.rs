//! The automaton over bytes.

use super::MAX_TEXT_CHARS;
use crate::limits::MAX_REQUESTS;

/// What a move does to the two counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) enum Action {
    /// Nothing.
    #[default]
    None,
    /// A string opens: it has room for [`MAX_TEXT_CHARS`] characters.
    Open,
    /// A character of a string takes room.
    Char,
    /// A request takes one of those that are left.
    Request,
}

/// A move: its target, 0 where there is none, and what it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Edge {
    pub(crate) target: u16,
    pub(crate) action: Action,
}

/// A deterministic automaton over bytes with two counters that are set to a constant and count down.
///
/// The counters keep the table small: written out, every node of a string would be there once for each
/// character that it still has room for, and everything once for each request that is left. The language is
/// regular all the same, since both are bounded.
#[derive(Debug, Clone)]
pub(crate) struct Automaton {
    /// The class of each byte.
    pub(super) classes: [u8; 256],
    /// How many classes there are.
    pub(super) width: usize,
    /// The moves of each node, class by class. Node 0 is dead, node 1 is the start.
    pub(super) edges: Vec<Edge>,
    /// Whether each node accepts.
    pub(super) accepting: Vec<bool>,
}

/// Where in the grammar a text has come to. A few bytes, to be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) node: u16,
    /// How many characters the string still takes; means nothing outside of one.
    pub(crate) room: u8,
    /// How many more requests the block takes.
    pub(crate) requests: u8,
}

impl State {
    pub(crate) const START: State = State { node: 1, room: 0, requests: MAX_REQUESTS as u8 };
    /// No text leads on from here.
    pub(crate) const DEAD: State = State { node: 0, room: 0, requests: 0 };
}

impl Automaton {
    pub(crate) fn nodes(&self) -> usize {
        self.accepting.len()
    }

    pub(crate) fn classes(&self) -> usize {
        self.width
    }

    pub(crate) fn edge(&self, node: u16, byte: u8) -> Edge {
        let class = self.classes.get(usize::from(byte)).copied().unwrap_or(0);
        self.edges.get(usize::from(node) * self.width + usize::from(class)).copied().unwrap_or_default()
    }

    pub(crate) fn accepts(&self, node: u16) -> bool {
        self.accepting.get(usize::from(node)).copied().unwrap_or(false)
    }

    /// The state behind `byte`, if the grammar leads there. Every such state leads on to a whole block.
    pub(crate) fn step(&self, state: State, byte: u8) -> Option<State> {
        let Edge { target, action } = self.edge(state.node, byte);
        if target == 0 {
            return None;
        }
        let mut next = State { node: target, ..state };
        match action {
            Action::None => {}
            Action::Open => next.room = MAX_TEXT_CHARS as u8,
            Action::Char => next.room = state.room.checked_sub(1)?,
            Action::Request => next.requests = state.requests.checked_sub(1)?,
        }
        Some(next)
    }

    /// The bytes that the tables take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.classes) + size_of_val(self.edges.as_slice()) + self.accepting.len()
    }
}
