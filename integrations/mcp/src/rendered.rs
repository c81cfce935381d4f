//! Parts of a page as it was rendered for the agent: an element with its contents, the first levels, the first lines, and lines
//! that match or are new with the elements that they are in.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use portcullis::session::ListedPage;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use portcullis::signals::ElementRef;
use portcullis::signals::outline::quoted;
use portcullis::signals::playwright::ElementBox;
use portcullis::signals::rendered::{as_seen, quoted_words, without_addresses};

use crate::call::SearchPattern;
use crate::target::ref_of;

/// The memory limit of an agent's regular expression, since each step of the search may visit all of its states.
const LARGEST_EXPRESSION: usize = 1 << 18;

/// The most matches in the answer of a search.
const MOST_FOUND: usize = 50;

/// The number of lines before and after a match that are told with it.
const AROUND: usize = 3;

/// The tabs of a container, one on a line as playwright-mcp lists them: `- 0: (current) [Title](https://shop.example/)`. Words
/// that could be taken for the end of their brackets keep their quotes.
pub fn tabs(pages: &[ListedPage]) -> String {
    let plain = |words: &str| {
        let inner = words.strip_prefix('"').and_then(|words| words.strip_suffix('"'));
        inner.filter(|inner| !inner.contains(['[', ']', '(', ')', '\\'])).unwrap_or(words).to_owned()
    };
    let line = |(number, page): (usize, &ListedPage)| {
        let current = if page.is_current { "(current) " } else { "" };
        format!("- {number}: {current}[{}]({})", plain(&page.title), plain(&page.address))
    };
    pages.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// The line of an element with the lines of its descendants.
pub fn within(text: &str, element: &str) -> Option<String> {
    let is_it = |line: &str| ref_of(line).is_some_and(|found| found.0 == element);
    let mut lines = text.lines().skip_while(|line| !is_it(line));
    let head = lines.next()?;
    let depth = indent(head);
    let inner = lines.take_while(|line| indent(line) > depth);
    let lines: Vec<&str> =
        std::iter::once(head).chain(inner).map(|line| line.get(depth..).unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

/// The lines of the first levels. Each level is indented by two spaces. A further line of a text, which does not begin as
/// an element does, belongs to the level above.
pub fn levels(text: &str, depth: usize) -> String {
    let level =
        |line: &str| indent(line) / 2 - usize::from(indent(line) > 1 && !line.trim_start().starts_with('-'));
    let lines: Vec<&str> = text.lines().filter(|line| level(line) < depth).collect();
    lines.join("\n")
}

/// Returns true if a person sees these words on the page, in upper or lower case.
pub fn shows(text: &str, words: &str) -> bool {
    let quoted = quoted(words).to_lowercase();
    let inner = quoted.strip_prefix('"').and_then(|words| words.strip_suffix('"')).unwrap_or(&quoted);
    as_seen(text).to_lowercase().contains(inner)
}

/// A page with the box of each element after its ref.
pub fn with_boxes<'a>(text: &'a str, boxes: &HashMap<ElementRef, ElementBox>) -> Cow<'a, str> {
    if boxes.is_empty() {
        return Cow::Borrowed(text);
    }
    let with_box = |line: &str| {
        let found =
            ref_of(line).and_then(|element| Some((format!("[ref={}]", element.0), boxes.get(&element)?)));
        let words = quoted_words(line);
        let is_own = |at: &usize| !words.iter().any(|quoted| quoted.words.contains(at));
        let placed = found.and_then(|(mark, found)| {
            let at = line.match_indices(&mark).map(|(at, _)| at).find(is_own)?;
            Some((at + mark.len(), found))
        });
        match placed.and_then(|(at, found)| Some((line.get(..at)?, found, line.get(at..)?))) {
            Some((before, ElementBox { x, y, width, height }, after)) => {
                format!("{before} [box={x:.0},{y:.0},{width:.0},{height:.0}]{after}")
            }
            None => line.to_owned(),
        }
    };
    Cow::Owned(text.lines().map(with_box).collect::<Vec<_>>().join("\n"))
}

/// A line of a page that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The number of the line.
    at: usize,
    line: &'a str,
    /// True if the line was chosen, false if it is an element that a chosen line is in.
    is_chosen: bool,
}

impl Part<'_> {
    /// The line, with a plus in the place of its dash if it was chosen.
    pub fn marked(&self) -> String {
        let (blank, words) = self.line.split_at(indent(self.line));
        match self.is_chosen {
            true => format!("{blank}+ {}", words.strip_prefix("- ").unwrap_or(words)),
            false => self.line.to_owned(),
        }
    }
}

/// The chosen lines of a page, each after the lines of the elements that it is in.
pub fn below_their_elements<'a>(lines: &[&'a str], is_chosen: impl Fn(usize) -> bool) -> Vec<Part<'a>> {
    let mut shown = Vec::new();
    // The elements that the current line is in, and whether each is shown already.
    let mut above: Vec<(Part<'a>, bool)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        while above.last().is_some_and(|(other, _)| indent(other.line) >= indent(line)) {
            above.pop();
        }
        let is_chosen = is_chosen(at);
        if is_chosen {
            for (part, is_shown) in above.iter_mut().filter(|(_, is_shown)| !is_shown) {
                shown.push(Part { is_chosen: false, ..*part });
                *is_shown = true;
            }
        }
        let part = Part { at, line, is_chosen };
        shown.extend(is_chosen.then_some(part));
        above.push((part, is_chosen));
    }
    shown
}

/// The first lines of a text, of `limit` bytes at most but at least one, and the rest.
pub fn cut(text: &str, limit: usize) -> (&str, &str) {
    if text.len() <= limit {
        return (text, "");
    }
    let ends = text.match_indices('\n').map(|(at, _)| at);
    let mut last = None;
    for end in ends {
        if last.is_some() && end > limit {
            break;
        }
        last = Some(end);
    }
    let parts = last.and_then(|end| Some((text.get(..end)?, text.get(end + 1..)?)));
    parts.unwrap_or((text, ""))
}

/// The lines that match a pattern, addresses aside, with the lines around them, each after the lines of the elements that it is in, and the number of
/// those that match. Dots stand for lines that are left out.
///
/// # Errors
/// The problem of a regular expression.
pub fn find(text: &str, pattern: &SearchPattern) -> Result<(usize, Vec<String>), String> {
    let holds: Box<dyn Fn(&str) -> bool> = match pattern {
        SearchPattern::Text(words) => {
            let words = words.to_lowercase();
            Box::new(move |line| line.to_lowercase().contains(&words))
        }
        SearchPattern::Expression { pattern, any_case } => {
            let regex = compiled(pattern, *any_case)?;
            Box::new(move |line| regex.is_match(line))
        }
    };
    let lines: Vec<&str> = text.lines().collect();
    let matching: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| holds(&without_addresses(line)))
        .map(|(at, _)| at)
        .collect();
    let told: HashSet<usize> = matching.iter().copied().take(MOST_FOUND).collect();
    let path: HashSet<usize> =
        below_their_elements(&lines, |at| told.contains(&at)).into_iter().map(|part| part.at).collect();
    let around = |at: usize| told.iter().any(|found| found.abs_diff(at) <= AROUND);
    let mut shown = Vec::new();
    let mut last = None;
    for Part { at, line, .. } in below_their_elements(&lines, around) {
        // Between a match and the elements that it is in, the indentation shows that lines are left out.
        if last.is_some_and(|last| {
            last + 1 < at && !(path.contains(&last) && indent_of(&lines, last) < indent(line))
        }) {
            shown.push(format!("{}...", " ".repeat(indent(line))));
        }
        shown.push(line.to_owned());
        last = Some(at);
    }
    Ok((matching.len(), shown))
}

/// An expression of the agent's.
pub fn compiled(pattern: &str, any_case: bool) -> Result<Regex, String> {
    Regex::builder()
        .configure(Regex::config().nfa_size_limit(Some(LARGEST_EXPRESSION)))
        .syntax(syntax::Config::new().case_insensitive(any_case))
        .build(pattern)
        .map_err(|_| "the regular expression cannot be read, or is too large".to_owned())
}

fn indent_of(lines: &[&str], at: usize) -> usize {
    lines.get(at).map_or(0, |line| indent(line))
}

/// The spaces before a line.
pub fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const PAGE: &str = "- document https://a.example \"A\"\n  - form [ref=e1]\n    - textbox \"Name\" [ref=e2]\n    \
                        - button \"Send\" [ref=e3]\n  - text: \"[ref=e1]\"";

    #[test]
    fn parts_of_a_page() {
        assert_eq!(
            within(PAGE, "e1").unwrap(),
            "- form [ref=e1]\n  - textbox \"Name\" [ref=e2]\n  - button \"Send\" [ref=e3]"
        );
        assert_eq!(within(PAGE, "e9"), None);
        // Text of the page cannot name an element.
        let lying = "- button \"[ref=e2]\" [ref=e1]\n- button \"Send\" [ref=e2]";
        assert_eq!(within(lying, "e2").unwrap(), "- button \"Send\" [ref=e2]");
        assert_eq!(levels(PAGE, 2).lines().count(), 3);
        let lines =
            "- main [ref=e1]:\n  - text: \"one\"\n    \"two\"\n  - list [ref=e2]:\n    - text: \"three\"";
        assert_eq!(levels(lines, 2).lines().count(), 4);
        // A line is told with those around it and the elements that it is in.
        let (count, lines) = find(PAGE, &SearchPattern::Text("send".into())).unwrap();
        assert_eq!((count, lines.join("\n").as_str()), (1, PAGE));
        let expression =
            |pattern: &str| SearchPattern::Expression { pattern: pattern.into(), any_case: false };
        assert_eq!(find(PAGE, &expression("^ *- (form|button)")).unwrap().0, 2);
        assert!(find(PAGE, &expression("(")).is_err());
        assert!(find(PAGE, &expression("((a{1000}){1000}){1000}")).is_err());
        let rows = |from: u32| {
            (from..from + 6).map(|row| format!("\n    - row \"{row}\" [ref=e{row}]")).collect::<String>()
        };
        let page = format!(
            "- document https://a.example \"A\"\n  - list:{}\n  - table:{}\n  - text: \"end\"",
            rows(10),
            rows(20)
        );
        assert_eq!(
            find(&page, &SearchPattern::Text("\"21\"".into())).unwrap().1.join("\n"),
            "- document https://a.example \"A\"\n  - list:\n    ...\n    - row \"15\" [ref=e15]\n  - table:\n    - row \"20\" \
             [ref=e20]\n    - row \"21\" [ref=e21]\n    - row \"22\" [ref=e22]\n    - row \"23\" [ref=e23]\n    - row \"24\" [ref=e24]"
        );
        // An address is told with its line and is not searched.
        let links = "- link \"Kettle\" [ref=e1] /url \"/offers/kettle\"\n- image [unseen] \"A tin\" [ref=e2]";
        for (words, count) in [("offers", 0), ("/url", 0), ("KETTLE", 1), ("a tin", 1)] {
            assert_eq!(find(links, &SearchPattern::Text(words.into())).unwrap().0, count, "{words}");
        }
        assert_eq!(find(links, &expression("offers")).unwrap().0, 0);
        assert_eq!(find(links, &expression("Kettle")).unwrap().1.join("\n"), links);
        assert_eq!(cut("ab\ncd\nef", 5), ("ab\ncd", "ef"));
        assert_eq!(cut("ab\ncd\nef", 1), ("ab", "cd\nef"));
        assert_eq!(cut("abcdef", 3), ("abcdef", ""));
    }
}
