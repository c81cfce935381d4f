//! The visibility of a document's text, by the browser's own layout.
//!
//! The browser is asked once for all documents of a session (`DOMSnapshot.captureSnapshot`), at a level that a page's
//! scripts cannot change. Text counts as visible where its letters are drawn large enough, can be scrolled to, are not
//! clipped by the boxes around them, differ from the colour below them, and have nothing opaque painted over them.
//!
//! Not detected: words in pictures and on a canvas; fonts that draw other letters; pictures, gradients, masks, blend
//! modes and three-dimensional transforms that hide the text below them; slotted content that a shadow tree hides.
//! Such text counts as visible, and is left to the classifier.
//!
//! | module | subject |
//! |---|---|
//! | `area` | rectangles, and the styles that clip them |
//! | `clickable` | elements that answer a click |
//! | `captured` | the browser's answer about one document |
//! | `boxes` | the boxes of a document, and their inherited opacity and clipping |
//! | `colour` | colours, and which of them look alike |
//! | `painters` | the boxes painted below and above a point |
//! | `letters` | the visible letters of each text |
//! | `visible_text` | the result: the visible text of one document |

mod area;
mod boxes;
mod captured;
mod clickable;
mod colour;
mod letters;
mod painters;
mod visible_text;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::{FrameId, NodeId};
use boxes::{Boxes, index_in};
use captured::Captured;
pub(crate) use clickable::Clickable;
use clickable::clickable;
pub(crate) use visible_text::{SeenText, Separation, VisibleText};

/// The parameters of `DOMSnapshot.captureSnapshot`.
pub(crate) fn question() -> Value {
    json!({ "computedStyles": captured::STYLES, "includePaintOrder": true })
}

/// The documents in an answer of `DOMSnapshot.captureSnapshot`, by their frames. `top` is the page's frame.
pub(crate) fn read(answer: &Value, top: &FrameId) -> HashMap<FrameId, VisibleText> {
    let strings = answer.get("strings").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let documents = answer.get("documents").and_then(Value::as_array).into_iter().flatten();
    let read = documents.map(|document| {
        let captured = Captured::new(document, strings);
        let frame = FrameId::new(captured.string(document.get("frameId")));
        let is_top = frame == *top;
        (frame, visible_text(&captured, is_top))
    });
    read.collect()
}

/// Reads the visible text of one document.
fn visible_text(captured: &Captured<'_>, is_top: bool) -> VisibleText {
    let mut visible = VisibleText::default();
    for (at, id) in captured.list("/nodes/backendNodeId").iter().enumerate() {
        let id = NodeId(id.as_i64().unwrap_or(0));
        visible.indices.insert(id, at);
        visible.nodes.push(id);
    }
    visible.parents = captured.list("/nodes/parentIndex").iter().map(index_in).collect();
    let boxes = Boxes::read(captured, is_top);
    letters::read(captured, &boxes, &mut visible);
    if boxes.deferred().next().is_some() {
        let parents: HashSet<usize> = visible.parents.iter().flatten().copied().collect();
        let deferred = boxes.deferred().filter(|node| parents.contains(node));
        visible.deferred = deferred.filter_map(|node| visible.nodes.get(node).copied()).collect();
    }
    visible.clickable = clickable(captured, &visible);
    visible.compare_neighbours();
    for (at, text) in visible.texts.iter().enumerate() {
        visible.by_node.insert(text.node, at);
        for stretch in text.stretches.iter().filter(|it| it.shown && !text.editable) {
            visible.solid.extend(stretch.words.chars().filter(|c| !c.is_whitespace()));
        }
    }
    visible
}
