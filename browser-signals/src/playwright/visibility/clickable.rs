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

/// How it is known that an element answers a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clickable {
    /// It has a listener. A page often puts one on a part of it that holds many others.
    Listens,
    /// The page shows the hand over it, and not over what is around it: a person sees that it can be clicked.
    ShowsHand,
}

/// The clickable elements with a box. A form of the pointer that an element has from the one around it says nothing of its own.
pub(super) fn clickable(captured: &Captured<'_>, visible: &VisibleText) -> HashMap<NodeId, Clickable> {
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
    let how = |node: usize, hand: bool| match hand && is_its_own(node) {
        true => Some(Clickable::ShowsHand),
        false => listeners.contains(&node).then_some(Clickable::Listens),
    };
    let is_part = |node: usize| !WHOLE.contains(&captured.string(names.get(node)));
    let parts = hands.iter().filter(|(node, _)| is_part(**node));
    parts.filter_map(|(node, hand)| Some((*visible.nodes.get(*node)?, how(*node, *hand)?))).collect()
}
