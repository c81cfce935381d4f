//! Sliders, spinners, and what keys do.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View, press};
use crate::agent::Action;

/// The most presses of an arrow before the next look.
const MOST_PRESSES: u64 = 25;
/// The presses that bring the caret of a long text to its end.
const PAGES: usize = 30;

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if task.starts("set the sliders") {
        return slid(&task.numbers(), None, view, memory);
    }
    if task.starts("select ") && task.has("with the slider") {
        let numbers = task.numbers();
        let tick = task.ordinals().first().and_then(|number| number.checked_sub(1));
        return slid(numbers.get(..1)?, tick, view, memory);
    }
    if task.starts("select ") && task.has("with the spinner") {
        let number = task.numbers().first()?.to_string();
        return Some(Turn::Last(vec![view.boxes().first()?.put(&number), view.submit()?.click()]));
    }
    if task.starts("scroll the textarea to the") {
        let key = if task.has("to the bottom") { "PageDown" } else { "PageUp" };
        let mut steps = vec![view.boxes().first()?.click()];
        steps.extend(std::iter::repeat_n(press(key), PAGES));
        steps.push(view.submit()?.click());
        return Some(Turn::Last(steps));
    }
    None
}

/// Brings sliders to values one after the other: Tab reaches the next, arrows move it, and the page tells its value. Then ticks a
/// box, where one is wanted, and sends.
fn slid(wanted: &[i64], tick: Option<usize>, view: &View, memory: &mut Memory) -> Option<Turn> {
    let shown = view.items.iter().filter(|item| item.is_one_of(&["text", "generic"]));
    let shown: Vec<i64> = shown.filter_map(|item| item.label.trim().parse().ok()).collect();
    while let (Some(wanted), Some(shown)) = (wanted.get(memory.count), shown.get(memory.count)) {
        let mut steps = Vec::new();
        if memory.note(&format!("slider {}", memory.count)) {
            steps.push(press("Tab"));
        }
        let distance = wanted.abs_diff(*shown);
        if distance > 0 {
            let key = if wanted > shown { "ArrowRight" } else { "ArrowLeft" };
            let presses = usize::try_from(distance.min(MOST_PRESSES)).ok()?;
            steps.extend(std::iter::repeat_n(press(key), presses));
        } else {
            memory.count += 1;
        }
        if !steps.is_empty() {
            return Some(Turn::Look(steps));
        }
    }
    let ticks: Option<Action> =
        tick.and_then(|at| view.all(&["checkbox"]).get(at).map(|item: &&Item| item.tick()));
    Some(Turn::Last(ticks.into_iter().chain([view.submit()?.click()]).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};

    #[test]
    fn sliders_are_moved_one_after_the_other() {
        let page = |first: i64, second: i64| {
            format!(
                "- generic [ref=e1]: \"{first}\"\n- generic [ref=e2]: \"{second}\"\n- button \"Submit\" [ref=e3]\n"
            )
        };
        let sentence = "Set the sliders to the combination [5,9] and submit.";
        let mut memory = Memory::default();
        assert_eq!(
            done_with(&mut memory, sentence, &page(3, 10)),
            "press Tab; press ArrowRight; press ArrowRight ..."
        );
        assert_eq!(done_with(&mut memory, sentence, &page(5, 10)), "press Tab; press ArrowLeft ...");
        assert_eq!(done_with(&mut memory, sentence, &page(5, 9)), "click e3");
    }

    #[test]
    fn a_box_is_ticked_after_the_slider() {
        let page = "- text: \"-5\"\n- checkbox [ref=e1]\n- checkbox [ref=e2]\n- button \"Submit\" [ref=e3]\n";
        let sentence = "Select -5 with the slider, click the 2nd checkbox, then hit Submit.";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "press Tab ...");
        assert_eq!(done_with(&mut memory, sentence, page), "check e2 true; click e3");
    }

    #[test]
    fn a_spinner_takes_its_number() {
        let page = "- spinbutton \"Select a value:\" [ref=e1]: \"0\"\n- button \"Submit\" [ref=e2]\n";
        assert_eq!(done("Select -5 with the spinner and hit Submit.", page), "type e1 -5; click e2");
    }
}
