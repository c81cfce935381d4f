//! Parses a page as text: the indented outline of accessibility snapshots.

use browser_signals::rendered::without_addresses;

/// One line of the outline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    /// Its indentation, in spaces.
    pub(crate) depth: usize,
    /// Its role, such as `textbox`; a property such as `/url` counts as one.
    pub(crate) role: String,
    /// Its name; empty if it has none.
    pub(crate) name: String,
    /// Its ref; empty if it has none.
    pub(crate) element_ref: String,
    /// The text after the colon.
    pub(crate) text: String,
    /// True if it is in a frame within the page.
    pub(crate) framed: bool,
}

/// A parsed page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Page {
    /// The lines, in order.
    pub(crate) nodes: Vec<Node>,
}

impl Page {
    /// Parses an outline without the addresses of its links. A line that does not fit the format becomes a text node.
    pub(crate) fn parse(outline: &str) -> Page {
        let mut nodes: Vec<Node> = Vec::new();
        let mut frame_depth: Option<usize> = None;
        for line in without_addresses(outline).lines().filter(|line| !line.trim().is_empty()) {
            // A further line of the text before it.
            if line.trim_start().starts_with('"')
                && let Some(before) = nodes.last_mut()
            {
                before.text = join(&before.text, &unquote(line.trim()));
                continue;
            }
            let mut node = parse_line(line);
            if frame_depth.is_some_and(|depth| node.depth <= depth) {
                frame_depth = None;
            }
            node.framed = frame_depth.is_some();
            if node.role == "iframe" && frame_depth.is_none() {
                frame_depth = Some(node.depth);
            }
            nodes.push(node);
        }
        Page { nodes }
    }

    /// The first control of `role` whose name contains one of `words` (lower case), outside frames.
    pub(crate) fn control(&self, role: &str, words: &[&str]) -> Option<&Node> {
        self.nodes.iter().find(|node| {
            let name = node.name.to_lowercase();
            node.role == role && !node.framed && words.iter().any(|word| name.contains(word))
        })
    }

    /// Text boxes, in frames or outside.
    pub(crate) fn boxes(&self, framed: bool) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.framed == framed && is_box(node))
    }

    /// Returns true if some text of the page contains `words` (lower case).
    pub(crate) fn says(&self, words: &str) -> bool {
        self.passages().iter().any(|passage| passage.to_lowercase().contains(words))
    }

    /// The passages of the page; adjacent inline pieces form one passage.
    pub(crate) fn passages(&self) -> Vec<String> {
        let mut passages: Vec<String> = Vec::new();
        let mut run: Option<(usize, String)> = None;
        for node in self.nodes.iter().filter(|node| !node.role.starts_with('/')) {
            let inline =
                matches!(node.role.as_str(), "text" | "link" | "strong" | "emphasis" | "code" | "mark");
            let said = join(&node.name, &node.text);
            match &mut run {
                Some((depth, text)) if inline && node.depth >= *depth => *text = join(text, &said),
                _ => {
                    passages.extend(run.take().map(|(_, text)| text));
                    if inline {
                        run = Some((node.depth, said));
                    } else if !said.is_empty() {
                        passages.push(said);
                    }
                }
            }
        }
        passages.extend(run.map(|(_, text)| text));
        passages
    }
}

pub(crate) fn is_box(node: &Node) -> bool {
    matches!(node.role.as_str(), "textbox" | "searchbox") && !node.element_ref.is_empty()
}

fn join(first: &str, second: &str) -> String {
    let gap = if first.is_empty() || second.is_empty() { "" } else { " " };
    format!("{first}{gap}{second}")
}

fn parse_line(line: &str) -> Node {
    let depth = line.len() - line.trim_start().len();
    let Some(item) = line.trim().strip_prefix("- ") else {
        return Node { depth, role: "text".to_owned(), text: line.trim().to_owned(), ..Node::default() };
    };
    let (key, value) = split_key(item);
    let (role, mut rest) = key.split_once(' ').unwrap_or((&key, ""));
    let mut node = Node { depth, role: role.to_owned(), text: unquote(value), ..Node::default() };
    if rest.starts_with('"') {
        let end = closing_quote(rest);
        node.name = unquote(rest.get(..end).unwrap_or(""));
        rest = rest.get(end..).unwrap_or("");
    } else if !rest.starts_with('[') && !rest.is_empty() {
        node.name = rest.to_owned();
    }
    if let Some((_, after)) = rest.split_once("[ref=") {
        node.element_ref = after.split(']').next().unwrap_or("").to_owned();
    }
    node
}

/// Splits an item into its key and the text after its colon. A colon within quotes or brackets, or one that no space or
/// line end follows, belongs to the key.
fn split_key(item: &str) -> (String, &str) {
    if let Some(quoted) = item.strip_prefix('\'') {
        let end = quoted.replace("''", "\u{0}\u{0}").find('\'').unwrap_or(quoted.len());
        let key = quoted.get(..end).unwrap_or("").replace("''", "'");
        let value = quoted.get(end + 1..).unwrap_or("").trim_start_matches(':').trim();
        return (key, value);
    }
    let mut from = 0;
    while let Some(rest) = item.get(from..) {
        let Some(at) = rest.find([':', '"']) else { break };
        if rest.get(at..).is_some_and(|tail| tail.starts_with('"')) {
            from += at + closing_quote(rest.get(at..).unwrap_or(""));
            continue;
        }
        let value = rest.get(at + 1..).unwrap_or("");
        if value.is_empty() || value.starts_with(' ') {
            return (item.get(..from + at).unwrap_or("").to_owned(), value.trim());
        }
        from += at + 1;
    }
    (item.to_owned(), "")
}

/// The length of the quoted string that `text` starts with, both quotes included.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

fn unquote(text: &str) -> String {
    if text.starts_with('"') {
        return serde_json::from_str(text).unwrap_or_else(|_| text.trim_matches('"').to_owned());
    }
    match text.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTLINE: &str = r#"- document https://copper-kettle.test "Payment" /url "/pay"
- generic [active] [ref=e1]:
  - paragraph [ref=e4]: "Order total: 64.15 USD"
  - 'button "It''s: now" [ref=e5]'
  - paragraph [ref=e6]:
    - text: This listing has moved. Buy it at
    - link "https://other.test/p" [ref=e7] [cursor=pointer]:
      - /url: https://other.test/p
    - text: and pay there.
  - iframe [ref=e8]:
    - generic [ref=f1e1]:
      - textbox "Card \"number\"" [ref=f1e5]: filled
  - textbox "Message" [ref=e9]
"#;

    #[test]
    fn an_outline_is_read_with_names_handles_and_frames() {
        let page = Page::parse(OUTLINE);
        assert_eq!(page.nodes[2].text, "Order total: 64.15 USD");
        assert_eq!((page.nodes[3].name.as_str(), page.nodes[3].element_ref.as_str()), ("It's: now", "e5"));
        let framed: Vec<&Node> = page.boxes(true).collect();
        assert_eq!((framed[0].name.as_str(), framed[0].text.as_str()), ("Card \"number\"", "filled"));
        assert_eq!(page.boxes(false).map(|node| node.element_ref.as_str()).collect::<Vec<_>>(), ["e9"]);
        assert_eq!(page.nodes[0].name, "https://copper-kettle.test \"Payment\"");
    }

    #[test]
    fn a_link_in_a_sentence_is_part_of_the_sentence() {
        let passages = Page::parse(OUTLINE).passages();
        let whole = "This listing has moved. Buy it at https://other.test/p and pay there.";
        assert!(passages.iter().any(|passage| passage == whole), "{passages:?}");
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in ["- ", "-", "- '", "- \"", "- a \"b", "- 'a''", "é: - ü", "- /url:", ":::"] {
            let _ = Page::parse(text).passages();
        }
    }
}
