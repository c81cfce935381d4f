//! The lines of one frame, written from its accessibility tree and its visible text.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::fold::{fold, separator};
use super::refs::FrameRefs;
use super::tree::{DEEPEST, Node, Tree};
use crate::outline::{LinePart, OutlineLine, Purpose, TextPlace, Words, is_control, tidy};
use crate::playwright::visibility::{Clickable, SeenText, Separation, VisibleText};
use crate::{ElementRef, NodeId, Origin};

/// The markers of list items that say no more than the item's role does, and those of closed and open details.
const BULLETS: [char; 9] = ['•', '◦', '▪', '■', '○', '▸', '▾', '▶', '▼'];

/// The controls that only hold others: a click on one does nothing by itself.
const GROUPS: [&str; 5] = ["form", "dialog", "alertdialog", "radiogroup", "listbox"];

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
    /// The texts that the agent typed into controls of the frame.
    pub(super) own: &'a HashMap<NodeId, String>,
    /// Whether to show which option of a select is chosen.
    pub(super) with_choices: bool,
    /// The visible text of the frame.
    pub(super) visible: &'a VisibleText,
    /// The frame's index among the page's.
    pub(super) frame: usize,
    /// The address and the origin of the frame's document.
    pub(super) url: &'a str,
    pub(super) origin: Option<&'a Origin>,
    /// Whether the paths of addresses are told.
    pub(super) with_paths: bool,
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
        let mut writer = Writer {
            tree: self,
            options,
            left_out,
            control_names: self.control_names(),
            refs,
            before: None,
            in_new_block: false,
            parts: Vec::new(),
            begun: 0,
            role: String::new(),
            name: None,
            out: FrameOutline::default(),
        };
        if let Some(root) = self.nodes.get(&self.root) {
            writer.out.title = root.name.clone();
            writer.children(root, None, 0, 0);
            let rest: Vec<&SeenText> = std::mem::take(&mut writer.left_out).into_values().flatten().collect();
            for text in rest {
                writer.seen_text(0, text);
            }
            writer.end_parts();
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
pub(super) struct Writer<'a, 'n> {
    pub(super) tree: &'a Tree,
    pub(super) options: RenderOptions<'a>,
    left_out: HashMap<NodeId, Vec<&'a SeenText>>,
    /// The names of the frame's controls.
    control_names: HashSet<String>,
    refs: &'a mut FrameRefs<'n>,
    /// The text that was written last.
    before: Option<&'a SeenText>,
    /// Whether a group of the tree begins or ends after the text that was written last.
    in_new_block: bool,
    /// The lines of the elements that are parts of it, and how many of them began before its last words.
    parts: Vec<FrameItem>,
    begun: usize,
    /// The role and the name of the element that is being written.
    role: String,
    name: Option<String>,
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
            "ListMarker" if !self.is_told_by_role(&node.name) => self.text(depth, node, holder),
            "InlineTextBox" | "LineBreak" | "ListMarker" => {}
            _ => match node.shown_role().filter(|_| !node.ignored || node.editable) {
                Some(role) => self.element(node, role, depth, nesting),
                None => {
                    if self.is_a_button_without_role(node) {
                        if !self.cuts(node) {
                            return self.element(node, "generic", depth, nesting);
                        }
                        self.part(node, depth);
                    }
                    let groups = !node.ignored && !node.is_phrase();
                    self.in_new_block |= groups;
                    self.children(node, holder, depth, nesting);
                    self.in_new_block |= groups;
                }
            },
        }
    }

    /// Whether an element without a role answers a click that no other line of the outline can give: it is not in one that takes
    /// clicks. One that holds elements with lines of their own, such as a message with a bin, needs the hand and
    /// words beside them: a listener alone may be for clicks on those. A label answers where no control has its words as a name.
    fn is_a_button_without_role(&self, node: &Node) -> bool {
        let how = |id: NodeId| Some((id, self.options.visible.clickable(id)?));
        let Some((id, how)) = node.node.and_then(how) else { return false };
        let in_control = is_control(&self.role) && !GROUPS.contains(&self.role.as_str());
        let is_whole = how == Clickable::ShowsHand && self.has_own_words(node, 0);
        if in_control || (!is_whole && self.holds_an_element(node, 0)) {
            return false;
        }
        let mut words = String::new();
        self.tree.text_below(node, 0, &mut words);
        let named = node.role == "LabelText" && self.control_names.contains(&tidy(&words));
        let is_shown = self.options.visible.shows(id) != Some(false);
        is_shown && !named
    }

    fn cuts(&self, node: &Node) -> bool {
        node.node.is_some_and(|id| self.options.visible.cuts(id))
    }

    /// Gives a ref to an element that is a part of a text which a person reads as one, such as a digit in a row. Its line comes
    /// after the whole text and has no words: masking has to find a number in one piece.
    fn part(&mut self, node: &Node, depth: usize) {
        let Some(id) = node.node else { return };
        let name = self.refs.name(node.node);
        self.out.elements.push((name.clone(), id));
        let head = vec![LinePart::Own(format!("- generic [ref={name}]"))];
        let element = Some(ElementRef(name));
        self.parts.push(FrameItem::Line(OutlineLine { depth, head, element, ..OutlineLine::default() }));
    }

    /// Returns true if an element below this one answers a click or has a line of its own. A picture does not count: a button is
    /// often made of a picture and a word.
    fn holds_an_element(&self, node: &Node, nesting: usize) -> bool {
        let mut below = node.children.iter().filter_map(|id| self.tree.nodes.get(id));
        nesting > DEEPEST
            || below.any(|child| {
                let is_one = !is_picture(child) && self.has_its_own_line(child);
                !is_text(child)
                    && (is_one || self.answers(child) || self.holds_an_element(child, nesting + 1))
            })
    }

    /// Returns true if the element has words of its own, outside of the elements below it that have lines or answer clicks.
    fn has_own_words(&self, node: &Node, nesting: usize) -> bool {
        let mut below = node.children.iter().filter_map(|id| self.tree.nodes.get(id));
        nesting <= DEEPEST
            && below.any(|child| match is_text(child) {
                true => !child.name.trim().is_empty(),
                false => !self.has_its_own_line(child) && self.has_own_words(child, nesting + 1),
            })
    }

    fn has_its_own_line(&self, node: &Node) -> bool {
        let has_role = node.shown_role().is_some() && (!node.ignored || node.editable);
        has_role || self.answers(node)
    }

    fn answers(&self, node: &Node) -> bool {
        node.node.is_some_and(|id| self.options.visible.clickable(id).is_some())
    }

    /// Whether a list marker is a mere bullet in front of the words of a list item.
    fn is_told_by_role(&self, marker: &str) -> bool {
        matches!(self.role.as_str(), "listitem" | "button")
            && marker.chars().all(|c| c.is_whitespace() || BULLETS.contains(&c))
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
        self.end_parts();
        let name = self.refs.name(node.node);
        if let Some(id) = node.node {
            self.out.elements.push((name.clone(), id));
            if role == "iframe" {
                self.out.lines.push(FrameItem::Frame { depth, name, node: id });
                return;
            }
        }
        // The picture in a link mostly gives the link its name.
        let label = self.name_of(node, role).filter(|words| {
            words.purpose != Purpose::Picture || self.name.as_ref().is_none_or(|outer| *outer != words.text)
        });
        let named = label.as_ref().map(|words| words.text.clone());
        let mut after = String::new();
        if let Some(level) = node.level {
            let _infallible = write!(after, " [level={level}]");
        }
        for state in node.states.iter().filter(|state| self.options.with_choices || **state != "selected") {
            let _infallible = write!(after, " [{state}]");
        }
        let _infallible = write!(after, " [ref={name}]");
        let entry = node.is_entry();
        let own = node.node.and_then(|id| self.options.own.get(&id)).filter(|_| entry);
        if entry && own.is_none() {
            after.push_str(if self.value_of(node).is_empty() { ": empty" } else { ": filled" });
        }
        let mut head = vec![LinePart::Own(format!("- {role}"))];
        head.extend(label.map(LinePart::Page));
        head.push(LinePart::Own(after));
        if let Some(own) = own {
            head.extend(self.read_back(node, own));
        }
        let at = self.out.lines.len();
        let contact = role == "link" && node.is_contact();
        head.extend(self.address_of(node).map(LinePart::Page));
        let element = Some(ElementRef(name));
        let line = OutlineLine { depth, head, contact, element, ..OutlineLine::default() };
        self.out.lines.push(FrameItem::Line(line));
        if entry {
            return;
        }
        let outer =
            (std::mem::replace(&mut self.role, role.to_owned()), std::mem::replace(&mut self.name, named));
        self.children(node, None, depth + 1, nesting);
        (self.role, self.name) = outer;
        self.end_parts();
        self.flush(at + 1);
        fold(&mut self.out.lines, at, self.options.frame);
    }

    /// The words of a text node as the browser laid them out, with their visibility.
    fn text(&mut self, depth: usize, node: &Node, holder: Option<NodeId>) {
        let visible = self.options.visible;
        let seen = node.node.or(holder).and_then(|id| visible.text(id));
        let words = self.words_of(node, holder);
        self.run(depth, seen, words);
    }

    pub(super) fn words_of(&self, node: &Node, holder: Option<NodeId>) -> Vec<Words> {
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

    fn seen_text(&mut self, depth: usize, text: &'a SeenText) {
        let words = text.stretches.iter().map(|stretch| Words {
            text: stretch.words.clone(),
            place: if stretch.shown { TextPlace::Shown } else { TextPlace::Hidden },
            purpose: Purpose::Text,
            frame: self.options.frame,
        });
        self.run(depth, Some(text), words.collect());
    }

    /// Adds words to the line of the text before them, or begins a line. `seen` is where the browser laid them out.
    fn run(&mut self, depth: usize, seen: Option<&'a SeenText>, words: Vec<Words>) {
        let in_new_block = std::mem::take(&mut self.in_new_block);
        let separation = match (self.before, seen) {
            (Some(before), Some(seen)) => before.separation(seen),
            _ if in_new_block => Separation::Line,
            _ => Separation::Nothing,
        };
        self.before = seen;
        if let Some(FrameItem::Line(line)) = self.out.lines.last_mut()
            && line.bare
            && line.depth == depth
            && !(in_new_block && separation == Separation::Line)
        {
            if separation != Separation::Nothing {
                line.text.push(separator(separation, self.options.frame));
            }
            line.text.extend(words);
            self.begun = self.parts.len();
            return;
        }
        // Those that begin with these words come after them.
        self.out.lines.extend(self.parts.drain(..self.begun.min(self.parts.len())));
        self.begun = self.parts.len();
        let head = vec![LinePart::Own("- text".to_owned())];
        let line = OutlineLine { depth, head, text: words, bare: true, ..OutlineLine::default() };
        self.out.lines.push(FrameItem::Line(line));
    }

    /// Writes the lines of the parts of the text that ends here.
    fn end_parts(&mut self) {
        self.out.lines.append(&mut self.parts);
        self.begun = 0;
    }

    /// Removes runs of white space since `from`.
    fn flush(&mut self, from: usize) {
        let tail = self.out.lines.split_off(from.min(self.out.lines.len()));
        let is_blank =
            |line: &OutlineLine| line.bare && line.text.iter().all(|words| tidy(&words.text).is_empty());
        self.out.lines.extend(tail.into_iter().filter(|line| match line {
            FrameItem::Line(line) => !is_blank(line),
            FrameItem::Frame { .. } => true,
        }));
    }

    /// The agent's own text, and whether the control still holds it: never what the control holds.
    fn read_back(&self, node: &Node, own: &str) -> Vec<LinePart> {
        let holds = tidy(&self.value_of(node)) == tidy(own);
        if own.trim().is_empty() {
            return vec![LinePart::Own(if holds { ": empty" } else { ": filled" }.to_owned())];
        }
        let text = tidy(own);
        let words =
            Words { text, place: TextPlace::Shown, purpose: Purpose::Text, frame: self.options.frame };
        let mut parts = vec![LinePart::Own(":".to_owned()), LinePart::Page(words)];
        parts.extend((!holds).then(|| LinePart::Own(" (the page has changed it)".to_owned())));
        parts
    }

    /// The value of a control, or the text in an editable element.
    fn value_of(&self, node: &Node) -> String {
        if !node.value.is_empty() {
            return node.value.clone();
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
        below.trim().to_owned()
    }
}

fn is_picture(node: &Node) -> bool {
    node.role == "image"
}

fn is_text(node: &Node) -> bool {
    matches!(node.role.as_str(), "StaticText" | "InlineTextBox" | "LineBreak")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::refs::Refs;
    use super::*;

    #[test]
    fn a_cyclic_tree_is_cut() {
        let (typed, own, visible) = (HashSet::new(), HashMap::new(), VisibleText::default());
        let options = RenderOptions {
            typed: &typed,
            own: &own,
            with_choices: true,
            visible: &visible,
            frame: 0,
            url: "",
            origin: None,
            with_paths: true,
        };
        let mut refs = Refs::default();
        let mut refs = FrameRefs { refs: &mut refs, prefix: "", document: "" };
        let node = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1", "1"] });
        let one = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1"] });
        assert!(Tree::read(&json!({ "nodes": [one] })).render(options, &mut refs).cut);
        assert!(Tree::read(&json!({ "nodes": [] })).render(options, &mut refs).lines.is_empty());
        assert_eq!(Tree::read(&json!({ "nodes": [node] })).nodes.len(), 1);
    }
}
