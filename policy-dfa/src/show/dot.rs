//! A picture for Graphviz.

use super::picture::{Picture, Sort};

pub(super) fn draw(picture: &Picture) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&picture.title));
    out += &format!("    label={};\n    labelloc=t;\n", quoted(&picture.title));
    out += "    node [shape=box, fontname=\"sans-serif\", fontsize=11];\n";
    out += "    edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (number, card) in picture.cards.iter().enumerate() {
        let lines = std::iter::once(card.head.as_str()).chain(card.refused.iter().map(String::as_str));
        let label = lines.map(inner).collect::<Vec<_>>().join("\\n");
        let shape = match card.sort {
            Sort::State => "",
            Sort::Grant => ", style=filled, fillcolor=\"#d8f0d8\"",
            Sort::Ask => ", style=filled, fillcolor=\"#fff2c8\"",
            Sort::Deny => ", style=filled, fillcolor=\"#f8d8d8\"",
        };
        out += &format!("    n{number} [label=\"{label}\"{shape}];\n");
    }
    for line in &picture.lines {
        out += &format!("    n{} -> n{} [label={}];\n", line.from, line.to, quoted(&line.label));
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", inner(text))
}

/// What may stand between double quotes: Graphviz reads a backslash there too.
fn inner(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}
