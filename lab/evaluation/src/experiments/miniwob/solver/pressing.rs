//! Buttons, links, dialogs, single elements.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View, wait};
use crate::agent::Action;

/// The roles by which pages name their widgets. A text area has the role of a box of one line.
const WIDGETS: [(&str, &str); 5] = [
    ("radio", "radio"),
    ("checkbox", "checkbox"),
    ("textarea", "textbox"),
    ("text", "textbox"),
    ("button", "button"),
];

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if task.starts("click on the numbers in ascending") {
        return ascending(view, memory);
    }
    if task.starts("click button") {
        return sequence(task, view).map(Turn::Last);
    }
    let first = task.first();
    let clicked = if task.starts("click on the link") {
        view.named(&["link", "generic"], first)
    } else if task.starts("close the dialog") {
        view.named(&["button"], "close").or_else(|| view.named(&["button"], first))
    } else if let Some(tab) = task.sentence.strip_prefix("Click on ").filter(|rest| rest.starts_with("Tab")) {
        view.named(&["tab", "link"], tab.trim_end_matches('.'))
    } else if task.starts("click the button in the dialog") {
        // The cross of a dialog is the picture of a button that closes it.
        let name = if first == "x" { "close" } else { first };
        view.named(&["button"], name)
    } else if task.starts("click on a \"") {
        let role = WIDGETS.iter().find(|(name, _)| *name == first).map(|(_, role)| *role)?;
        view.all(&[role]).first().copied()
    } else if task.starts("click on the \"") || task.starts("click the \"") && !task.has("then") {
        view.named(&["button"], first)
    } else if task.starts("click the cancel button") {
        view.named(&["button"], "cancel")
    } else if task.starts("click the button") {
        view.all(&["button"]).first().copied()
    } else if task.starts("focus into the") {
        let number = task.ordinals().first().copied().unwrap_or(1);
        view.boxes().get(number.saturating_sub(1)).copied()
    } else if task.starts("find and pick the card with the greatest") {
        return greatest(view, memory);
    } else if task.starts("mark the numbers below as odd or even") {
        return odd_or_even(view);
    } else {
        None
    };
    clicked.map(|item| Turn::Last(vec![item.click()]))
}

/// Buttons one after the other, with a pause where the sentence wants one.
fn sequence(task: &Task, view: &View) -> Option<Vec<Action>> {
    let mut steps = Vec::new();
    for part in task.sentence.trim_end_matches('.').split(", ") {
        let part = part.trim_start_matches("then ");
        if let Some(pause) = part.strip_prefix("wait ") {
            let seconds: u32 = pause.split_whitespace().next()?.parse().ok()?;
            steps.push(wait(seconds.saturating_mul(1000)));
            continue;
        }
        let (_, name) = part.split_once("button ")?;
        steps.push(view.named(&["button"], name)?.click());
    }
    Some(steps)
}

/// The number 1, and then what the page puts in the place of the others, in the order of the page.
fn ascending(view: &View, memory: &mut Memory) -> Option<Turn> {
    if memory.looks == 0 {
        return view.named(&["generic"], "1").map(|item| Turn::Look(vec![item.click()]));
    }
    let icons = view.items.iter().filter(|item| item.is_icon());
    Some(Turn::Last(icons.map(Item::click).collect()))
}

/// The card with the greatest number. A card whose number is not drawn is turned first, one after the other.
fn greatest(view: &View, memory: &mut Memory) -> Option<Turn> {
    let cards = view.items.iter().filter(|item| item.is_element() && item.role != "button");
    let mut hidden = Vec::new();
    for card in cards {
        match card.label.trim().parse::<i64>() {
            Ok(value) => memory.see(&card.element_ref, value),
            Err(_) if card.is_icon() => hidden.push(card),
            Err(_) => {}
        }
    }
    if let Some(card) = hidden.into_iter().find(|card| !memory.values.contains_key(&card.element_ref)) {
        return Some(Turn::Look(vec![card.click()]));
    }
    let (best, _) = memory.values.iter().max_by_key(|(_, value)| **value)?;
    let card = view.items.iter().find(|item| item.element_ref == *best)?;
    Some(Turn::Last(vec![card.click(), view.submit()?.click()]))
}

fn odd_or_even(view: &View) -> Option<Turn> {
    let (mut odd, mut steps) = (None, Vec::new());
    let mut number: Option<i64> = None;
    for item in &view.items {
        if item.says("odd") {
            odd = Some(item);
        } else if let Ok(value) = item.label.trim().parse() {
            number = Some(value);
        } else if item.says("even")
            && let (Some(odd), Some(value)) = (odd, number.take())
        {
            steps.push(if value % 2 == 0 { item.click() } else { odd.click() });
        }
    }
    steps.push(view.submit()?.click());
    Some(Turn::Last(steps))
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};

    const PAGE: &str = "- generic [ref=e1]: lorem\n- generic [ref=e2]: Ipsum\n- button \"Ok\" [ref=e3]\n\
        - button \"Submit\" [ref=e4]\n- textbox [ref=e5]\n- textbox [ref=e6]\n- checkbox \"abc\" [ref=e7]\n\
        - checkbox \"d e\" [ref=e8]\n- combobox [ref=e9]\n- button \"Close\" [ref=e10]\n- tab \"Tab #2\" [ref=e11]\n";

    #[test]
    fn each_kind_of_sentence_is_understood() {
        for (sentence, steps) in [
            ("Click on the \"Ok\" button.", "click e3"),
            ("Click the button in the dialog box labeled \"Ok\".", "click e3"),
            ("Click the button in the dialog box labeled \"x\".", "click e10"),
            ("Click on the link \"Ipsum\".", "click e2"),
            ("Click on Tab #2.", "click e11"),
            ("Click the button.", "click e3"),
            ("Click button OK.", "click e3"),
            ("Click button OK, wait 2 seconds, then click button Close.", "click e3; wait 2000; click e10"),
            ("Close the dialog box by clicking the \"x\".", "click e10"),
            ("Click on a \"checkbox\" widget.", "click e7"),
            ("Focus into the 2nd input textbox.", "click e6"),
            ("Stand on your head.", ""),
            ("Click on the \"Absent\" button.", ""),
        ] {
            assert_eq!(done(sentence, PAGE), steps, "{sentence}");
        }
    }

    #[test]
    fn numbers_decide_between_elements() {
        let page = "- button \"Odd\" [ref=e1]\n- text: \"-1\"\n- button \"Even\" [ref=e2]\n- button \"Odd\" [ref=e3]\n\
            - text: \"8\"\n- button \"Even\" [ref=e4]\n- button \"Submit\" [ref=e5]\n";
        let sentence = "Mark the numbers below as odd or even and press submit when done.";
        assert_eq!(done(sentence, page), "click e1; click e4; click e5");
        let page = "- generic [ref=e1]: \"6\"\n- generic [ref=e2]: \"19\"\n- button \"Submit\" [ref=e3]\n";
        let sentence = "Find and pick the card with the greatest number, then press submit.";
        assert_eq!(done(sentence, page), "click e2; click e3");
        // The numbers of these are not drawn until they are clicked.
        let mut memory = Memory::default();
        for (first, second, steps) in [
            ("", "", "click e1 ..."),
            (": \"19\"", "", "click e2 ..."),
            ("", ": \"6\"", "click e1; click e3"),
        ] {
            let page = format!(
                "- generic [ref=e1]{first}\n- generic [ref=e2]{second}\n- button \"Submit\" [ref=e3]\n"
            );
            assert_eq!(done_with(&mut memory, sentence, &page), steps);
        }
    }
}
