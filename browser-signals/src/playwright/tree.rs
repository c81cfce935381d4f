//! The browser's accessibility tree as lines for a model, without any value of a control.
//!
//! The tree says what there is; the words are those that the browser laid out, and where they stood.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::session::text;
use super::sight::{SeenText, Sight};
use crate::NodeId;
use crate::outline::{Line, Part, Place, Purpose, Words, tidy};

/// How deep the tree is followed.
const DEEPEST: usize = 150;
/// Values shorter than this are not looked for in names.
const SHORTEST_VALUE: usize = 3;
/// What stands for a name that repeats what somebody typed.
const TYPED: &str = "[typed]";

/// One node of the tree.
#[derive(Debug, Default)]
struct Node {
    ignored: bool,
    role: String,
    name: String,
    named_by: NamedBy,
    value: String,
    states: Vec<&'static str>,
    level: Option<u64>,
    editable: bool,
    node: Option<NodeId>,
    children: Vec<String>,
}

/// The accessibility tree of one frame.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: HashMap<String, Node>,
    root: String,
}

/// A line, or a place where the lines of an inner frame belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Drawn {
    /// A finished line.
    Line(Line),
    /// The frame that this element holds.
    Frame { depth: usize, handle: String, node: NodeId },
}

/// How a frame's tree is written.
#[derive(Clone, Copy)]
pub(super) struct Manner<'a> {
    /// Begins each handle.
    pub(super) prefix: &'a str,
    /// Values that no name may repeat.
    pub(super) typed: &'a HashSet<String>,
    /// Whether to show which option of a select is chosen.
    pub(super) with_choices: bool,
    /// What a person sees of the frame.
    pub(super) sight: &'a Sight,
    /// The frame's place among the page's.
    pub(super) frame: usize,
}

/// What the browser took an element's name from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum NamedBy {
    /// Its own text.
    Contents,
    /// What it draws itself: the label of a button, the hint in an empty field.
    Drawn,
    /// An attribute or another element.
    #[default]
    Other,
}

/// The lines of one frame, and the elements with a handle.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) title: String,
    pub(super) lines: Vec<Drawn>,
    pub(super) elements: Vec<(String, NodeId)>,
    pub(super) cut: bool,
}

impl Tree {
    /// Reads the answer of `Accessibility.getFullAXTree`.
    pub(super) fn read(answer: &Value) -> Tree {
        let mut tree = Tree::default();
        for node in answer.get("nodes").and_then(Value::as_array).into_iter().flatten() {
            let Some(id) = text(node, "nodeId") else {
                continue;
            };
            if tree.root.is_empty() {
                tree.root = id.to_owned();
            }
            tree.nodes.insert(id.to_owned(), Node::read(node));
        }
        tree
    }

    /// What is typed into the controls of this frame, to be kept out of the names of others.
    pub(super) fn typed(&self) -> HashSet<String> {
        let typed = self.nodes.values().filter(|node| node.is_entry()).map(|node| tidy(&node.value));
        typed.filter(|value| value.chars().count() >= SHORTEST_VALUE).collect()
    }

    /// The lines of the frame.
    pub(super) fn render(&self, manner: Manner<'_>) -> Rendered {
        let left_out = self.left_out(manner.sight);
        let mut writer = Writer { tree: self, manner, left_out, count: 0, out: Rendered::default() };
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

    /// The words that a person sees and the tree does not have, by the nearest element that it has. A page takes
    /// them out with `aria-hidden`; they are text like any other.
    fn left_out<'a>(&self, sight: &'a Sight) -> HashMap<NodeId, Vec<&'a SeenText>> {
        let holds: HashMap<NodeId, bool> =
            self.nodes.values().filter_map(|node| Some((node.node?, node.is_entry()))).collect();
        let mut left_out: HashMap<NodeId, Vec<&SeenText>> = HashMap::new();
        for text in sight.left_out(|node| holds.contains_key(&node)) {
            let entry = sight.ancestors(text.at).any(|node| holds.get(&node) == Some(&true));
            if !entry && let Some(holder) = sight.ancestors(text.at).find(|node| holds.contains_key(node)) {
                left_out.entry(holder).or_default().push(text);
            }
        }
        left_out
    }

    /// The text below a node that is no control's value.
    fn text_below(&self, node: &Node, depth: usize, into: &mut String) {
        if depth > DEEPEST || node.is_entry() {
            return;
        }
        if node.role == "StaticText" {
            into.push_str(&node.name);
            return;
        }
        for child in node.children.iter().filter_map(|id| self.nodes.get(id)) {
            self.text_below(child, depth + 1, into);
        }
    }
}

impl Node {
    fn read(node: &Value) -> Node {
        let string = |name: &str| match node.get(name).and_then(|it| it.get("value")) {
            Some(Value::String(value)) => value.clone(),
            Some(Value::Number(value)) => value.to_string(),
            _ => String::new(),
        };
        let mut read = Node {
            ignored: node.get("ignored").and_then(Value::as_bool).unwrap_or(false),
            role: string("role"),
            name: string("name"),
            named_by: named_by(node),
            value: string("value"),
            node: node.get("backendDOMNodeId").and_then(Value::as_i64).map(NodeId),
            ..Node::default()
        };
        let children = node.get("childIds").and_then(Value::as_array).into_iter().flatten();
        read.children = children.filter_map(Value::as_str).map(str::to_owned).collect();
        for property in node.get("properties").and_then(Value::as_array).into_iter().flatten() {
            let value = property.pointer("/value/value").unwrap_or(&Value::Null);
            let on = value.as_bool() == Some(true) || value.as_str() == Some("true");
            match text(property, "name").unwrap_or_default() {
                "level" => read.level = value.as_u64(),
                "editable" => read.editable = value.as_str().is_some_and(|kind| !kind.is_empty()),
                "checked" if value.as_str() == Some("mixed") => read.states.push("checked=mixed"),
                "checked" if on => read.states.push("checked"),
                "selected" if on => read.states.push("selected"),
                "disabled" if on => read.states.push("disabled"),
                "expanded" if on => read.states.push("expanded"),
                "pressed" if on => read.states.push("pressed"),
                "required" if on => read.states.push("required"),
                _ => {}
            }
        }
        read
    }

    /// Whether this is a control that holds something typed.
    fn is_entry(&self) -> bool {
        let role = self.role.as_str();
        self.editable
            || matches!(
                role,
                "textbox" | "searchbox" | "spinbutton" | "slider" | "Date" | "DateTime" | "InputTime"
            )
            || role == "ColorWell"
            || (role == "combobox" && !self.states.contains(&"select") && self.children.is_empty())
    }

    /// The role as it is shown; none for nodes that only hold others.
    fn shown_role(&self) -> Option<&str> {
        match self.role.as_str() {
            "Date" | "DateTime" | "InputTime" | "ColorWell" => Some("textbox"),
            "DisclosureTriangle" => Some("button"),
            "Iframe" | "IframePresentational" => Some("iframe"),
            "generic" | "none" | "presentation" if self.editable => Some("textbox"),
            "generic" | "none" | "presentation" | "" => None,
            role if role.bytes().all(|byte| byte.is_ascii_lowercase()) => Some(role),
            _ => None,
        }
    }
}

/// What the name was taken from: the first of its sources that holds.
fn named_by(node: &Value) -> NamedBy {
    let sources = node.pointer("/name/sources").and_then(Value::as_array);
    let holds = |source: &&Value| {
        source.get("value").is_some() && source.get("superseded") != Some(&Value::Bool(true))
    };
    let source = sources.and_then(|sources| sources.iter().find(holds));
    match source.and_then(|source| text(source, "type")) {
        Some("contents") => NamedBy::Contents,
        Some("placeholder" | "implicit") => NamedBy::Drawn,
        Some("attribute") if source.and_then(|it| text(it, "attribute")) == Some("value") => NamedBy::Drawn,
        _ => NamedBy::Other,
    }
}

struct Writer<'a> {
    tree: &'a Tree,
    manner: Manner<'a>,
    left_out: HashMap<NodeId, Vec<&'a SeenText>>,
    count: usize,
    out: Rendered,
}

impl<'a> Writer<'a> {
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
            // Numbers are words; bullets are not.
            "ListMarker" if node.name.contains(char::is_alphanumeric) => self.text(depth, node, holder),
            "InlineTextBox" | "LineBreak" | "ListMarker" => {}
            _ => match node.shown_role().filter(|_| !node.ignored || node.editable) {
                Some(role) => self.element(node, role, depth, nesting),
                None => {
                    // A block of its own ends the run of text before it; a node left out by the browser
                    // does not, so a number split over several of them stays in one piece.
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

    /// The children, and between them the words that the tree leaves out and a person sees.
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
                .and_then(|it| self.manner.sight.place_of(it));
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
        self.count += 1;
        let handle = format!("{}e{}", self.manner.prefix, self.count);
        if let Some(id) = node.node {
            self.out.elements.push((handle.clone(), id));
            if role == "iframe" {
                self.out.lines.push(Drawn::Frame { depth, handle, node: id });
                return;
            }
        }
        let name = self.name_of(node, role);
        let mut after = String::new();
        if let Some(level) = node.level {
            let _infallible = write!(after, " [level={level}]");
        }
        for state in node.states.iter().filter(|state| self.manner.with_choices || **state != "selected") {
            let _infallible = write!(after, " [{state}]");
        }
        let _infallible = write!(after, " [ref={handle}]");
        let entry = node.is_entry();
        if entry {
            after.push_str(if self.is_filled(node) { ": filled" } else { ": empty" });
        }
        let mut head = vec![Part::Own(format!("- {role}"))];
        head.extend(name.map(Part::Page));
        head.push(Part::Own(after));
        let at = self.out.lines.len();
        self.out.lines.push(Drawn::Line(Line { depth, head, ..Line::default() }));
        if entry {
            return;
        }
        self.children(node, None, depth + 1, nesting);
        self.flush(at + 1);
        self.fold(at);
    }

    /// A line whose text only repeats its name stands alone; one without a name takes a single text in.
    fn fold(&mut self, at: usize) {
        let below = self.out.lines.get(at + 1..).unwrap_or_default();
        let only_text = below.iter().all(|line| matches!(line, Drawn::Line(line) if line.bare));
        let single = below.len() == 1;
        let texts = below.iter().flat_map(|line| match line {
            Drawn::Line(line) => line.text.as_slice(),
            Drawn::Frame { .. } => &[],
        });
        let shown: String =
            texts.filter(|words| words.place != Place::Hidden).map(|it| it.text.as_str()).collect();
        let has_below = !below.is_empty();
        let Some(Drawn::Line(line)) = self.out.lines.get(at) else {
            return;
        };
        let name = line.head.iter().find_map(|part| match part {
            Part::Page(words) => Some(tidy(&words.text)),
            Part::Own(_) => None,
        });
        let repeats = single && name.as_ref().is_some_and(|name| *name == tidy(&shown));
        let takes = single && (name.is_none() || tidy(&shown).is_empty());
        let mut text = Vec::new();
        if only_text
            && (repeats || takes)
            && let Some(Drawn::Line(taken)) = self.out.lines.pop()
        {
            text = taken.text;
        }
        let Some(Drawn::Line(line)) = self.out.lines.get_mut(at) else {
            return;
        };
        if repeats && only_text {
            text.retain(|words| words.place == Place::Hidden);
            for part in &mut line.head {
                if let Part::Page(words) = part
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
        self.out.lines.push(Drawn::Line(Line { depth, ..Line::default() }));
    }

    /// The words of a node of text: what the browser laid out of it, and whether it is seen.
    fn text(&mut self, depth: usize, node: &Node, holder: Option<NodeId>) {
        for words in self.words_of(node, holder) {
            self.run(depth, words);
        }
    }

    fn words_of(&self, node: &Node, holder: Option<NodeId>) -> Vec<Words> {
        let generated = node.node.is_none();
        let shown = if generated { Place::Generated } else { Place::Shown };
        let words = |text: &str, place| Words {
            text: text.to_owned(),
            place,
            purpose: Purpose::Text,
            frame: self.manner.frame,
        };
        if let Some(seen) = node.node.or(holder).and_then(|id| self.manner.sight.text(id)) {
            let place = |shows: bool| if shows { shown } else { Place::Hidden };
            return seen.stretches.iter().map(|it| words(&it.words, place(it.shown))).collect();
        }
        // What the browser draws within a control of its own has no layout to ask for: it is seen with the control.
        let shows = holder.and_then(|id| self.manner.sight.shows(id)) == Some(true);
        vec![words(&node.name, if shows { shown } else { Place::Hidden })]
    }

    fn seen_text(&mut self, depth: usize, text: &SeenText) {
        if !text.follows {
            self.end_run(depth);
        }
        for stretch in &text.stretches {
            let place = if stretch.shown { Place::Shown } else { Place::Hidden };
            let words = Words {
                text: stretch.words.clone(),
                place,
                purpose: Purpose::Text,
                frame: self.manner.frame,
            };
            self.run(depth, words);
        }
    }

    fn run(&mut self, depth: usize, words: Words) {
        if let Some(Drawn::Line(line)) = self.out.lines.last_mut()
            && line.bare
            && line.depth == depth
        {
            line.text.push(words);
            return;
        }
        let head = vec![Part::Own("- text".to_owned())];
        self.out.lines.push(Drawn::Line(Line { depth, head, text: vec![words], bare: true, opens: false }));
    }

    /// Drops the marks between runs of text since `from`, and runs of white space.
    fn flush(&mut self, from: usize) {
        let tail = self.out.lines.split_off(from.min(self.out.lines.len()));
        let holds = |line: &Line| {
            !line.head.is_empty()
                && !(line.bare && line.text.iter().all(|words| tidy(&words.text).is_empty()))
        };
        self.out.lines.extend(tail.into_iter().filter(|line| match line {
            Drawn::Line(line) => holds(line),
            Drawn::Frame { .. } => true,
        }));
    }

    /// The name, unless it repeats what was typed into a control: a name may be taken from a control that it
    /// refers to.
    fn name_of(&self, node: &Node, role: &str) -> Option<Words> {
        let control = is_control(role);
        let purpose = if control { Purpose::Label } else { Purpose::Name };
        let words =
            |text: String, place, purpose| Some(Words { text, place, purpose, frame: self.manner.frame });
        let name = tidy(&node.name);
        if name.is_empty() {
            return None;
        }
        let typed = self.manner.typed;
        if typed.iter().any(|value| name.contains(value.as_str())) {
            let mut below = String::new();
            self.tree.text_below(node, 0, &mut below);
            let below = tidy(&below);
            let told = |value: &String| name.contains(value.as_str()) && !below.contains(value.as_str());
            if node.is_entry() || typed.iter().any(told) {
                return words(TYPED.to_owned(), Place::Shown, purpose);
            }
        }
        if node.named_by == NamedBy::Contents {
            let mut shown = String::new();
            self.shown_below(node, node.node, 0, &mut shown);
            let shown = tidy(&shown);
            if !shown.is_empty() {
                return words(shown, Place::Shown, Purpose::Echo);
            }
        }
        // A control draws its own value or its hint, where it has no label.
        let drawn = node.named_by == NamedBy::Drawn
            && node.node.and_then(|id| self.manner.sight.shows(id)) == Some(true);
        let place = if drawn || self.manner.sight.says(&name) { Place::Shown } else { Place::Attribute };
        words(name, place, purpose)
    }

    /// The words below a node that a person sees, without any control's value.
    fn shown_below(&self, node: &Node, holder: Option<NodeId>, depth: usize, into: &mut String) {
        if depth > DEEPEST || node.is_entry() {
            return;
        }
        if node.role == "StaticText" {
            let apart =
                node.node.or(holder).and_then(|id| self.manner.sight.text(id)).is_some_and(|it| !it.follows);
            if apart && !into.is_empty() {
                into.push(' ');
            }
            for words in self.words_of(node, holder).iter().filter(|it| it.place != Place::Hidden) {
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

/// Whether an element of this role is used, so that its name is needed.
fn is_control(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "link"
            | "textbox"
            | "searchbox"
            | "spinbutton"
            | "slider"
            | "combobox"
            | "listbox"
            | "option"
            | "checkbox"
            | "radio"
            | "switch"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "tab"
            | "treeitem"
            | "form"
            | "dialog"
            | "alertdialog"
            | "radiogroup"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tree_that_goes_round_ends() {
        let (typed, sight) = (HashSet::new(), Sight::default());
        let manner = Manner { prefix: "", typed: &typed, with_choices: true, sight: &sight, frame: 0 };
        let node = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1", "1"] });
        let one = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1"] });
        assert!(Tree::read(&json!({ "nodes": [one] })).render(manner).cut);
        assert!(Tree::read(&json!({ "nodes": [] })).render(manner).lines.is_empty());
        assert_eq!(Tree::read(&json!({ "nodes": [node] })).nodes.len(), 1);
    }
}
