//! Things that the mouse drags onto others.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View};

/// The columns of the grid.
const COLUMNS: usize = 3;

/// The places of a list, counted from 0, by the words of the sentence.
const PLACES: [(&str, usize); 9] = [
    ("to the top left.", 0),
    ("to the top center.", 1),
    ("to the top right.", 2),
    ("to the center left.", 3),
    ("to the center.", 4),
    ("to the center right.", 5),
    ("to the bottom left.", 6),
    ("to the bottom center.", 7),
    ("to the bottom right.", 8),
];

pub(super) fn turn(task: &Task, view: &View, _: &mut Memory) -> Option<Turn> {
    if task.starts("sort the numbers in increasing order") {
        return sorted(view);
    }
    if task.starts("drag the smaller box") {
        let steps = vec![view.labelled("s")?.drag(view.labelled("L")?), view.submit()?.click()];
        return Some(Turn::Last(steps));
    }
    if task.starts("drag ") {
        return moved(task, view);
    }
    None
}

/// Drags the named entry onto the one whose place it is to take.
fn moved(task: &Task, view: &View) -> Option<Turn> {
    let entries = entries(view);
    let name = task.sentence.split_whitespace().nth(1)?;
    let at = entries.iter().position(|(_, words)| *words == name)?;
    let step = if entries.len() == COLUMNS * COLUMNS { COLUMNS } else { 1 };
    let to = PLACES.iter().find(|(words, _)| task.has(words)).map(|(_, place)| *place);
    let to = to.or_else(|| task.ordinals().first()?.checked_sub(1)).or_else(|| match () {
        () if task.has("to the top.") => Some(0),
        () if task.has("to the bottom.") => entries.len().checked_sub(1),
        () if task.has("up by one") => at.checked_sub(step),
        () if task.has("down by one") => Some(at + step),
        () if task.has("left by one") => at.checked_sub(1),
        () if task.has("right by one") => Some(at + 1),
        () => None,
    });
    Some(Turn::Last(vec![entries.get(at)?.0.drag(entries.get(to?)?.0)]))
}

/// Drags the lowest number of the rest onto the place before the rest, one look after the other.
fn sorted(view: &View) -> Option<Turn> {
    let entries = entries(view);
    let numbers: Option<Vec<i64>> = entries.iter().map(|(_, words)| words.parse().ok()).collect();
    let numbers = numbers?;
    let mut wanted = numbers.clone();
    wanted.sort_unstable();
    let Some(place) = numbers.iter().zip(&wanted).position(|(is, should)| is != should) else {
        return Some(Turn::Last(vec![view.submit()?.click()]));
    };
    let lowest = wanted.get(place)?;
    let at = place + numbers.get(place..)?.iter().position(|number| number == lowest)?;
    Some(Turn::Look(vec![entries.get(at)?.0.drag(entries.get(place)?.0)]))
}

/// The entries of the page's list, each with its words, which may be in an element of their own.
fn entries(view: &View) -> Vec<(&Item, &str)> {
    let is_entry = |item: &Item| item.is_element() && item.is_one_of(&["listitem"]);
    let with_words =
        view.items.iter().enumerate().filter(|(_, item)| is_entry(item)).filter_map(|(at, item)| {
            let rest = view.items.get(at..)?.iter();
            let words = rest.map(|part| part.label.trim()).find(|words| !words.is_empty())?;
            Some((item, words))
        });
    with_words.collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::done;

    const LIST: &str = "- list [ref=e1]:\n  - listitem [ref=e2]: Ann\n  - listitem [ref=e3]:\n    - generic [ref=e4]: Bob\n\
        \x20 - listitem [ref=e5]: Cid\n- button \"Submit\" [ref=e6]\n";

    #[test]
    fn an_entry_is_dragged_to_its_place() {
        for (sentence, steps) in [
            ("Drag Bob to the top.", "drag e3 e2"),
            ("Drag Bob to the bottom.", "drag e3 e5"),
            ("Drag Ann to the 3rd position.", "drag e2 e5"),
            ("Drag Bob up by one position.", "drag e3 e2"),
            ("Drag Bob down by one position.", "drag e3 e5"),
        ] {
            assert_eq!(done(sentence, LIST), steps, "{sentence}");
        }
        let grid = ('a'..='i').zip(2..).map(|(name, at)| format!("- listitem [ref=e{at}]: {name}\n"));
        let grid: String = grid.collect();
        for (sentence, steps) in [
            ("Drag b to the bottom right.", "drag e3 e10"),
            ("Drag b down by one.", "drag e3 e6"),
            ("Drag e left by one.", "drag e6 e5"),
            ("Drag a to the center.", "drag e2 e6"),
        ] {
            assert_eq!(done(sentence, &grid), steps, "{sentence}");
        }
    }

    #[test]
    fn numbers_are_sorted_one_after_the_other() {
        let page = |numbers: [&str; 3]| {
            let lines =
                numbers.iter().zip(1..).map(|(number, at)| format!("- listitem [ref=e{at}]: \"{number}\"\n"));
            lines.collect::<String>() + "- button \"Submit\" [ref=e9]\n"
        };
        let sentence =
            "Sort the numbers in increasing order, starting with the lowest number at the top of the list.";
        assert_eq!(done(sentence, &page(["3", "7", "-5"])), "drag e3 e1 ...");
        assert_eq!(done(sentence, &page(["-5", "3", "7"])), "click e9");
    }

    #[test]
    fn a_box_is_dragged_into_another() {
        let page = "- generic [ref=e1]: s\n- generic [ref=e2]: L\n- button \"Submit\" [ref=e3]\n";
        let sentence = "Drag the smaller box so that it is completely inside the larger box.";
        assert_eq!(done(sentence, page), "drag e1 e2; click e3");
    }
}
