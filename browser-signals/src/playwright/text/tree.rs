//! The browser's accessibility tree of one frame, for a text without any value of a control.
//!
//! The tree gives the elements; their words are those that the browser laid out, with their visibility.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::NodeId;
use crate::json::text;
use crate::outline::{is_control, tidy};

/// The depth to which the tree is followed.
pub(super) const DEEPEST: usize = 150;
/// Shorter values are not searched for in names.
const SHORTEST_VALUE: usize = 3;

/// One node of the tree.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) ignored: bool,
    pub(super) role: String,
    pub(super) name: String,
    pub(super) named_by: NamedBy,
    pub(super) value: String,
    pub(super) states: Vec<&'static str>,
    pub(super) level: Option<u64>,
    pub(super) editable: bool,
    /// The address that a link leads to, as the browser resolved it.
    pub(super) address: String,
    pub(super) node: Option<NodeId>,
    pub(super) children: Vec<String>,
}

/// The accessibility tree of one frame.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: HashMap<String, Node>,
    pub(super) root: String,
}

/// The source of an element's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum NamedBy {
    /// Its own text.
    Contents,
    /// Text that the browser draws in it: the label of a button, the placeholder of an empty field.
    Drawn,
    /// An attribute or another element.
    #[default]
    Other,
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

    /// The values typed into the controls of this frame, which no name of another element may repeat.
    pub(super) fn typed(&self) -> HashSet<String> {
        let typed = self.nodes.values().filter(|node| node.is_entry()).map(|node| tidy(&node.value));
        typed.filter(|value| value.chars().count() >= SHORTEST_VALUE).collect()
    }

    /// The names of the controls.
    pub(super) fn control_names(&self) -> HashSet<String> {
        let is_one = |node: &&Node| !node.ignored && (node.is_entry() || is_control(&node.role));
        let controls = self.nodes.values().filter(is_one);
        controls.map(|node| tidy(&node.name)).collect()
    }

    /// The text below a node, without the values of controls.
    pub(super) fn text_below(&self, node: &Node, depth: usize, into: &mut String) {
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
                "url" if read.role == "link" => {
                    value.as_str().unwrap_or_default().clone_into(&mut read.address)
                }
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

    /// Whether it leads to a mailbox or a phone. The browser writes schemes in lower case.
    pub(super) fn is_contact(&self) -> bool {
        ["mailto:", "tel:"].iter().any(|scheme| self.address.starts_with(scheme))
    }

    /// Whether this is a control for typed text.
    pub(super) fn is_entry(&self) -> bool {
        let role = self.role.as_str();
        self.editable
            || matches!(
                role,
                "textbox" | "searchbox" | "spinbutton" | "slider" | "Date" | "DateTime" | "InputTime"
            )
            || role == "ColorWell"
            || (role == "combobox" && !self.states.contains(&"select") && self.children.is_empty())
    }

    /// Whether this is a part of a sentence that is only drawn in another way. A person reads on without a break, and a value
    /// that is split over such parts is one value.
    pub(super) fn is_phrase(&self) -> bool {
        let role = self.role.as_str();
        let phrase = matches!(
            role,
            "code" | "deletion" | "emphasis" | "insertion" | "mark" | "strong" | "subscript" | "superscript"
        );
        phrase && !self.editable
    }

    /// The role in the text; none for nodes that only group others.
    pub(super) fn shown_role(&self) -> Option<&str> {
        match self.role.as_str() {
            "Date" | "DateTime" | "InputTime" | "ColorWell" => Some("textbox"),
            "DisclosureTriangle" => Some("button"),
            "Iframe" | "IframePresentational" => Some("iframe"),
            "generic" | "none" | "presentation" if self.editable => Some("textbox"),
            "generic" | "none" | "presentation" | "" => None,
            _ if self.is_phrase() => None,
            role if role.bytes().all(|byte| byte.is_ascii_lowercase()) => Some(role),
            _ => None,
        }
    }
}

/// The source of a node's name: the first of its sources that applies.
fn named_by(node: &Value) -> NamedBy {
    let sources = node.pointer("/name/sources").and_then(Value::as_array);
    let applies = |source: &&Value| {
        source.get("value").is_some() && source.get("superseded") != Some(&Value::Bool(true))
    };
    let source = sources.and_then(|sources| sources.iter().find(applies));
    match source.and_then(|source| text(source, "type")) {
        Some("contents") => NamedBy::Contents,
        Some("placeholder" | "implicit") => NamedBy::Drawn,
        Some("attribute") if source.and_then(|it| text(it, "attribute")) == Some("value") => NamedBy::Drawn,
        _ => NamedBy::Other,
    }
}
