//! The visible text of one document, and what can be asked of it.

use std::collections::HashMap;

use crate::NodeId;

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
    /// Whether it directly follows the text before it, in the same line.
    pub(crate) follows: bool,
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
        for text in self.texts.iter().filter(|text| !text.editable) {
            if !text.follows {
                out.push(' ');
            }
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
