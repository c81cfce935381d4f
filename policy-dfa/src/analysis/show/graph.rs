//! Graphs of the automaton. A denial is a line in the node of its state and has no node of its own, so that only the
//! transitions towards a grant are arrows.

use crate::automaton::compile::Compiled;
use crate::automaton::diagram::{Diagrams, Edge, Leaf};
use crate::vocabulary::alphabet::{Axis, Mask};
use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::Outcome;

/// The graph of one event.
pub(super) struct Graph {
    title: String,
    /// In the order in which the axes are read. An arrow points only to a later node.
    nodes: Vec<Node>,
    arrows: Vec<Arrow>,
}

/// A state, or an outcome.
struct Node {
    head: String,
    /// The symbols that are refused, with the reasons.
    refused: Vec<String>,
    kind: NodeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeKind {
    State,
    Grant,
    Ask,
    Deny,
}

/// A transition from one node to another.
struct Arrow {
    from: usize,
    to: usize,
    label: String,
}

impl<State> Compiled<State> {
    pub(super) fn graph(&self, root: Root) -> Graph {
        let mut diagrams = Diagrams::default();
        let start = self.table.diagram(&mut diagrams, root);
        let title = format!("{root}, {} version {}", self.policy.name(), self.policy.version());
        let order = reached(&diagrams, start);
        let number = |edge: Edge| order.iter().position(|known| *known == edge);
        let (mut nodes, mut arrows) = (Vec::new(), Vec::new());
        for (from, edge) in order.iter().enumerate() {
            let Some(axis) = diagrams.axis(*edge) else {
                nodes.push(end(diagrams.leaf(*edge)));
                continue;
            };
            let mut refused = Vec::new();
            for (target, symbols) in successors(&diagrams, *edge, axis) {
                match (diagrams.leaf(target), number(target)) {
                    (Some(Leaf::Outcome(Outcome::Deny(_, reason))), _) => {
                        refused.push(format!("{}: {}", short(axis, symbols), reason.code()));
                    }
                    (_, Some(to)) => arrows.push(Arrow { from, to, label: short(axis, symbols) }),
                    (_, None) => {}
                }
            }
            nodes.push(Node { head: axis.as_str().to_owned(), refused, kind: NodeKind::State });
        }
        Graph { title, nodes, arrows }
    }
}

/// The states and the outcomes that are not denials, in the order of the axes. A denial is among them only if it is the
/// outcome of every valuation.
fn reached(diagrams: &Diagrams, start: Edge) -> Vec<Edge> {
    let (mut open, mut found) = (vec![start], vec![]);
    while let Some(edge) = open.pop() {
        let denial = matches!(diagrams.leaf(edge), Some(Leaf::Outcome(Outcome::Deny(..))));
        if found.contains(&edge) || (denial && edge != start) {
            continue;
        }
        found.push(edge);
        if let Some(axis) = diagrams.axis(edge) {
            open.extend(successors(diagrams, edge, axis).into_iter().map(|(target, _)| target));
        }
    }
    // The outcomes come last, and a grant before a prompt.
    found.sort_by_key(|edge| {
        (diagrams.axis(*edge).is_none(), diagrams.axis(*edge), end_order(diagrams, *edge))
    });
    found
}

fn end_order(diagrams: &Diagrams, edge: Edge) -> u8 {
    match diagrams.leaf(edge) {
        Some(Leaf::Outcome(Outcome::Grant(_))) => 1,
        Some(_) => 2,
        None => 0,
    }
}

/// The names of the symbols in a set, or of those that are not in it where that is shorter.
fn short(axis: Axis, symbols: Mask) -> String {
    let others = axis.full() & !symbols;
    if others != 0 && others.count_ones() < symbols.count_ones() {
        format!("all but {}", axis.names(others, ", "))
    } else {
        axis.names(symbols, ", ")
    }
}

/// The successors of a state, each with the symbols that lead to it.
fn successors(diagrams: &Diagrams, edge: Edge, axis: Axis) -> Vec<(Edge, Mask)> {
    let mut found: Vec<(Edge, Mask)> = Vec::new();
    for index in 0..axis.symbols().len() as u8 {
        let target = diagrams.after(edge, axis, index);
        match found.iter_mut().find(|(known, _)| *known == target) {
            Some((_, symbols)) => *symbols |= 1 << index,
            None => found.push((target, 1 << index)),
        }
    }
    found
}

fn end(leaf: Option<Leaf>) -> Node {
    let (head, kind) = match leaf {
        Some(Leaf::Outcome(Outcome::Grant(None))) => ("granted".to_owned(), NodeKind::Grant),
        Some(Leaf::Outcome(Outcome::Grant(Some(delivery)))) => {
            (format!("granted by {}", delivery.as_str()), NodeKind::Grant)
        }
        Some(Leaf::Outcome(Outcome::Ask(scope))) => (format!("asked, {}", scope.how_often()), NodeKind::Ask),
        Some(Leaf::Outcome(Outcome::Deny(_, reason))) => {
            (format!("refused: {}", reason.code()), NodeKind::Deny)
        }
        Some(Leaf::In | Leaf::Out) | None => (String::new(), NodeKind::State),
    };
    Node { head, refused: Vec::new(), kind }
}

/// The graph for Graphviz.
pub(super) fn dot(graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&graph.title));
    out += &format!("    label={};\n    labelloc=t;\n", quoted(&graph.title));
    out += "    node [shape=box, fontname=\"sans-serif\", fontsize=11];\n";
    out += "    edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (number, node) in graph.nodes.iter().enumerate() {
        let lines = std::iter::once(node.head.as_str()).chain(node.refused.iter().map(String::as_str));
        let label = lines.map(dot_escaped).collect::<Vec<_>>().join("\\n");
        let shape = match node.kind {
            NodeKind::State => "",
            NodeKind::Grant => ", style=filled, fillcolor=\"#d8f0d8\"",
            NodeKind::Ask => ", style=filled, fillcolor=\"#fff2c8\"",
            NodeKind::Deny => ", style=filled, fillcolor=\"#f8d8d8\"",
        };
        out += &format!("    n{number} [label=\"{label}\"{shape}];\n");
    }
    for arrow in &graph.arrows {
        out += &format!("    n{} -> n{} [label={}];\n", arrow.from, arrow.to, quoted(&arrow.label));
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", dot_escaped(text))
}

/// Text for double quotes in Graphviz, which interprets backslashes there.
fn dot_escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

/// The graph for Mermaid.
pub(super) fn mermaid(graph: &Graph) -> String {
    // The title is a quoted text in the front matter.
    let title = graph.title.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    let mut out = format!("---\ntitle: \"{title}\"\n---\nflowchart TD\n");
    for (number, node) in graph.nodes.iter().enumerate() {
        let lines = std::iter::once(node.head.as_str()).chain(node.refused.iter().map(String::as_str));
        let label = lines.map(mermaid_escaped).collect::<Vec<_>>().join("<br/>");
        let (open, close, class) = match node.kind {
            NodeKind::State => ("[", "]", ""),
            NodeKind::Grant => ("([", "])", ":::granted"),
            NodeKind::Ask => ("([", "])", ":::asked"),
            NodeKind::Deny => ("([", "])", ":::refused"),
        };
        out += &format!("    n{number}{open}\"{label}\"{close}{class}\n");
    }
    for arrow in &graph.arrows {
        out += &format!("    n{} -->|\"{}\"| n{}\n", arrow.from, mermaid_escaped(&arrow.label), arrow.to);
    }
    out += "    classDef granted fill:#d8f0d8\n    classDef asked fill:#fff2c8\n";
    out + "    classDef refused fill:#f8d8d8\n"
}

/// Text with everything but letters, digits and a few marks as character codes, which begin with `#` in Mermaid.
fn mermaid_escaped(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " _.,:".contains(letter);
    let each = text.chars().map(|letter| match letter {
        letter if plain(letter) => letter.to_string(),
        letter => format!("#{};", u32::from(letter)),
    });
    each.collect()
}
