//! Elements that answer a click although they need not have a role: those with a listener, by the browser's own account, and those over
//! which the page gives the pointer the form of a hand.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::boxes::index_in;
use super::captured::{Captured, Style};
use super::visible_text::VisibleText;
use crate::NodeId;

/// The elements of a whole page. A page puts listeners there for clicks anywhere in it.
const WHOLE: [&str; 2] = ["HTML", "BODY"];

/// The clickable elements with a box. A form of the pointer that an element has from the one around it says nothing of its own.
pub(super) fn clickable(captured: &Captured<'_>, visible: &VisibleText) -> HashSet<NodeId> {
    let listeners: HashSet<usize> =
        captured.list("/nodes/isClickable/index").iter().filter_map(index_in).collect();
    let names = captured.list("/nodes/nodeName");
    let parents = captured.list("/nodes/parentIndex");
    let styles = captured.list("/layout/styles");
    let texts = captured.list("/layout/text");
    let mut hands: HashMap<usize, bool> = HashMap::new();
    for (index, node) in captured.list("/layout/nodeIndex").iter().enumerate() {
        let is_text = texts.get(index).and_then(Value::as_i64).is_some_and(|it| it >= 0);
        let Some(node) = index_in(node).filter(|_| !is_text) else { continue };
        hands.entry(node).or_insert(captured.style(styles.get(index), Style::Cursor) == "pointer");
    }
    let above = |node: usize| parents.get(node).and_then(index_in);
    let is_its_own = |node: usize| {
        let mut up = above(node);
        // An element without a box, such as one with `display: contents`, takes part in no layout.
        while let Some(at) = up.filter(|at| !hands.contains_key(at)) {
            up = above(at);
        }
        !up.and_then(|at| hands.get(&at).copied()).unwrap_or(false)
    };
    let answers =
        hands.iter().filter(|(node, hand)| listeners.contains(node) || (**hand && is_its_own(**node)));
    let answers = answers.filter(|(node, _)| !WHOLE.contains(&captured.string(names.get(**node))));
    answers.filter_map(|(node, _)| visible.nodes.get(*node).copied()).collect()
}
