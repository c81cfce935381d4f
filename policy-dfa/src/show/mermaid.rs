//! A picture for Mermaid.

use super::picture::{Picture, Sort};

pub(super) fn draw(picture: &Picture) -> String {
    // The title stands in a quoted text of the front matter.
    let title = picture.title.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    let mut out = format!("---\ntitle: \"{title}\"\n---\nflowchart TD\n");
    for (number, card) in picture.cards.iter().enumerate() {
        let lines = std::iter::once(card.head.as_str()).chain(card.refused.iter().map(String::as_str));
        let label = lines.map(escaped).collect::<Vec<_>>().join("<br/>");
        let (open, close, class) = match card.sort {
            Sort::State => ("[", "]", ""),
            Sort::Grant => ("([", "])", ":::granted"),
            Sort::Ask => ("([", "])", ":::asked"),
            Sort::Deny => ("([", "])", ":::refused"),
        };
        out += &format!("    n{number}{open}\"{label}\"{close}{class}\n");
    }
    for line in &picture.lines {
        out += &format!("    n{} -->|\"{}\"| n{}\n", line.from, escaped(&line.label), line.to);
    }
    out += "    classDef granted fill:#d8f0d8\n    classDef asked fill:#fff2c8\n";
    out + "    classDef refused fill:#f8d8d8\n"
}

/// Everything but letters, digits and a few marks as a character code, which Mermaid writes with `#`.
fn escaped(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " _.,:".contains(letter);
    let each = text.chars().map(|letter| match letter {
        letter if plain(letter) => letter.to_string(),
        letter => format!("#{};", u32::from(letter)),
    });
    each.collect()
}
