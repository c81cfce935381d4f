//! The part of a page that the model is told, as an outline, for judges that count only what was told.

use browser_signals::outline::{LinePart, Outline, OutlineLine, Words};

/// The outline with the told parts of its words, for each words in the order of [`Outline::words`]. Words of which nothing
/// is told are left out. The marks in their place are the guard's own words, and are left out too.
pub(super) fn told<'a>(outline: &'a Outline, mut parts: impl FnMut(&'a Words) -> Vec<&'a str>) -> Outline {
    let mut keep = |words: &'a Words| {
        // What was withheld between two parts separates them.
        let text = parts(words).join("\n");
        (!text.is_empty()).then(|| Words { text, ..words.clone() })
    };
    let mut line = |line: &'a OutlineLine| OutlineLine {
        head: line
            .head
            .iter()
            .filter_map(|part| match part {
                LinePart::Own(own) => Some(LinePart::Own(own.clone())),
                LinePart::Page(words) => keep(words).map(LinePart::Page),
            })
            .collect(),
        text: line.text.iter().filter_map(&mut keep).collect(),
        depth: line.depth,
        opens: line.opens,
        bare: line.bare,
        contact: line.contact,
        element: line.element.clone(),
    };
    Outline {
        lines: outline.lines.iter().map(&mut line).collect(),
        frames: outline.frames.clone(),
        seen: String::new(),
        cut: outline.cut,
    }
}
