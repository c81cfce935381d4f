//! The combinators that the grammar of a block is written in.
//!
//! The automaton and the Lark text are both made from one tree of these, so that they cannot drift apart.

use std::rc::Rc;

/// A part of a grammar.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    /// This text.
    Literal(String),
    /// One character out of these ranges.
    Class(Vec<(char, char)>),
    /// One after the other.
    Seq(Vec<Expr>),
    /// One of these.
    Alt(Vec<Expr>),
    /// This or nothing.
    Optional(Box<Expr>),
    /// This, from `min` to `max` times; it is written out that often, so `max` is small.
    Repeat {
        /// What is repeated.
        item: Box<Expr>,
        /// At least so often.
        min: usize,
        /// At most so often.
        max: usize,
    },
    /// A string in quotes of at most [`super::MAX_TEXT_CHARS`] characters, which a counter counts.
    Text,
    /// At least one of the items, each at most once, with `mark` between them.
    List {
        /// A name for the rules that a text form needs.
        name: String,
        /// What can stand in the list.
        items: Vec<Expr>,
        /// What stands between two items.
        mark: Box<Expr>,
        /// In which order items may stand.
        order: Order,
    },
    /// This, at least once. What is [`Expr::Counted`] in it bounds how often.
    Lines(Box<Expr>),
    /// This; its first byte takes one of the requests that a block may hold.
    Counted(Box<Expr>),
    /// This, under a name of its own in a text form.
    Named(&'static str, Rc<Expr>),
}

/// In which order the items of a list may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// In any.
    Any,
    /// In the order of the items.
    Fixed,
}

pub(super) fn literal(text: impl Into<String>) -> Expr {
    Expr::Literal(text.into())
}

pub(super) fn optional(item: Expr) -> Expr {
    Expr::Optional(Box::new(item))
}

pub(super) fn repeat(item: Expr, min: usize, max: usize) -> Expr {
    Expr::Repeat { item: Box::new(item), min, max }
}

pub(super) fn named(name: &'static str, item: Expr) -> Expr {
    Expr::Named(name, Rc::new(item))
}
