//! The deterministic automaton over bytes.

use crate::limits::MAX_REQUESTS;

/// The most characters of a string that a model writes under a mask; `\"` and `\\` count as one.
///
/// With at most four bytes each, they are within [`MAX_STRING_BYTES`](crate::limits::MAX_STRING_BYTES), and all
/// strings of a request together are within a line.
pub const MAX_TEXT_CHARS: usize = 128;

/// The effect of a transition on the two counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) enum Action {
    /// The counters do not change.
    #[default]
    None,
    /// A string opens, with room for this many characters.
    Open(u8),
    /// A character takes room in the string.
    Char,
    /// A request takes one of the requests that are left.
    Request,
}

/// A transition: its target, 0 if there is none, and its effect on the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Edge {
    pub(crate) target: u16,
    pub(crate) action: Action,
}

/// A deterministic automaton over bytes with two counters that are set to constants and count down.
///
/// The counters keep the table small. Without them, each node of a string would be repeated for each number of
/// remaining characters, and the whole automaton for each number of remaining requests. The language is regular
/// all the same, since both are bounded.
#[derive(Debug, Clone)]
pub(crate) struct Automaton {
    /// The class of each byte.
    pub(super) classes: [u8; 256],
    /// The number of classes.
    pub(super) width: usize,
    /// The transitions of each node, class by class. Node 0 is dead, node 1 is the start.
    pub(super) edges: Vec<Edge>,
    /// For each node, true if it accepts.
    pub(super) accepting: Vec<bool>,
}

/// The state of the grammar after a text. It takes a few bytes and is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) node: u16,
    /// The remaining characters of the string; without meaning outside of a string.
    pub(crate) room: u8,
    /// The remaining requests of the block.
    pub(crate) requests: u8,
}

impl State {
    pub(crate) const START: State = State { node: 1, room: 0, requests: MAX_REQUESTS as u8 };
    /// No text continues from this state.
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

    /// The state after `byte`, if the grammar allows it. A complete block can be reached from every such state.
    pub(crate) fn step(&self, state: State, byte: u8) -> Option<State> {
        let Edge { target, action } = self.edge(state.node, byte);
        if target == 0 {
            return None;
        }
        let mut next = State { node: target, ..state };
        match action {
            Action::None => {}
            Action::Open(room) => next.room = room,
            Action::Char => next.room = state.room.checked_sub(1)?,
            Action::Request => next.requests = state.requests.checked_sub(1)?,
        }
        Some(next)
    }

    /// The memory of the tables, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.classes) + size_of_val(self.edges.as_slice()) + self.accepting.len()
    }
}
