//! A scripted agent that understands the tasks' sentences. It uses only plain verbs; if the guard replaced a value by a
//! handle, it requests the value as any agent would.

use std::collections::VecDeque;

use browser_signals::{ElementRef, Verb};

use crate::agent::observation::{Node, Page, is_box};
use crate::agent::{Action, Agent};

/// The time that a page has for drawing itself, in milliseconds.
const SETTLE: u32 = 150;

/// An agent for one task.
pub struct Solver {
    url: String,
    sentence: String,
    stage: u8,
    pending: VecDeque<Action>,
}

impl Solver {
    /// An agent that follows `prompt`: an address, a colon, and the task's own sentence.
    pub fn new(prompt: &str) -> Solver {
        let (url, sentence) = prompt.split_once(".html: ").unwrap_or((prompt, ""));
        let url = url.split_whitespace().last().unwrap_or_default();
        Solver {
            url: format!("{url}.html"),
            sentence: sentence.to_owned(),
            stage: 0,
            pending: VecDeque::new(),
        }
    }

    fn origin(&self) -> String {
        url::Url::parse(&self.url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
    }
}

impl Agent for Solver {
    fn name(&self) -> &str {
        "solver"
    }

    fn next(&mut self, observation: &str) -> Action {
        self.stage = self.stage.saturating_add(1);
        match self.stage {
            1 => return Action::Verb(Verb::Open { url: self.url.clone() }),
            2 => return Action::Verb(Verb::Wait { milliseconds: SETTLE }),
            3 => return Action::Verb(Verb::Read),
            4 => self.pending = steps(&self.sentence, &Page::parse(observation), &self.origin()).into(),
            _ => {}
        }
        self.pending.pop_front().unwrap_or(Action::Done)
    }
}

/// The actions for a sentence on a page; `None` if it is not understood or the page lacks an element that it names.
fn steps(sentence: &str, page: &Page, origin: &str) -> Vec<Action> {
    let quoted: Vec<&str> = sentence.split('"').skip(1).step_by(2).collect();
    let lower = sentence.to_lowercase();
    let first = quoted.first().copied().unwrap_or_default();
    let found = if lower.starts_with("click on the link") {
        named(page, &["link", "generic"], first).map(|node| vec![click(node)])
    } else if lower.starts_with("close the dialog") {
        named(page, &["button"], "close")
            .or_else(|| named(page, &["button"], first))
            .map(|node| vec![click(node)])
    } else if let Some(tab) = sentence.strip_prefix("Click on ").filter(|rest| rest.starts_with("Tab")) {
        named(page, &["tab", "link"], tab.trim_end_matches('.')).map(|node| vec![click(node)])
    } else if lower.starts_with("click the button in the dialog") || lower.starts_with("click on the \"") {
        named(page, &["button"], first).map(|node| vec![click(node)])
    } else if let Some(button) = sentence.strip_prefix("Click button ") {
        named(page, &["button"], button.trim_end_matches('.')).map(|node| vec![click(node)])
    } else if lower.starts_with("click the button") {
        page.nodes.iter().find(|node| node.role == "button").map(|node| vec![click(node)])
    } else if let Some(list) = sentence.strip_prefix("Select ") {
        chosen(list, page)
    } else if lower.starts_with("enter") {
        entered(&quoted, page, origin)
    } else {
        None
    };
    found.unwrap_or_default()
}

/// Chooses the items of a list: in a combo box, or by ticking.
fn chosen(list: &str, page: &Page) -> Option<Vec<Action>> {
    let submit = click(named(page, &["button"], "submit")?);
    if let Some((option, _)) = list.split_once(" from the list") {
        let list = page.nodes.iter().find(|node| matches!(node.role.as_str(), "combobox" | "listbox"))?;
        return Some(vec![Action::Verb(Verb::select(target(list), option)), submit]);
    }
    let (names, _) = list.split_once(" and click")?;
    let mut steps = Vec::new();
    for name in names.split(", ").filter(|name| *name != "nothing") {
        let node = named(page, &["radio", "checkbox"], name)?;
        steps.push(Action::Verb(Verb::Check { target: target(node), on: true }));
    }
    steps.push(submit);
    Some(steps)
}

/// Types each value into a box of its own, or one value into all of them.
fn entered(values: &[&str], page: &Page, origin: &str) -> Option<Vec<Action>> {
    let boxes: Vec<&Node> = page.nodes.iter().filter(|node| is_box(node)).collect();
    let button = ["submit", "login"].iter().find_map(|name| named(page, &["button"], name))?;
    let mut steps = Vec::new();
    // The guard replaces the text in brackets in the prompt, and fills it in when it is granted.
    if values.iter().any(|value| value.starts_with('[')) {
        let context = serde_json::json!({"origin": origin, "purpose": "login"});
        steps.push(Action::Request(format!("REQ.login fields=[\"password\"] ctx={context}\nREQ.end")));
    }
    for (number, field) in boxes.iter().enumerate() {
        let value = values.get(number).or(values.last())?;
        if !value.starts_with('[') {
            steps.push(Action::Verb(Verb::typed(target(field), *value)));
        }
    }
    steps.push(click(button));
    Some(steps)
}

/// The element of one of the roles with this name or text, ignoring case.
fn named<'a>(page: &'a Page, roles: &[&str], name: &str) -> Option<&'a Node> {
    let name = name.trim().to_lowercase();
    let says = |node: &&Node| {
        let said = if node.name.is_empty() { &node.text } else { &node.name };
        !node.element_ref.is_empty()
            && roles.contains(&node.role.as_str())
            && said.trim().to_lowercase() == name
    };
    page.nodes.iter().find(says)
}

fn target(node: &Node) -> ElementRef {
    ElementRef(node.element_ref.clone())
}

fn click(node: &Node) -> Action {
    Action::Verb(Verb::click(target(node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "- generic [ref=e1]: lorem\n- generic [ref=e2]: Ipsum\n- button \"Ok\" [ref=e3]\n\
        - button \"Submit\" [ref=e4]\n- textbox [ref=e5]\n- textbox [ref=e6]\n- checkbox \"abc\" [ref=e7]\n\
        - checkbox \"d e\" [ref=e8]\n- combobox [ref=e9]\n- button \"Close\" [ref=e10]\n- tab \"Tab #2\" [ref=e11]\n";

    fn done(sentence: &str) -> String {
        let steps = steps(sentence, &Page::parse(PAGE), "https://miniwob.test");
        let words = steps.iter().map(|step| match step {
            Action::Verb(Verb::Click { target, .. }) => format!("click {}", target.0),
            Action::Verb(Verb::Type { target, text, .. }) => format!("type {} {text}", target.0),
            Action::Verb(Verb::Check { target, on }) => format!("check {} {on}", target.0),
            Action::Verb(Verb::Select { target, options }) => {
                format!("select {} {}", target.0, options.join(", "))
            }
            Action::Request(text) => text.lines().next().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        });
        words.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_kind_of_sentence_is_understood() {
        for (sentence, steps) in [
            ("Click on the \"Ok\" button.", "click e3"),
            ("Click the button in the dialog box labeled \"Ok\".", "click e3"),
            ("Click on the link \"Ipsum\".", "click e2"),
            ("Click on Tab #2.", "click e11"),
            ("Click the button.", "click e3"),
            ("Click button OK.", "click e3"),
            ("Close the dialog box by clicking the \"x\".", "click e10"),
            ("Select d e, abc and click Submit.", "check e8 true; check e7 true; click e4"),
            ("Select nothing and click Submit.", "click e4"),
            ("Select Fiji from the list and click Submit.", "select e9 Fiji; click e4"),
            ("Enter \"Bob\" into the text field and press Submit.", "type e5 Bob; type e6 Bob; click e4"),
            (
                "Enter the username \"ann\" and the password \"x1\" into the text fields and press login.",
                "type e5 ann; type e6 x1; click e4",
            ),
            ("Stand on your head.", ""),
            ("Click on the \"Absent\" button.", ""),
        ] {
            assert_eq!(done(sentence), steps, "{sentence}");
        }
        let kept = done("Enter the password \"[login:task]\" into both text fields and press submit.");
        assert_eq!(
            kept,
            "REQ.login fields=[\"password\"] ctx={\"origin\":\"https://miniwob.test\",\"purpose\":\"login\"}; click e4"
        );
    }

    #[test]
    fn it_opens_the_page_that_it_was_sent_to() {
        let mut solver = Solver::new("At https://miniwob.test/e/x/1/B/miniwob/x.html: Click the button.");
        let url = "https://miniwob.test/e/x/1/B/miniwob/x.html".to_owned();
        assert_eq!(solver.next(""), Action::Verb(Verb::Open { url }));
        assert_eq!(solver.next("ok"), Action::Verb(Verb::Wait { milliseconds: SETTLE }));
        assert_eq!(solver.next("ok"), Action::Verb(Verb::Read));
        assert_eq!(solver.next(PAGE), Action::Verb(Verb::click(ElementRef("e3".to_owned()))));
        assert_eq!(solver.next("ok"), Action::Done);
    }
}
