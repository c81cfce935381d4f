//! The browser's accessibility tree as lines for a model, without any value of a control.
//!
//! The tree says what there is; the words are those that the browser laid out, and where they stood.

mod write;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::handles::Naming;
use super::session::text;
use super::sight::{SeenText, Sight};
use crate::NodeId;
use crate::outline::{Line, tidy};
use write::Writer;

/// How deep the tree is followed.
const DEEPEST: usize = 150;
/// Values shorter than this are not looked for in names.
const SHORTEST_VALUE: usize = 3;

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
    pub(super) fn render(&self, manner: Manner<'_>, naming: &mut Naming<'_>) -> Rendered {
        let left_out = self.left_out(manner.sight);
        let mut writer = Writer { tree: self, manner, left_out, naming, out: Rendered::default() };
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::handles::Handles;
    use super::*;

    #[test]
    fn a_tree_that_goes_round_ends() {
        let (typed, sight) = (HashSet::new(), Sight::default());
        let manner = Manner { typed: &typed, with_choices: true, sight: &sight, frame: 0 };
        let mut handles = Handles::default();
        let mut naming = Naming { handles: &mut handles, prefix: "", document: "" };
        let node = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1", "1"] });
        let one = json!({ "nodeId": "1", "role": { "value": "group" }, "childIds": ["1"] });
        assert!(Tree::read(&json!({ "nodes": [one] })).render(manner, &mut naming).cut);
        assert!(Tree::read(&json!({ "nodes": [] })).render(manner, &mut naming).lines.is_empty());
        assert_eq!(Tree::read(&json!({ "nodes": [node] })).nodes.len(), 1);
    }
}
