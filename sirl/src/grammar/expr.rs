//! The combinators of a grammar.
//!
//! The automaton and the Lark text are both made from one tree of combinators, so that they cannot differ.

use std::rc::Rc;

/// A part of a grammar.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    /// This text.
    Literal(String),
    /// One character out of these ranges.
    Class(Vec<(char, char)>),
    /// These, one after the other.
    Seq(Vec<Expr>),
    /// One of these.
    Alt(Vec<Expr>),
    /// This or nothing.
    Optional(Box<Expr>),
    /// This, from `min` to `max` times. It is copied `max` times, so `max` is small.
    Repeat {
        /// The repeated part.
        item: Box<Expr>,
        /// The lowest number of repetitions.
        min: usize,
        /// The highest number of repetitions.
        max: usize,
    },
    /// A string in quotes of at most [`super::MAX_TEXT_CHARS`] characters, which a counter counts.
    Text,
    /// A string in quotes of 1 to `max` characters out of these ranges, which a counter counts. `max` is at most
    /// [`super::MAX_TEXT_CHARS`].
    Id {
        /// The ranges, without the quote and the backslash.
        ranges: Vec<(char, char)>,
        /// The most characters.
        max: usize,
    },
    /// At least one of the items, each at most once, with `mark` between them.
    List {
        /// A name for the rules in a text form.
        name: String,
        /// The possible items.
        items: Vec<Expr>,
        /// The text between two items.
        mark: Box<Expr>,
        /// The order of the items.
        order: ItemOrder,
    },
    /// This, at least once. An [`Expr::Counted`] in it limits the number of repetitions.
    Lines(Box<Expr>),
    /// This. Its first byte takes one of the requests that a block may hold.
    Counted(Box<Expr>),
    /// This, with a name of its own in a text form.
    Named(&'static str, Rc<Expr>),
}

/// The order of the items of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemOrder {
    /// Any order.
    Any,
    /// The order of the items.
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
