//! The nondeterministic automaton of a grammar, by Thompson's construction.

use std::collections::HashMap;

use super::automaton::{Action, MAX_TEXT_CHARS};
use super::expr::{Expr, ItemOrder};
use super::utf8::{PLAIN, sequences};

/// A transition on a byte between `from` and `to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transition {
    pub(super) from: u8,
    pub(super) to: u8,
    pub(super) action: Action,
    pub(super) target: usize,
}

/// A node with its epsilon transitions and its transitions on bytes.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) epsilon: Vec<usize>,
    pub(super) transitions: Vec<Transition>,
}

/// An automaton that starts in node 0 and accepts in its one last node.
#[derive(Debug, Default)]
pub(super) struct Nfa {
    pub(super) nodes: Vec<Node>,
    pub(super) last: usize,
}

impl Nfa {
    pub(super) fn new(expr: &Expr) -> Nfa {
        let mut nfa = Nfa::default();
        let start = nfa.node();
        nfa.last = nfa.add(expr, start, Action::None);
        nfa
    }

    fn node(&mut self) -> usize {
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }

    fn epsilon(&mut self, from: usize, target: usize) {
        if let Some(node) = self.nodes.get_mut(from) {
            node.epsilon.push(target);
        }
    }

    fn byte(&mut self, node: usize, (from, to): (u8, u8), action: Action, target: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.transitions.push(Transition { from, to, action, target });
        }
    }

    /// Adds `expr` after `from` and returns its end. Its first byte has the action `first`.
    fn add(&mut self, expr: &Expr, from: usize, first: Action) -> usize {
        match expr {
            Expr::Literal(text) => self.text(text, from, first),
            Expr::Class(ranges) => {
                let end = self.node();
                self.class(ranges, from, first, end);
                end
            }
            Expr::Seq(parts) => {
                let mut end = from;
                for (at, part) in parts.iter().enumerate() {
                    end = self.add(part, end, if at == 0 { first } else { Action::None });
                }
                end
            }
            Expr::Alt(parts) => {
                let end = self.node();
                for part in parts {
                    let last = self.add(part, from, first);
                    self.epsilon(last, end);
                }
                end
            }
            Expr::Optional(item) => {
                let end = self.node();
                let last = self.add(item, from, first);
                self.epsilon(last, end);
                self.epsilon(from, end);
                end
            }
            Expr::Repeat { item, min, max } => {
                let end = self.node();
                let mut at = from;
                for done in 0..*max {
                    if done >= *min {
                        self.epsilon(at, end);
                    }
                    at = self.add(item, at, if done == 0 { first } else { Action::None });
                }
                self.epsilon(at, end);
                end
            }
            Expr::Text => self.quoted(from),
            Expr::Id { ranges, max } => self.id(ranges, *max, from),
            Expr::List { items, mark, order: ItemOrder::Fixed, .. } => self.fixed(items, mark, from),
            Expr::List { items, mark, order: ItemOrder::Any, .. } => self.any(items, mark, from),
            Expr::Lines(line) => {
                let start = self.node();
                self.epsilon(from, start);
                let end = self.add(line, start, first);
                self.epsilon(end, start);
                let out = self.node();
                self.epsilon(end, out);
                out
            }
            Expr::Counted(item) => self.add(item, from, Action::Request),
            Expr::Named(_, item) => self.add(item, from, first),
        }
    }

    fn text(&mut self, text: &str, from: usize, first: Action) -> usize {
        let mut at = from;
        for (index, byte) in text.bytes().enumerate() {
            let next = self.node();
            self.byte(at, (byte, byte), if index == 0 { first } else { Action::None }, next);
            at = next;
        }
        at
    }

    fn class(&mut self, ranges: &[(char, char)], from: usize, first: Action, end: usize) {
        for sequence in ranges.iter().flat_map(|(from, to)| sequences(*from, *to)) {
            let mut at = from;
            for (index, range) in sequence.iter().enumerate() {
                let next = if index + 1 == sequence.len() { end } else { self.node() };
                self.byte(at, *range, if index == 0 { first } else { Action::None }, next);
                at = next;
            }
        }
    }

    /// Adds a string. Its opening quote sets the counter of characters, and each character takes one.
    fn quoted(&mut self, from: usize) -> usize {
        let (inside, escaped, end) = (self.node(), self.node(), self.node());
        self.byte(from, (b'"', b'"'), Action::Open(MAX_TEXT_CHARS as u8), inside);
        self.class(&PLAIN, inside, Action::Char, inside);
        self.byte(inside, (b'\\', b'\\'), Action::Char, escaped);
        for byte in [b'"', b'\\'] {
            self.byte(escaped, (byte, byte), Action::None, inside);
        }
        self.byte(inside, (b'"', b'"'), Action::None, end);
        end
    }

    /// Adds a string of at least one character. Its opening quote sets the counter of characters, and each character
    /// takes one.
    fn id(&mut self, ranges: &[(char, char)], max: usize, from: usize) -> usize {
        let (opened, inside, end) = (self.node(), self.node(), self.node());
        self.byte(from, (b'"', b'"'), Action::Open(max.min(MAX_TEXT_CHARS) as u8), opened);
        self.class(ranges, opened, Action::Char, inside);
        self.class(ranges, inside, Action::Char, inside);
        self.byte(inside, (b'"', b'"'), Action::None, end);
        end
    }

    fn fixed(&mut self, items: &[Expr], mark: &Expr, from: usize) -> usize {
        let end = self.node();
        // An item may be the first in the list, or follow a mark.
        let mut before: Vec<usize> = vec![from];
        for (at, item) in items.iter().enumerate() {
            let start = self.node();
            for node in &before {
                self.epsilon(*node, start);
            }
            let last = self.add(item, start, Action::None);
            self.epsilon(last, end);
            // No mark may follow the last item.
            if at + 1 < items.len() {
                let next = self.add(mark, last, Action::None);
                before.push(next);
            }
        }
        end
    }

    fn any(&mut self, items: &[Expr], mark: &Expr, from: usize) -> usize {
        let end = self.node();
        let mut starts: HashMap<u32, usize> = HashMap::from([(0, from)]);
        // Sets are visited by size, so that each exists before it is visited.
        let mut sets = vec![0u32];
        while !sets.is_empty() {
            let mut larger = Vec::new();
            for set in sets {
                let Some(start) = starts.get(&set).copied() else { continue };
                for (bit, item) in items.iter().enumerate().filter(|(bit, _)| set & (1 << bit) == 0) {
                    let last = self.add(item, start, Action::None);
                    self.epsilon(last, end);
                    let with = set | 1 << bit;
                    if with.count_ones() as usize == items.len() {
                        continue;
                    }
                    let next = self.add(mark, last, Action::None);
                    let target = match starts.get(&with) {
                        Some(target) => *target,
                        None => {
                            let target = self.node();
                            starts.insert(with, target);
                            larger.push(with);
                            target
                        }
                    };
                    self.epsilon(next, target);
                }
            }
            sets = larger;
        }
        end
    }
}
