//! Parts of a page as it was rendered for the agent: an element with its contents, the first levels, lines that match.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use crate::call::SearchPattern;
use crate::target::ref_of;

/// The memory limit of an agent's regular expression, since each step of the search may visit all of its states.
const LARGEST_EXPRESSION: usize = 1 << 18;

/// The most lines in the answer of a search.
const MOST_FOUND: usize = 50;

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

/// The lines that match a pattern.
///
/// # Errors
/// The problem of a regular expression.
pub fn find(text: &str, pattern: &SearchPattern) -> Result<Vec<String>, String> {
    let holds: Box<dyn Fn(&str) -> bool> = match pattern {
        SearchPattern::Text(words) => {
            let words = words.to_lowercase();
            Box::new(move |line| line.to_lowercase().contains(&words))
        }
        SearchPattern::Expression { pattern, any_case } => {
            let regex = Regex::builder()
                .configure(Regex::config().nfa_size_limit(Some(LARGEST_EXPRESSION)))
                .syntax(syntax::Config::new().case_insensitive(*any_case))
                .build(pattern)
                .map_err(|_| "it cannot be read, or is too large".to_owned())?;
            Box::new(move |line| regex.is_match(line))
        }
    };
    Ok(text.lines().filter(|line| holds(line)).take(MOST_FOUND).map(|line| line.trim().to_owned()).collect())
}

fn indent(line: &str) -> usize {
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
        assert_eq!(find(PAGE, &SearchPattern::Text("send".into())).unwrap(), ["- button \"Send\" [ref=e3]"]);
        let expression =
            |pattern: &str| SearchPattern::Expression { pattern: pattern.into(), any_case: false };
        assert_eq!(find(PAGE, &expression("^ *- (form|button)")).unwrap().len(), 2);
        assert!(find(PAGE, &expression("(")).is_err());
        assert!(find(PAGE, &expression("((a{1000}){1000}){1000}")).is_err());
    }
}
