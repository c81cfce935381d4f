//! Text in boxes.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View, plain, wait};
use crate::agent::Action;

/// The words of a sentence before a value, and the words of the label of its box.
const FILM: [(&str, &str, &str); 3] =
    [("Search for ", " movies", "genre"), ("directed by ", " from", "director"), ("from year ", ".", "year")];

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let steps = if task.starts("enter the value") {
        return None;
    } else if task.starts("enter the username") || task.starts("enter the password") {
        return entered(task, view, memory);
    } else if task.starts("enter \"") {
        let steps = into_first(view, task.first());
        return steps.map(Turn::Last);
    } else if task.starts("type \"") {
        let upper = task.has("upper case");
        let text = if upper { task.first().to_uppercase() } else { task.first().to_lowercase() };
        into_first(view, &text)
    } else if task.starts("type the text below") {
        letters(view)
    } else if task.starts("search for ") && task.has(" movies") {
        film(task, view)
    } else if task.starts("find the ") && task.has("word in the paragraph") {
        word(task, view)
    } else if task.starts("find the last word in the text area") {
        last_word(view)
    } else if task.starts("copy the text") {
        copied(task, view)
    } else if task.starts("scroll to the bottom of the textarea, enter the name") {
        return signed(task, view, memory);
    } else {
        None
    };
    steps.map(Turn::Last)
}

/// The text in the first box, and the form sent.
fn into_first(view: &View, text: &str) -> Option<Vec<Action>> {
    Some(vec![view.boxes().first()?.put(text), view.submit()?.click()])
}

/// Types each value into a box of its own, or one value into all of them. A box in the way is answered with no.
fn entered(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if let Some(no) = view.named(&["button"], "cancel") {
        return Some(Turn::Look(vec![no.click()]));
    }
    let boxes = view.boxes();
    let button = view.submit().or_else(|| view.named(&["button"], "ok"))?;
    // The guard replaces the text in brackets in the prompt, and fills it in when it is granted.
    let kept = |value: &str| value.starts_with('[');
    let mut steps = Vec::new();
    if task.quoted.iter().any(|value| kept(value)) && memory.note("requested") {
        let context = serde_json::json!({"origin": task.origin, "purpose": "login"});
        let request = format!("REQ.login fields=[\"password\"] ctx={context}\nREQ.end");
        return Some(Turn::Look(vec![Action::Request(request)]));
    }
    for (number, field) in boxes.iter().enumerate() {
        let value = task.quoted.get(number).or(task.quoted.last())?;
        if !kept(value) && memory.note(&format!("box {number}")) {
            steps.push(field.put(value));
            // A page may put a question over the form at any box.
            return Some(Turn::Look(steps));
        }
    }
    // A question over the form may have kept a text out of its box.
    if memory.note("once more") {
        memory.notes.retain(|note| !note.starts_with("box "));
        return Some(Turn::Look(vec![wait(1)]));
    }
    Some(Turn::Last(vec![button.click()]))
}

/// The letters that the page shows one by one.
fn letters(view: &View) -> Option<Vec<Action>> {
    let before = view.items.iter().take_while(|item| !item.is_box());
    let text: String = before.flat_map(|item| item.label.chars()).filter(|c| !c.is_whitespace()).collect();
    into_first(view, &text)
}

fn film(task: &Task, view: &View) -> Option<Vec<Action>> {
    let mut steps = Vec::new();
    let mut label = "";
    for item in &view.items {
        if item.is_box() {
            let said = if item.label.is_empty() { label.to_lowercase() } else { item.label.to_lowercase() };
            let (before, after, _) = FILM.iter().find(|(_, _, word)| said.contains(word))?;
            steps.push(item.put(task.between(before, after)?));
        } else if !item.label.is_empty() {
            label = &item.label;
        }
    }
    steps.push(view.submit()?.click());
    Some(steps)
}

/// Each piece of text before the first box.
fn paragraph(view: &View) -> String {
    let before = view.items.iter().take_while(|item| !item.is_box());
    plain(&before.map(|item| item.label.as_str()).collect::<Vec<_>>().join(" "))
}

fn bare_word(word: &str) -> &str {
    word.trim_matches(|c: char| c.is_ascii_punctuation())
}

fn word(task: &Task, view: &View) -> Option<Vec<Action>> {
    let number = task.ordinals().first()?.checked_sub(1)?;
    let paragraph = paragraph(view);
    into_first(view, bare_word(paragraph.split(' ').nth(number)?))
}

/// The last word of a text area, which is the box with the longest text.
fn last_word(view: &View) -> Option<Vec<Action>> {
    let boxes = view.boxes();
    let area = boxes.iter().find(|item| item.text.contains(' '))?;
    let last = bare_word(area.text.split_whitespace().last()?).to_owned();
    let field = boxes.iter().find(|item| item.element_ref != area.element_ref)?;
    Some(vec![field.put(&last), view.submit()?.click()])
}

/// The text of one box in the last one.
fn copied(task: &Task, view: &View) -> Option<Vec<Action>> {
    let boxes = view.boxes();
    let number = task.ordinals().first().copied().unwrap_or(1);
    let text = boxes.get(number.checked_sub(1)?).map(|item| item.text.as_str())?;
    // The guard does not tell what a control holds.
    if text.is_empty() || matches!(text, "filled" | "empty") {
        return None;
    }
    Some(vec![boxes.last()?.put(text), view.submit()?.click()])
}

/// A text to the end of which the reader has to scroll before the form opens.
fn signed(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let boxes = view.boxes();
    if memory.looks == 0 {
        let mut steps = vec![boxes.first()?.click()];
        steps.extend(std::iter::repeat_n(super::view::press("PageDown"), 30));
        return Some(Turn::Look(steps));
    }
    let button: &Item = view.named(&["button"], task.quoted.get(1)?)?;
    Some(Turn::Last(vec![boxes.last()?.put(task.first()), button.click()]))
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};

    const FORM: &str = "- textbox [ref=e5]\n- button \"Submit\" [ref=e4]\n";

    #[test]
    fn a_text_goes_into_its_box() {
        for (sentence, steps) in [
            ("Enter \"Bob\" into the text field and press Submit.", "type e5 Bob; click e4"),
            (
                "Type \"bob\" in all upper case letters in the text input and press Submit.",
                "type e5 BOB; click e4",
            ),
            (
                "Type \"BOB\" in all lower case letters in the text input and press Submit.",
                "type e5 bob; click e4",
            ),
        ] {
            assert_eq!(done(sentence, FORM), steps, "{sentence}");
        }
        let letters = "- generic [ref=e1]: I\n- generic [ref=e2]: U\n";
        let sentence = "Type the text below into the text field and press Submit.";
        assert_eq!(done(sentence, &format!("{letters}{FORM}")), "type e5 IU; click e4");
        let sentence = "Find the 3rd word in the paragraph, type that into the textbox and press \"Submit\".";
        let page = format!("- paragraph [ref=e1]: Lacus id odio, velit.\n{FORM}");
        assert_eq!(done(sentence, &page), "type e5 odio; click e4");
    }

    #[test]
    fn a_login_is_entered_box_by_box() {
        let page = "- textbox [ref=e1]\n- textbox [ref=e2]\n- button \"Login\" [ref=e3]\n";
        let sentence =
            "Enter the username \"ann\" and the password \"x1\" into the text fields and press login.";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "type e1 ann ...");
        let question = format!("{page}- button \"OK\" [ref=e4]\n- button \"Cancel\" [ref=e5]\n");
        assert_eq!(done_with(&mut memory, sentence, &question), "click e5 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "type e2 x1 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "wait 1 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "type e1 ann ...");
        assert_eq!(done_with(&mut memory, sentence, page), "type e2 x1 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e3");
    }

    #[test]
    fn a_kept_password_is_requested() {
        let page = "- textbox [ref=e1]\n- textbox [ref=e2]\n- button \"Submit\" [ref=e3]\n";
        let sentence = "Enter the password \"[login:task]\" into both text fields and press submit.";
        let mut memory = Memory::default();
        let request = "REQ.login fields=[\"password\"] ctx={\"origin\":\"https://miniwob.test\",\"purpose\":\"login\"} ...";
        assert_eq!(done_with(&mut memory, sentence, page), request);
        assert_eq!(done_with(&mut memory, sentence, page), "wait 1 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e3");
    }

    #[test]
    fn a_film_is_searched_by_the_labels() {
        let page = "- text: Year\n- textbox [ref=e1]\n- text: Director Name\n- textbox [ref=e2]\n- text: Genre\n\
            - textbox [ref=e3]\n- generic [ref=e4]: Submit\n";
        let sentence = "Search for drama movies directed by Holloway from year 2011.";
        assert_eq!(done(sentence, page), "type e1 2011; type e2 Holloway; type e3 drama; click e4");
    }

    #[test]
    fn the_text_of_a_box_is_copied_where_the_page_tells_it() {
        let sentence =
            "Copy the text from the 2nd text area below and paste it into the text input, then press Submit.";
        let page = "- textbox [ref=e1]: a b\n- textbox [ref=e2]: c d\n- textbox [ref=e3]\n- button \"Submit\" [ref=e4]\n";
        assert_eq!(done(sentence, page), "type e3 c d; click e4");
        assert_eq!(done(sentence, &page.replace("c d", "filled")), "");
    }
}
