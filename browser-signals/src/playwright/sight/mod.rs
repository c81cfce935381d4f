//! What a person sees of a document's text, by the browser's own layout.
//!
//! The browser is asked once for all documents of a session (`DOMSnapshot.captureSnapshot`), below anything that a
//! page's scripts could change. Text counts as shown where its letters are drawn large enough, lie within what can
//! be scrolled to and what the boxes around them leave, differ from the colour below them, and have nothing opaque
//! painted over them.
//!
//! Not seen through: words in pictures and on a canvas; fonts that draw other letters; pictures, gradients, masks,
//! blend modes and three-dimensional turns that hide what is below them; what shadow trees hide of slotted content.
//! There text counts as shown, and it is left to the classifier.

mod area;
mod boxes;
mod colour;
mod letters;
mod painters;

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::{FrameId, NodeId};
use boxes::{Boxes, Captured, place};

/// A stretch of a text node's words, and whether a person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) words: String,
    pub(super) shown: bool,
}

/// The words of one node.
#[derive(Debug)]
pub(super) struct SeenText {
    pub(super) node: NodeId,
    /// The node's place in the document.
    pub(super) at: usize,
    pub(super) stretches: Vec<Stretch>,
    /// Whether somebody can write here, so that the words may be the user's.
    pub(super) editable: bool,
    /// Whether it goes on where the text before it ends.
    pub(super) follows: bool,
}

/// What a person sees of one document.
#[derive(Debug, Default)]
pub(super) struct Sight {
    /// Words, in the document's order.
    pub(super) texts: Vec<SeenText>,
    by_node: HashMap<NodeId, usize>,
    /// Each node's place in the document.
    places: HashMap<NodeId, usize>,
    nodes: Vec<NodeId>,
    parents: Vec<Option<usize>>,
    /// Elements with a box, and whether any of it is seen.
    boxes: HashMap<NodeId, bool>,
    /// Everything that is shown, without white space.
    solid: String,
}

/// What `DOMSnapshot.captureSnapshot` is asked.
pub(super) fn question() -> Value {
    json!({ "computedStyles": boxes::STYLES, "includePaintOrder": true })
}

/// The documents in an answer of `DOMSnapshot.captureSnapshot`, by their frames. `top` is the page's frame.
pub(super) fn read(answer: &Value, top: &FrameId) -> HashMap<FrameId, Sight> {
    let strings = answer.get("strings").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let documents = answer.get("documents").and_then(Value::as_array).into_iter().flatten();
    let read = documents.map(|document| {
        let captured = Captured::new(document, strings);
        let frame = FrameId::new(captured.string(document.get("frameId")));
        let is_top = frame == *top;
        (frame, Sight::of(&captured, is_top))
    });
    read.collect()
}

impl Sight {
    fn of(captured: &Captured<'_>, is_top: bool) -> Sight {
        let mut sight = Sight::default();
        for (at, id) in captured.list("/nodes/backendNodeId").iter().enumerate() {
            let id = NodeId(id.as_i64().unwrap_or(0));
            sight.places.insert(id, at);
            sight.nodes.push(id);
        }
        sight.parents = captured.list("/nodes/parentIndex").iter().map(place).collect();
        let boxes = Boxes::read(captured, is_top);
        letters::read(captured, &boxes, &mut sight);
        for (at, text) in sight.texts.iter().enumerate() {
            sight.by_node.insert(text.node, at);
            for stretch in text.stretches.iter().filter(|it| it.shown && !text.editable) {
                sight.solid.extend(stretch.words.chars().filter(|c| !c.is_whitespace()));
            }
        }
        sight
    }

    /// The words of a node of text or of generated content.
    pub(super) fn text(&self, node: NodeId) -> Option<&SeenText> {
        self.by_node.get(&node).and_then(|at| self.texts.get(*at))
    }

    /// Whether any of an element's box is seen; none where it has no box.
    pub(super) fn shows(&self, node: NodeId) -> Option<bool> {
        self.boxes.get(&node).copied()
    }

    pub(super) fn place_of(&self, node: NodeId) -> Option<usize> {
        self.places.get(&node).copied()
    }

    /// Whether these words are among those that are shown.
    pub(super) fn says(&self, words: &str) -> bool {
        let solid: String = words.chars().filter(|c| !c.is_whitespace()).collect();
        !solid.is_empty() && self.solid.contains(&solid)
    }

    /// A node's ancestors, from its parent up.
    pub(super) fn ancestors(&self, at: usize) -> impl Iterator<Item = NodeId> {
        let up = |at: &usize| self.parents.get(*at).copied().flatten().filter(|above| above < at);
        std::iter::successors(up(&at), up).filter_map(|at| self.nodes.get(at).copied())
    }
}
