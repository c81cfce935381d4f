//! A page as the solver looks at it: its lines without the task's own sentence and without the benchmark's score.

use browser_signals::{ElementRef, TypeManner, Verb};

use crate::agent::Action;
use crate::agent::observation::{Node, Page};

/// The lines that the benchmark shows beside each task.
const SCORE: [&str; 4] = ["Last reward", "Last 10 average", "Time left", "Episodes done"];
/// The cover that the benchmark lays over a page whose episode is over.
const OVER: &str = "START";

/// The roles of boxes for text.
const BOXES: [&str; 3] = ["textbox", "searchbox", "spinbutton"];

/// One line of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Its role, such as `textbox`.
    pub(super) role: String,
    /// Its name, or its text where it has none.
    pub(super) label: String,
    /// Its text, without the name.
    pub(super) text: String,
    /// Its ref; empty if it has none.
    pub(super) element_ref: String,
    depth: usize,
    /// True if nothing is in it.
    is_leaf: bool,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct View {
    /// The lines, in order.
    pub(super) items: Vec<Item>,
    /// True if the page says that the episode is over.
    pub(super) over: bool,
}

impl View {
    /// Looks at a page whose task is `sentence`.
    pub(super) fn new(page: &Page, sentence: &str) -> View {
        let wanted = plain(sentence);
        let mut view = View::default();
        let nodes: Vec<&Node> =
            page.nodes.iter().filter(|node| !node.role.starts_with('/') && node.role != "document").collect();
        for (at, node) in nodes.iter().enumerate() {
            let item = Item::of(node, nodes.get(at + 1).copied());
            let said = plain(&item.label);
            view.over |= said == OVER;
            if (said.is_empty() || said != wanted) && !SCORE.iter().any(|line| said.starts_with(line)) {
                view.items.push(item);
            }
        }
        view
    }

    /// The element of one of these roles with this label, ignoring case.
    pub(super) fn named(&self, roles: &[&str], label: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.is_element() && item.is_one_of(roles) && item.says(label))
    }

    /// The element with this label; one with a role of its own before one without.
    pub(super) fn labelled(&self, label: &str) -> Option<&Item> {
        let says = |item: &&Item| item.is_element() && item.says(label);
        self.items
            .iter()
            .filter(says)
            .find(|item| item.role != "generic")
            .or_else(|| self.items.iter().find(says))
    }

    /// The elements of one of these roles.
    pub(super) fn all(&self, roles: &[&str]) -> Vec<&Item> {
        self.items.iter().filter(|item| item.is_element() && item.is_one_of(roles)).collect()
    }

    /// The boxes for text.
    pub(super) fn boxes(&self) -> Vec<&Item> {
        self.all(&BOXES)
    }

    /// The button that sends a form.
    pub(super) fn submit(&self) -> Option<&Item> {
        ["submit", "login", "search"].iter().find_map(|name| self.named(&["button", "generic"], name))
    }

    /// The lines after the first one for which `is_it` holds.
    pub(super) fn after(&self, is_it: impl Fn(&Item) -> bool) -> &[Item] {
        let at = self.items.iter().position(is_it).map(|at| at + 1);
        at.and_then(|at| self.items.get(at..)).unwrap_or_default()
    }

    /// The element that a click on this line reaches: its own, or the nearest one around it.
    pub(super) fn around(&self, wanted: &Item) -> Option<&Item> {
        let at = self.items.iter().position(|item| item == wanted)?;
        let mut depth = wanted.depth + 1;
        for item in self.items.get(..=at)?.iter().rev() {
            if item.depth < depth {
                depth = item.depth;
                if item.is_element() {
                    return Some(item);
                }
            }
        }
        None
    }
}

impl Item {
    /// The item of a line, before the line `next`.
    fn of(node: &Node, next: Option<&Node>) -> Item {
        // What stands after a box is what it holds.
        let is_box = BOXES.contains(&node.role.as_str());
        Item {
            role: node.role.clone(),
            label: if node.name.is_empty() && !is_box { node.text.clone() } else { node.name.clone() },
            text: node.text.clone(),
            element_ref: node.element_ref.clone(),
            depth: node.depth,
            is_leaf: next.is_none_or(|next| next.depth <= node.depth),
        }
    }

    /// Returns true if a verb can name it.
    pub(super) fn is_element(&self) -> bool {
        !self.element_ref.is_empty()
    }

    /// Returns true if this is its label, ignoring case and the space around.
    pub(super) fn says(&self, label: &str) -> bool {
        plain(&self.label).to_lowercase() == plain(label).to_lowercase()
    }

    /// Returns true if it has one of these roles.
    pub(super) fn is_one_of(&self, roles: &[&str]) -> bool {
        roles.contains(&self.role.as_str())
    }

    /// Returns true if it is a box for text.
    pub(super) fn is_box(&self) -> bool {
        self.is_element() && self.is_one_of(&BOXES)
    }

    /// Returns true for an element that nothing describes: an icon.
    pub(super) fn is_icon(&self) -> bool {
        self.is_element()
            && self.is_leaf
            && self.label.is_empty()
            && self.is_one_of(&["generic", "image", "img"])
    }

    fn target(&self) -> ElementRef {
        ElementRef(self.element_ref.clone())
    }

    /// A click on it.
    pub(super) fn click(&self) -> Action {
        Action::Verb(Verb::click(self.target()))
    }

    /// The mouse over it.
    pub(super) fn hover(&self) -> Action {
        Action::Verb(Verb::Hover { target: self.target() })
    }

    /// The mouse drags it onto another one.
    pub(super) fn drag(&self, onto: &Item) -> Action {
        Action::Verb(Verb::Drag { target: self.target(), onto: onto.target() })
    }

    /// This text in it.
    pub(super) fn put(&self, text: &str) -> Action {
        Action::Verb(Verb::typed(self.target(), text))
    }

    /// This text in it, by a key for each character.
    pub(super) fn put_by_keys(&self, text: &str) -> Action {
        Action::Verb(Verb::Type {
            target: self.target(),
            text: text.to_owned(),
            manner: TypeManner::KeyByKey,
        })
    }

    /// A tick in it.
    pub(super) fn tick(&self) -> Action {
        Action::Verb(Verb::Check { target: self.target(), on: true })
    }

    /// These options of it and no others.
    pub(super) fn select(&self, options: Vec<String>) -> Action {
        Action::Verb(Verb::Select { target: self.target(), options })
    }
}

/// A key where the focus is.
pub(super) fn press(key: &str) -> Action {
    Action::Verb(Verb::Press { key: key.to_owned() })
}

/// Time for the page.
pub(super) fn wait(milliseconds: u32) -> Action {
    Action::Verb(Verb::Wait { milliseconds })
}

/// A text with single spaces.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_and_the_score_are_no_part_of_the_page() {
        let page = "- generic [ref=e1]:\n  - generic [ref=e2]: Click the button.\n  - button \"Click the button.\" [ref=e3]\n\
            \x20 - text: \"Time left: 3\"\n  - generic [ref=e4] [cursor=pointer]:\n    - text: a\n    - generic [ref=e5]\n";
        let view = View::new(&Page::parse(page), "Click  the button.");
        let refs: Vec<&str> = view.items.iter().map(|item| item.element_ref.as_str()).collect();
        assert_eq!(refs, ["e1", "e4", "", "e5"]);
        assert!(!view.over);
        let inner = view.items.get(2).unwrap();
        assert_eq!(view.around(inner).map(|item| item.element_ref.as_str()), Some("e4"));
        assert!(View::new(&Page::parse("- generic [ref=e1]: START"), "x").over);
    }
}
