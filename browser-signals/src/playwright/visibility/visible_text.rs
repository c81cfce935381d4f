//! The visible text of one document, and what can be asked of it.

use std::collections::HashMap;

use super::area::Area;
use super::clickable::Clickable;
use crate::NodeId;

/// Blocks stand on one line where their letters overlap vertically by this share of the lower ones, and are at most this
/// many times the size of the letters apart; from the smaller distance on a person sees a space.
const OVERLAP: f64 = 0.5;
const NEAR: f64 = 1.0;
const SPACE: f64 = 0.2;

/// The kinds of texts: those with words that a person sees, and the others.
const SHOWN: usize = 0;
const HIDDEN: usize = 1;

/// A stretch of a text node's words, and whether it is visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) words: String,
    pub(crate) shown: bool,
}

/// The words of one node.
#[derive(Debug)]
pub(crate) struct SeenText {
    pub(crate) node: NodeId,
    /// The node's index in the document.
    pub(crate) at: usize,
    pub(crate) stretches: Vec<Stretch>,
    /// Whether it is in an editable element, so that the words may be the user's.
    pub(crate) editable: bool,
    pub(crate) position: Position,
}

/// What a person sees between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separation {
    /// The one continues the other.
    Nothing,
    /// A space within a line.
    Space,
    /// They are in two cells of a row.
    Cell,
    /// A line end.
    Line,
}

impl Separation {
    /// As white space in the words of a page.
    pub(crate) fn white_space(self) -> &'static str {
        match self {
            Separation::Nothing => "",
            Separation::Space => " ",
            Separation::Cell => "\t",
            Separation::Line => "\n",
        }
    }
}

/// Where a text stands in its document.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Position {
    /// The nearest block around it.
    pub(super) block: usize,
    /// The nearest cell of a table, and its row.
    pub(super) cell: Option<(usize, usize)>,
    /// The number of blocks and forced line ends that begin before it.
    pub(super) breaks: usize,
    /// Its first line and its last one, where it was laid out.
    pub(super) first: Option<Area>,
    pub(super) last: Option<Area>,
    /// The size of its letters.
    pub(super) size: f64,
}

impl SeenText {
    /// What is between a text and the one that is read after it. Blocks that stand side by side without a gap, such as
    /// floating letters, are one text to a person's eyes.
    pub(crate) fn separation(&self, next: &SeenText) -> Separation {
        let (one, other) = (&self.position, &next.position);
        let gap = match (one.last, other.first) {
            (Some(last), Some(first)) => gap_in_line(&last, &first),
            _ => None,
        };
        let size = one.size.min(other.size);
        let apart = one.block != other.block || one.breaks != other.breaks;
        let cells = match (one.cell, other.cell) {
            (Some((cell, row)), Some((next, next_row))) => cell != next && row == next_row,
            _ => false,
        };
        match gap {
            Some(gap) if gap < SPACE * size => Separation::Nothing,
            _ if cells => Separation::Cell,
            Some(gap) if gap < NEAR * size || !apart => Separation::Space,
            _ if apart => Separation::Line,
            _ => Separation::Nothing,
        }
    }
}

/// How two neighbouring texts stand to each other, for an element between them that would get a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Neighbours {
    /// One continues the other.
    Glued,
    /// They are words of one line of one block.
    InLine,
    /// A person reads them apart.
    Apart,
}

impl SeenText {
    fn words(&self) -> String {
        self.stretches.iter().map(|stretch| stretch.words.as_str()).collect()
    }

    fn is_number(&self) -> bool {
        self.words().contains(|c: char| c.is_numeric() || c == '@')
    }

    /// Whether its words are visible. White space has no letters that could be, and counts as visible.
    fn kind(&self) -> usize {
        let mut words = self.stretches.iter().filter(|stretch| !stretch.words.trim().is_empty()).peekable();
        let is_blank = words.peek().is_none();
        if is_blank || words.any(|stretch| stretch.shown) { SHOWN } else { HIDDEN }
    }

    fn beside(&self, next: &SeenText) -> Neighbours {
        let space =
            self.words().ends_with(char::is_whitespace) || next.words().starts_with(char::is_whitespace);
        let (one, other) = (&self.position, &next.position);
        let apart = one.block != other.block || one.breaks != other.breaks;
        match self.separation(next) {
            Separation::Nothing if !space => Neighbours::Glued,
            Separation::Nothing | Separation::Space if !apart => Neighbours::InLine,
            _ => Neighbours::Apart,
        }
    }
}

/// The gap between two pieces of text that stand on the same line; none where they do not.
fn gap_in_line(before: &Area, after: &Area) -> Option<f64> {
    let common = before.bottom.min(after.bottom) - before.top.max(after.top);
    let lower = before.height().min(after.height());
    let gap = (after.left - before.right).max(before.left - after.right);
    (lower > 0.0 && common >= OVERLAP * lower && gap > -1.0).then_some(gap)
}

/// The visible text of one document.
#[derive(Debug, Default)]
pub(crate) struct VisibleText {
    /// The texts, in the document's order.
    pub(crate) texts: Vec<SeenText>,
    pub(super) by_node: HashMap<NodeId, usize>,
    /// Each node's index in the document.
    pub(super) indices: HashMap<NodeId, usize>,
    pub(super) nodes: Vec<NodeId>,
    pub(super) parents: Vec<Option<usize>>,
    /// Elements with a box, and whether any of it is visible.
    pub(super) boxes: HashMap<NodeId, bool>,
    /// How each text stands to the next one of its kind, visible or not, and whether its line has a digit or an `@`.
    beside: Vec<Neighbours>,
    numbered: Vec<bool>,
    /// For each place between two texts the last visible text before it, and the last invisible one.
    before: Vec<[Option<usize>; 2]>,
    /// Elements with a box that answer a click.
    pub(super) clickable: HashMap<NodeId, Clickable>,
    /// Elements whose contents the browser lays out only near the window, and has not laid out yet.
    pub(crate) deferred: Vec<NodeId>,
    /// All visible text, without white space.
    pub(super) solid: String,
}

impl VisibleText {
    /// The words of a node of text or of generated content.
    pub(crate) fn text(&self, node: NodeId) -> Option<&SeenText> {
        self.by_node.get(&node).and_then(|at| self.texts.get(*at))
    }

    /// Whether any part of an element's box is visible; none where it has no box.
    pub(crate) fn shows(&self, node: NodeId) -> Option<bool> {
        self.boxes.get(&node).copied()
    }

    /// How it is known that an element answers a click, if it has a box and does.
    pub(crate) fn clickable(&self, node: NodeId) -> Option<Clickable> {
        self.clickable.get(&node).copied()
    }

    /// Whether a line of its own for an element would cut what a person reads as one: a text that continues without a gap, or a
    /// line with digits or an `@`. A number or an address in pieces would not be recognised. The same holds for words that a person
    /// does not see, where the element has only such.
    pub(crate) fn cuts(&self, node: NodeId) -> bool {
        let Some(at) = self.index_of(node) else { return false };
        let from = self.texts.partition_point(|text| text.at < at);
        let is_within = |text: &&SeenText| text.at == at || self.ancestors(text.at).any(|it| it == node);
        let end = from + self.texts.iter().skip(from).take_while(is_within).count();
        let holds = |kind: usize| self.last(end, kind) >= Some(from);
        let cuts_kind = |kind: usize| {
            let sides = [self.last(from, kind), self.last(end, kind)];
            sides.into_iter().flatten().any(|text| match self.beside.get(text) {
                Some(Neighbours::Glued) => true,
                Some(Neighbours::InLine) => self.numbered.get(text) == Some(&true),
                _ => false,
            })
        };
        cuts_kind(SHOWN) || !holds(SHOWN) && holds(HIDDEN) && cuts_kind(HIDDEN)
    }

    /// The last text of a kind before a place.
    fn last(&self, place: usize, kind: usize) -> Option<usize> {
        self.before.get(place)?.get(kind).copied().flatten()
    }

    /// Compares each text with the next one of its kind, once for all.
    pub(super) fn compare_neighbours(&mut self) {
        self.beside = vec![Neighbours::Apart; self.texts.len()];
        self.numbered = vec![false; self.texts.len()];
        self.before = vec![[None, None]];
        // The texts of the present line of each kind.
        let mut lines: [Vec<usize>; 2] = Default::default();
        for (at, text) in self.texts.iter().enumerate() {
            let kind = text.kind();
            let Some(line) = lines.get_mut(kind) else { continue };
            let last = line.last().copied();
            let beside = last.and_then(|last| self.texts.get(last)).map(|last| last.beside(text));
            if let (Some(slot), Some(beside)) = (last.and_then(|it| self.beside.get_mut(it)), beside) {
                *slot = beside;
            }
            if beside == Some(Neighbours::Apart) {
                line.clear();
            }
            let is_numbered = line.last().is_some_and(|last| self.numbered.get(*last) == Some(&true));
            line.push(at);
            // All texts of a line with a number have the mark from the first number on.
            let marked = if is_numbered { line.len() - 1 } else { 0 };
            if is_numbered || text.is_number() {
                for text in line.iter().skip(marked) {
                    self.numbered.get_mut(*text).into_iter().for_each(|one| *one = true);
                }
            }
            let mut before = self.before.last().copied().unwrap_or_default();
            before.get_mut(kind).into_iter().for_each(|one| *one = Some(at));
            self.before.push(before);
        }
    }

    pub(crate) fn index_of(&self, node: NodeId) -> Option<usize> {
        self.indices.get(&node).copied()
    }

    /// Whether these words are among the visible ones.
    pub(crate) fn says(&self, words: &str) -> bool {
        let solid: String = words.chars().filter(|c| !c.is_whitespace()).collect();
        !solid.is_empty() && self.solid.contains(&solid)
    }

    /// A node's ancestors, from its parent up.
    pub(crate) fn ancestors(&self, at: usize) -> impl Iterator<Item = NodeId> {
        let up = |at: &usize| self.parents.get(*at).copied().flatten().filter(|above| above < at);
        std::iter::successors(up(&at), up).filter_map(|at| self.nodes.get(at).copied())
    }

    /// All visible text, in the document's order.
    pub(crate) fn shown(&self) -> String {
        let mut out = String::new();
        let mut before: Option<&SeenText> = None;
        for text in self.texts.iter().filter(|text| !text.editable) {
            if let Some(before) = before {
                out.push_str(before.separation(text).white_space());
            }
            before = Some(text);
            for stretch in text.stretches.iter().filter(|stretch| stretch.shown) {
                out.push_str(&stretch.words);
            }
        }
        out
    }

    /// Marks everything as invisible, since the frame that holds the document is.
    pub(crate) fn hide(&mut self) {
        for stretch in self.texts.iter_mut().flat_map(|text| &mut text.stretches) {
            stretch.shown = false;
        }
        self.boxes.values_mut().for_each(|shows| *shows = false);
        self.clickable.clear();
        self.solid.clear();
    }

    /// The texts with visible words whose nodes `has` does not know.
    pub(crate) fn left_out(&self, has: impl Fn(NodeId) -> bool) -> Vec<&SeenText> {
        let shown = |text: &&SeenText| {
            !text.editable && text.stretches.iter().any(|it| it.shown && !it.words.trim().is_empty())
        };
        self.texts.iter().filter(shown).filter(|text| !has(text.node)).collect()
    }
}
