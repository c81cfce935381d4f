//! The browser's accessibility tree as text for a model, without any value of a control.
//!
//! Every word of the page stands in quotes, so no page can write a line of the structure itself.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::session::text;
use crate::NodeId;

/// How deep the tree is followed.
const DEEPEST: usize = 150;
/// Values shorter than this are not looked for in names.
const SHORTEST_VALUE: usize = 3;
/// What stands for a name that repeats what somebody typed.
const WITHHELD: &str = "[typed]";

/// One node of the tree.
#[derive(Debug, Default)]
struct Node {
    ignored: bool,
    role: String,
    name: String,
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

/// A place in the rendered text where the tree of an inner frame belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A finished line, its depth, and the element it gave a handle to.
    Text { depth: usize, line: String },
    /// The frame that this element holds.
    Frame { depth: usize, handle: String, node: NodeId },
}

/// The lines of one frame, and the elements with a handle.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) title: String,
    pub(super) lines: Vec<Line>,
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
        let typed = self.nodes.values().filter(|node| node.is_entry()).map(|node| squeeze(&node.value));
        typed.filter(|value| value.chars().count() >= SHORTEST_VALUE).collect()
    }

    /// The text of the frame. `prefix` begins each handle; `typed` are values that no name may repeat;
    /// `with_choices` shows which option of a select is chosen.
    pub(super) fn render(&self, prefix: &str, typed: &HashSet<String>, with_choices: bool) -> Rendered {
        let mut writer =
            Writer { tree: self, prefix, typed, with_choices, count: 0, out: Rendered::default() };
        if let Some(root) = self.nodes.get(&self.root) {
            writer.out.title = root.name.clone();
            for child in &root.children {
                writer.node(child, 0, 0);
            }
            writer.flush(0);
        }
        writer.out
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

struct Writer<'a> {
    tree: &'a Tree,
    prefix: &'a str,
    typed: &'a HashSet<String>,
    with_choices: bool,
    count: usize,
    out: Rendered,
}

impl Writer<'_> {
    fn node(&mut self, id: &str, depth: usize, nesting: usize) {
        let Some(node) = self.tree.nodes.get(id) else {
            return;
        };
        if nesting > DEEPEST {
            self.out.cut = true;
            return;
        }
        match node.role.as_str() {
            "StaticText" if !node.ignored => self.text(depth, &node.name),
            "InlineTextBox" | "LineBreak" | "ListMarker" => {}
            _ => match node.shown_role().filter(|_| !node.ignored || node.editable) {
                Some(role) => self.element(node, role, depth, nesting),
                None => {
                    // A block of its own ends the run of text before it; a node left out by the browser
                    // does not, so a number split over several of them stays in one piece.
                    if !node.ignored {
                        self.out.lines.push(Line::Text { depth, line: String::new() });
                    }
                    for child in &node.children {
                        self.node(child, depth, nesting + 1);
                    }
                    if !node.ignored {
                        self.out.lines.push(Line::Text { depth, line: String::new() });
                    }
                }
            },
        }
    }

    fn element(&mut self, node: &Node, role: &str, depth: usize, nesting: usize) {
        self.count += 1;
        let handle = format!("{}e{}", self.prefix, self.count);
        if let Some(id) = node.node {
            self.out.elements.push((handle.clone(), id));
            if role == "iframe" {
                self.out.lines.push(Line::Frame { depth, handle, node: id });
                return;
            }
        }
        let name = self.name_of(node);
        let mut line = format!("- {role}");
        if !name.is_empty() {
            let _infallible = write!(line, " {}", quoted(&name));
        }
        if let Some(level) = node.level {
            let _infallible = write!(line, " [level={level}]");
        }
        for state in node.states.iter().filter(|state| self.with_choices || **state != "selected") {
            let _infallible = write!(line, " [{state}]");
        }
        let _infallible = write!(line, " [ref={handle}]");
        if node.is_entry() {
            line.push_str(if self.is_filled(node) { ": filled" } else { ": empty" });
            self.out.lines.push(Line::Text { depth, line });
            return;
        }
        let at = self.out.lines.len();
        self.out.lines.push(Line::Text { depth, line });
        for child in &node.children {
            self.node(child, depth + 1, nesting + 1);
        }
        self.flush(at + 1);
        self.fold(at, &name);
    }

    /// A line whose children only repeat its name stands alone; one with a single text takes it in.
    fn fold(&mut self, at: usize, name: &str) {
        let mut below = String::new();
        for line in self.out.lines.get(at + 1..).unwrap_or_default() {
            match line {
                Line::Text { line, .. } if line.starts_with("- text: ") => {
                    below.push_str(line.trim_start_matches("- text: "));
                }
                _ => return self.colon(at),
            }
        }
        let single = self.out.lines.len() == at + 2;
        if below.is_empty() || below == quoted(name) {
            self.out.lines.truncate(at + 1);
        } else if single && name.is_empty() {
            self.out.lines.truncate(at + 1);
            if let Some(Line::Text { line, .. }) = self.out.lines.get_mut(at) {
                let _infallible = write!(line, ": {below}");
            }
        } else {
            self.colon(at);
        }
    }

    fn colon(&mut self, at: usize) {
        if let Some(Line::Text { line, .. }) = self.out.lines.get_mut(at) {
            line.push(':');
        }
    }

    fn text(&mut self, depth: usize, words: &str) {
        if let Some(Line::Text { line, .. }) = self.out.lines.last_mut()
            && let Some(raw) = line.strip_prefix('\u{0}')
        {
            *line = format!("\u{0}{raw}{words}");
            return;
        }
        self.out.lines.push(Line::Text { depth, line: format!("\u{0}{words}") });
    }

    /// Finishes the runs of text that were gathered since `from`, and drops the marks between them.
    fn flush(&mut self, from: usize) {
        let tail = self.out.lines.split_off(from.min(self.out.lines.len()));
        for line in tail {
            match line {
                Line::Text { depth, line } if line.starts_with('\u{0}') => {
                    let words = squeeze(line.trim_start_matches('\u{0}'));
                    if !words.is_empty() {
                        let line = format!("- text: {}", quoted(&words));
                        self.out.lines.push(Line::Text { depth, line });
                    }
                }
                Line::Text { line, .. } if line.is_empty() => {}
                other => self.out.lines.push(other),
            }
        }
    }

    /// The name, unless it repeats what was typed into a control: a name may be taken from a control that it
    /// refers to.
    fn name_of(&self, node: &Node) -> String {
        let name = squeeze(&node.name);
        if !self.typed.iter().any(|value| name.contains(value.as_str())) {
            return name;
        }
        let mut below = String::new();
        self.tree.text_below(node, 0, &mut below);
        let below = squeeze(&below);
        let told = |value: &String| name.contains(value.as_str()) && !below.contains(value.as_str());
        if node.is_entry() || self.typed.iter().any(told) { WITHHELD.to_owned() } else { name }
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

/// White space as one space each, none at the ends, no control characters.
fn squeeze(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words of the page in quotes, with every quote within escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in squeeze(text).chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        // Line and paragraph separators would look like a line of ours.
        out.push(if matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c });
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        /// Whatever a page writes, its line stays one line and its quotes stay closed.
        #[test]
        fn words_cannot_leave_their_quotes(words in any::<String>()) {
            let shown = quoted(&words);
            let inner = shown.strip_prefix('"').and_then(|it| it.strip_suffix('"')).expect("quotes");
            let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
            prop_assert!(!shown.contains(breaks), "a line break in {shown}");
            let bare = inner.replace("\\\\", "").replace("\\\"", "");
            prop_assert!(!bare.contains(['"', '\\']), "{shown}");
        }
    }

    #[test]
    fn a_tree_that_goes_round_ends() {
        let node = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1", "1"] });
        let one = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1"] });
        assert!(Tree::read(&json!({ "nodes": [one] })).render("", &HashSet::new(), true).cut);
        assert!(Tree::read(&json!({ "nodes": [] })).render("", &HashSet::new(), true).lines.is_empty());
        assert_eq!(Tree::read(&json!({ "nodes": [node] })).nodes.len(), 1);
    }
}
