//! Boxes to tick, lists, completions, menus of food.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View, wait};
use crate::agent::Action;

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if task.starts("enter an item that starts with") {
        return completed(task, view, memory);
    }
    if task.starts("choose ") && task.has("from the dropdown") {
        return dropdown(task, view, memory);
    }
    if task.starts("check the ") && task.has("radio button") {
        return radio_and_box(task, view).map(Turn::Last);
    }
    if task.starts("order ") {
        return ordered(task, view).map(Turn::Last);
    }
    if task.starts("select ") && (task.has("click submit") || task.has("from the list")) {
        return chosen(task, view).map(Turn::Last);
    }
    None
}

/// Chooses the items of a list: in a combo box, or by ticking.
fn chosen(task: &Task, view: &View) -> Option<Vec<Action>> {
    let list = task.sentence.strip_prefix("Select ")?;
    let submit = view.submit()?.click();
    for place in [" from the list", " from the scroll list"] {
        if let Some((options, _)) = list.split_once(place) {
            let list = view.all(&["combobox", "listbox"]).first().copied()?;
            return Some(vec![list.select(options.split(", ").map(str::to_owned).collect()), submit]);
        }
    }
    let (names, _) = list.split_once(" and click")?;
    let names = names.split(", ").filter(|name| *name != "nothing");
    let ticks: Option<Vec<Action>> =
        names.map(|name| view.named(&["radio", "checkbox"], name).map(Item::tick)).collect();
    Some(ticks?.into_iter().chain([submit]).collect())
}

/// Types the start of an item, and takes the completion that ends as wanted.
fn completed(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let (start, end) = (task.first().to_lowercase(), task.quoted.get(1).map(|it| it.to_lowercase()));
    if memory.looks == 0 {
        let field = view.boxes().first().copied()?;
        return Some(Turn::Look(vec![field.put_by_keys(task.first()), wait(1200)]));
    }
    if memory.looks == 1 {
        let fits = |item: &&Item| {
            let said = item.label.to_lowercase();
            item.is_element()
                && !item.is_box()
                && said.starts_with(&start)
                && end.as_ref().is_none_or(|end| said.ends_with(end))
        };
        let found = view.items.iter().find(fits)?;
        return Some(Turn::Look(vec![found.click()]));
    }
    Some(Turn::Last(vec![view.submit()?.click()]))
}

/// A list that opens with a click on what it shows, and then a button.
fn dropdown(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let option = task.between("Choose ", " from the dropdown")?;
    let button = view.named(&["button"], task.first())?;
    if memory.looks > 0 {
        let found = view.named(&["listitem", "generic"], option)?;
        return Some(Turn::Last(vec![found.click(), wait(300), button.click()]));
    }
    let list = view.all(&["combobox", "listbox"]).first().copied()?;
    // The arrow beside a list that the page draws itself has no name, or is one.
    let arrow = view.after(|item| item == list).iter().find(|item| {
        item.is_element() && item.role == "generic" && item.label.chars().all(|c| !c.is_alphanumeric())
    });
    match arrow {
        Some(arrow) => Some(Turn::Look(vec![arrow.click(), wait(300)])),
        None => Some(Turn::Last(vec![list.select(vec![option.to_owned()]), button.click()])),
    }
}

/// A radio button and a text box by their numbers.
fn radio_and_box(task: &Task, view: &View) -> Option<Vec<Action>> {
    let at = |number: Option<&usize>| number.and_then(|number| number.checked_sub(1));
    let ordinals = task.ordinals();
    let (radios, boxes) = (view.all(&["radio"]), view.boxes());
    let radio = radios.get(at(ordinals.first())?)?;
    let field = boxes.get(at(ordinals.get(1))?)?;
    Some(vec![radio.tick(), field.put(task.first()), view.submit()?.click()])
}

/// Food by its name, or some food of a kind that the pictures beside it name.
fn ordered(task: &Task, view: &View) -> Option<Vec<Action>> {
    let button = view.items.iter().find(|item| item.role == "button" && item.label.starts_with("Order"))?;
    let menu = dishes(view);
    let mut steps = Vec::new();
    if let Some((_, names)) = task.sentence.split_once("each item: ") {
        for name in names.split(", ") {
            let dish = menu.iter().find(|dish| dish.name.trim() == name.trim())?;
            steps.push(dish.more?.click());
        }
    } else {
        let count = usize::try_from(*task.numbers().first()?).ok()?;
        let kind = task.lower.split_once("items that are ")?.1.trim();
        let dish = menu.iter().find(|dish| dish.kinds.contains(&kind))?;
        steps.extend(std::iter::repeat_n(dish.more?.click(), count));
    }
    steps.push(button.click());
    Some(steps)
}

/// Something to order.
struct Dish<'a> {
    name: &'a str,
    kinds: Vec<&'a str>,
    /// The sign that adds one.
    more: Option<&'a Item>,
}

fn dishes(view: &View) -> Vec<Dish<'_>> {
    let mut dishes: Vec<Dish<'_>> = Vec::new();
    for item in &view.items {
        match (item.role.as_str(), item.label.trim()) {
            ("heading" | "button", _) | (_, "" | "-" | "- +") => {}
            ("image" | "img", kind) => {
                if let Some(dish) = dishes.last_mut() {
                    dish.kinds.push(kind);
                }
            }
            (_, "+") => {
                if let Some(dish) = dishes.last_mut() {
                    dish.more = Some(item).filter(|item| item.is_element());
                }
            }
            (_, name) => dishes.push(Dish { name, kinds: Vec::new(), more: None }),
        }
    }
    dishes
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};

    #[test]
    fn items_are_ticked_or_selected() {
        let page = "- checkbox \"abc\" [ref=e7]\n- checkbox \"d e\" [ref=e8]\n- listbox [ref=e9]\n- button \"Submit\" [ref=e4]\n";
        for (sentence, steps) in [
            ("Select d e, abc and click Submit.", "check e8 true; check e7 true; click e4"),
            ("Select nothing and click Submit.", "click e4"),
            ("Select Fiji from the list and click Submit.", "select e9 Fiji; click e4"),
            ("Select Fiji, Chad from the scroll list and click Submit.", "select e9 Fiji, Chad; click e4"),
            ("Select absent and click Submit.", ""),
        ] {
            assert_eq!(done(sentence, page), steps, "{sentence}");
        }
    }

    #[test]
    fn a_completion_is_taken_from_the_list_that_opens() {
        let sentence = "Enter an item that starts with \"Egy\" and ends with \"gypt\".";
        let page = "- textbox \"Tags:\" [ref=e1]\n- button \"Submit\" [ref=e2]\n- generic [ref=e3]: Egypt\n";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "type e1 Egy; wait 1200 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e3 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e2");
    }

    #[test]
    fn food_is_ordered_by_name_and_by_kind() {
        let page = "- heading \"Desserts\" [level=2] [ref=e1]\n- text: \"Garlic bread\"\n- image \"vegan\" [ref=e2]\n\
            - generic [ref=e3]: \"-\"\n- generic [ref=e4]: \"+\"\n- text: \"Cake\"\n- image \"dairy\" [ref=e5]\n\
            - generic [ref=e6]: \"-\"\n- generic [ref=e7]: \"+\"\n- button \"Order!\" [ref=e8]\n";
        assert_eq!(done("Order one of each item: Cake, Garlic bread", page), "click e7; click e4; click e8");
        assert_eq!(done("Order 2 items that are dairy", page), "click e7; click e7; click e8");
    }
}
