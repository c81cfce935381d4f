//! The lines of one frame, written from its accessibility tree and its visible text.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::refs::FrameRefs;
use super::tree::{DEEPEST, NamedBy, Node, Tree};
use crate::NodeId;
use crate::outline::{LinePart, OutlineLine, Purpose, TextPlace, Words, is_control, tidy};
use crate::playwright::visibility::{SeenText, VisibleText};

/// Replaces a name that repeats a typed value.
const TYPED: &str = "[typed]";

/// A line, or the position of the lines of an inner frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FrameItem {
    /// A finished line.
    Line(OutlineLine),
    /// The frame that this element holds.
    Frame { depth: usize, name: String, node: NodeId },
}

/// The options for writing a frame's tree.
#[derive(Clone, Copy)]
pub(super) struct RenderOptions<'a> {
    /// Typed values, which no name may repeat.
    pub(super) typed: &'a HashSet<String>,
    /// Whether to show which option of a select is chosen.
    pub(super) with_choices: bool,
    /// The visible text of the frame.
    pub(super) visible: &'a VisibleText,
    /// The frame's index among the page's.
    pub(super) frame: usize,
}

/// The lines of one frame, and the elements with a ref.
#[derive(Debug, Default)]
pub(super) struct FrameOutline {
    pub(super) title: String,
    pub(super) lines: Vec<FrameItem>,
    pub(super) elements: Vec<(String, NodeId)>,
    pub(super) cut: bool,
}

impl Tree {
    /// The lines of the frame.
    pub(super) fn render(&self, options: RenderOptions<'_>, refs: &mut FrameRefs<'_>) -> FrameOutline {
        let left_out = self.left_out(options.visible);
        let mut writer = Writer { tree: self, options, left_out, refs, out: FrameOutline::default() };
        if let Some(root) = self.nodes.get(&self.root) {
            writer.out.title = root.name.clone();
            writer.children(root, None, 0, 0);
            let rest: Vec<&SeenText> = std::mem::take(&mut writer.left_out).into_values().flatten().collect();
            for text in rest {
                writer.seen_text(0, text);
            }
            writer.flush(0);
        }
        writer.out
    }

    /// The visible words that the tree does not have, by the nearest element that it has. A page removes them from the
    /// tree with `aria-hidden`; they are text like any other.
    fn left_out<'a>(&self, visible: &'a VisibleText) -> HashMap<NodeId, Vec<&'a SeenText>> {
        let holds: HashMap<NodeId, bool> =
            self.nodes.values().filter_map(|node| Some((node.node?, node.is_entry()))).collect();
        let mut left_out: HashMap<NodeId, Vec<&SeenText>> = HashMap::new();
        for text in visible.left_out(|node| holds.contains_key(&node)) {
            let entry = visible.ancestors(text.at).any(|node| holds.get(&node) == Some(&true));
            if !entry && let Some(holder) = visible.ancestors(text.at).find(|node| holds.contains_key(node)) {
                left_out.entry(holder).or_default().push(text);
            }
        }
        left_out
    }
}

/// Writes the lines of one frame.
struct Writer<'a, 'n> {
    tree: &'a Tree,
    options: RenderOptions<'a>,
    left_out: HashMap<NodeId, Vec<&'a SeenText>>,
    refs: &'a mut FrameRefs<'n>,
    out: FrameOutline,
}

impl<'a> Writer<'a, '_> {
    /// `holder` is the nearest element or text of the document that the node belongs to.
    fn node(&mut self, id: &str, holder: Option<NodeId>, depth: usize, nesting: usize) {
        let Some(node) = self.tree.nodes.get(id) else {
            return;
        };
        if nesting > DEEPEST {
            self.out.cut = true;
            return;
        }
        match node.role.as_str() {
            "StaticText" if !node.ignored => self.text(depth, node, holder),
            // A number in front of a list item is a word; a bullet is not.
            "ListMarker" if node.name.contains(char::is_alphanumeric) => self.text(depth, node, holder),
            "InlineTextBox" | "LineBreak" | "ListMarker" => {}
            _ => match node.shown_role().filter(|_| !node.ignored || node.editable) {
                Some(role) => self.element(node, role, depth, nesting),
                None => {
                    // A block ends the run of text before it. A node that the browser ignores does not, so a
                    // number that is split over several of them stays in one piece.
                    if !node.ignored {
                        self.end_run(depth);
                    }
                    self.children(node, holder, depth, nesting);
                    if !node.ignored {
                        self.end_run(depth);
                    }
                }
            },
        }
    }

    /// The children, and between them the visible words that are not in the tree.
    fn children(&mut self, node: &Node, holder: Option<NodeId>, depth: usize, nesting: usize) {
        let holder = node.node.or(holder);
        let mut left_out =
            node.node.and_then(|id| self.left_out.remove(&id)).unwrap_or_default().into_iter().peekable();
        for child in &node.children {
            let at = self
                .tree
                .nodes
                .get(child)
                .and_then(|it| it.node)
                .and_then(|it| self.options.visible.index_of(it));
            while let Some(text) = left_out.next_if(|text| at.is_some_and(|at| text.at < at)) {
                self.seen_text(depth, text);
            }
            self.node(child, holder, depth, nesting + 1);
        }
        for text in left_out {
            self.seen_text(depth, text);
        }
    }

    fn element(&mut self, node: &Node, role: &str, depth: usize, nesting: usize) {
        let name = self.refs.name(node.node);
        if let Some(id) = node.node {
            self.out.elements.push((name.clone(), id));
            if role == "iframe" {
                self.out.lines.push(FrameItem::Frame { depth, name, node: id });
                return;
            }
        }
        let label = self.name_of(node, role);
        let mut after = String::new();
        if let Some(level) = node.level {
            let _infallible = write!(after, " [level={level}]");
        }
        for state in node.states.iter().filter(|state| self.options.with_choices || **state != "selected") {
            let _infallible = write!(after, " [{state}]");
        }
        let _infallible = write!(after, " [ref={name}]");
        let entry = node.is_entry();
        if entry {
            after.push_str(if self.is_filled(node) { ": filled" } else { ": empty" });
        }
        let mut head = vec![LinePart::Own(format!("- {role}"))];
        head.extend(label.map(LinePart::Page));
        head.push(LinePart::Own(after));
        let at = self.out.lines.len();
        let contact = role == "link" && node.contact;
        self.out.lines.push(FrameItem::Line(OutlineLine { depth, head, contact, ..OutlineLine::default() }));
        if entry {
            return;
        }
        self.children(node, None, depth + 1, nesting);
        self.flush(at + 1);
        self.fold(at);
    }

    /// Merges the lines below an element into its own: a text that only repeats the name is dropped, and a line without a
    /// name takes a single text.
    fn fold(&mut self, at: usize) {
        let below = self.out.lines.get(at + 1..).unwrap_or_default();
        let only_text = below.iter().all(|line| matches!(line, FrameItem::Line(line) if line.bare));
        let single = below.len() == 1;
        let texts = below.iter().flat_map(|line| match line {
            FrameItem::Line(line) => line.text.as_slice(),
            FrameItem::Frame { .. } => &[],
        });
        let shown: String =
            texts.filter(|words| words.place != TextPlace::Hidden).map(|it| it.text.as_str()).collect();
        let has_below = !below.is_empty();
        let Some(FrameItem::Line(line)) = self.out.lines.get(at) else {
            return;
        };
        let name = line.head.iter().find_map(|part| match part {
            LinePart::Page(words) => Some(tidy(&words.text)),
            LinePart::Own(_) => None,
        });
        let repeats = single && name.as_ref().is_some_and(|name| *name == tidy(&shown));
        let takes = single && (name.is_none() || tidy(&shown).is_empty());
        let mut text = Vec::new();
        if only_text
            && (repeats || takes)
            && let Some(FrameItem::Line(taken)) = self.out.lines.pop()
        {
            text = taken.text;
        }
        let Some(FrameItem::Line(line)) = self.out.lines.get_mut(at) else {
            return;
        };
        if repeats && only_text {
            text.retain(|words| words.place == TextPlace::Hidden);
            for part in &mut line.head {
                if let LinePart::Page(words) = part
                    && words.purpose == Purpose::Echo
                {
                    words.purpose = Purpose::Text;
                }
            }
        }
        line.opens = has_below && !(only_text && (repeats || takes));
        line.text = text;
    }

    fn end_run(&mut self, depth: usize) {
        self.out.lines.push(FrameItem::Line(OutlineLine { depth, ..OutlineLine::default() }));
    }

    /// The words of a text node as the browser laid them out, with their visibility.
    fn text(&mut self, depth: usize, node: &Node, holder: Option<NodeId>) {
        for words in self.words_of(node, holder) {
            self.run(depth, words);
        }
    }

    fn words_of(&self, node: &Node, holder: Option<NodeId>) -> Vec<Words> {
        let generated = node.node.is_none();
        let shown = if generated { TextPlace::Generated } else { TextPlace::Shown };
        let words = |text: &str, place| Words {
            text: text.to_owned(),
            place,
            purpose: Purpose::Text,
            frame: self.options.frame,
        };
        if let Some(seen) = node.node.or(holder).and_then(|id| self.options.visible.text(id)) {
            let place = |shows: bool| if shows { shown } else { TextPlace::Hidden };
            return seen.stretches.iter().map(|it| words(&it.words, place(it.shown))).collect();
        }
        // Text that the browser draws within a control has no layout: it is as visible as the control.
        let shows = holder.and_then(|id| self.options.visible.shows(id)) == Some(true);
        vec![words(&node.name, if shows { shown } else { TextPlace::Hidden })]
    }

    fn seen_text(&mut self, depth: usize, text: &SeenText) {
        if !text.follows {
            self.end_run(depth);
        }
        for stretch in &text.stretches {
            let place = if stretch.shown { TextPlace::Shown } else { TextPlace::Hidden };
            let words = Words {
                text: stretch.words.clone(),
                place,
                purpose: Purpose::Text,
                frame: self.options.frame,
            };
            self.run(depth, words);
        }
    }

    fn run(&mut self, depth: usize, words: Words) {
        if let Some(FrameItem::Line(line)) = self.out.lines.last_mut()
            && line.bare
            && line.depth == depth
        {
            line.text.push(words);
            return;
        }
        let head = vec![LinePart::Own("- text".to_owned())];
        self.out.lines.push(FrameItem::Line(OutlineLine {
            depth,
            head,
            text: vec![words],
            bare: true,
            ..OutlineLine::default()
        }));
    }

    /// Removes the separators between runs of text since `from`, and runs of white space.
    fn flush(&mut self, from: usize) {
        let tail = self.out.lines.split_off(from.min(self.out.lines.len()));
        let is_blank = |line: &OutlineLine| {
            line.head.is_empty() || line.bare && line.text.iter().all(|words| tidy(&words.text).is_empty())
        };
        self.out.lines.extend(tail.into_iter().filter(|line| match line {
            FrameItem::Line(line) => !is_blank(line),
            FrameItem::Frame { .. } => true,
        }));
    }

    /// The name, unless it repeats a typed value: `aria-labelledby` can take a name from a control.
    fn name_of(&self, node: &Node, role: &str) -> Option<Words> {
        let control = is_control(role);
        let purpose = if control { Purpose::Label } else { Purpose::Name };
        let words =
            |text: String, place, purpose| Some(Words { text, place, purpose, frame: self.options.frame });
        let name = tidy(&node.name);
        if name.is_empty() {
            return None;
        }
        let typed = self.options.typed;
        if typed.iter().any(|value| name.contains(value.as_str())) {
            let mut below = String::new();
            self.tree.text_below(node, 0, &mut below);
            let below = tidy(&below);
            let repeats = |value: &String| name.contains(value.as_str()) && !below.contains(value.as_str());
            if node.is_entry() || typed.iter().any(repeats) {
                return words(TYPED.to_owned(), TextPlace::Shown, purpose);
            }
        }
        if node.named_by == NamedBy::Contents {
            let mut shown = String::new();
            self.shown_below(node, node.node, 0, &mut shown);
            let shown = tidy(&shown);
            if !shown.is_empty() {
                return words(shown, TextPlace::Shown, Purpose::Echo);
            }
        }
        // A control without a label draws its value or its placeholder.
        let drawn = node.named_by == NamedBy::Drawn
            && node.node.and_then(|id| self.options.visible.shows(id)) == Some(true);
        let place =
            if drawn || self.options.visible.says(&name) { TextPlace::Shown } else { TextPlace::Attribute };
        words(name, place, purpose)
    }

    /// The visible words below a node, without any control's value.
    fn shown_below(&self, node: &Node, holder: Option<NodeId>, depth: usize, into: &mut String) {
        if depth > DEEPEST || node.is_entry() {
            return;
        }
        if node.role == "StaticText" {
            let apart = node
                .node
                .or(holder)
                .and_then(|id| self.options.visible.text(id))
                .is_some_and(|it| !it.follows);
            if apart && !into.is_empty() {
                into.push(' ');
            }
            for words in self.words_of(node, holder).iter().filter(|it| it.place != TextPlace::Hidden) {
                into.push_str(&words.text);
            }
            return;
        }
        for child in node.children.iter().filter_map(|id| self.tree.nodes.get(id)) {
            self.shown_below(child, child.node.or(holder), depth + 1, into);
        }
    }

    fn is_filled(&self, node: &Node) -> bool {
        if !node.value.is_empty() {
            return true;
        }
        let mut below = String::new();
        if node.editable && !matches!(node.role.as_str(), "textbox" | "searchbox" | "spinbutton" | "combobox")
        {
            for child in node.children.iter().filter_map(|id| self.tree.nodes.get(id)) {
                if child.role == "StaticText" {
                    below.push_str(&child.name);
                }
            }
        }
        !below.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::refs::Refs;
    use super::*;

    #[test]
    fn a_cyclic_tree_is_cut() {
        let (typed, visible) = (HashSet::new(), VisibleText::default());
        let options = RenderOptions { typed: &typed, with_choices: true, visible: &visible, frame: 0 };
        let mut refs = Refs::default();
        let mut refs = FrameRefs { refs: &mut refs, prefix: "", document: "" };
        let node = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1", "1"] });
        let one = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1"] });
        assert!(Tree::read(&json!({ "nodes": [one] })).render(options, &mut refs).cut);
        assert!(Tree::read(&json!({ "nodes": [] })).render(options, &mut refs).lines.is_empty());
        assert_eq!(Tree::read(&json!({ "nodes": [node] })).nodes.len(), 1);
    }
}
