//! Tasks whose goal is behind tabs, menus, folders or further pages.

use super::task::{Memory, Task, Turn};
use super::view::{Item, View, wait};

/// The time in which a page opens a section, in milliseconds.
const OPENING: u32 = 600;

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if task.starts("switch between the tabs") || task.starts("expand the sections") {
        return behind_tabs(task, view, memory);
    }
    if task.starts("expand the section below") {
        return section(view, memory);
    }
    if task.starts("navigate through the file tree") {
        return folder(task, view, memory);
    }
    if task.starts("click the \"menu\" button") {
        return menu(task, view, memory);
    }
    if task.starts("select ") && task.sentence.contains('>') {
        return path(task, view, memory);
    }
    if task.has("in the contact book") {
        return contact(task, view);
    }
    if task.starts("use the textbox to enter") && task.has("search result") {
        return result(task, view, memory);
    }
    if task.starts("expand the pie menu") {
        return pie(task, view, memory);
    }
    None
}

/// A link that one of the tabs or sections shows.
fn behind_tabs(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if let Some(link) = view.named(&["link", "generic"], task.first()) {
        return Some(Turn::Last(vec![link.click()]));
    }
    let tabs = view.all(&["tab", "link"]);
    let next = tabs.into_iter().find(|tab| !tab.label.is_empty() && memory.note(&tab.label))?;
    Some(Turn::Look(vec![next.click(), wait(OPENING)]))
}

fn section(view: &View, memory: &mut Memory) -> Option<Turn> {
    if memory.looks == 0 {
        let section = view.all(&["tab"]).into_iter().find(|tab| !tab.label.is_empty())?;
        return Some(Turn::Look(vec![section.click(), wait(OPENING)]));
    }
    Some(Turn::Last(vec![view.named(&["button"], "submit")?.click()]))
}

/// A file or folder: it is there, or in a folder that is not open yet.
fn folder(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if let Some(found) = view.labelled(task.first()) {
        return Some(Turn::Last(vec![found.click()]));
    }
    // A folder is an item with a name of its own after the icon that opens it.
    let mut entries = view.items.windows(2).filter_map(|pair| match pair {
        [before, name] => {
            let in_folder = before.is_one_of(&["listitem", "generic"]) && before.label.is_empty();
            (in_folder && name.is_element() && !name.label.is_empty()).then_some(name)
        }
        _ => None,
    });
    let next = entries.find(|name| memory.note(&name.label))?;
    Some(Turn::Look(vec![next.click(), wait(OPENING)]))
}

/// An item of a menu behind a button, at the first level or the second.
fn menu(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if memory.looks == 0 {
        return Some(Turn::Look(vec![view.named(&["button"], "menu")?.click()]));
    }
    let wanted = task.quoted.get(1)?;
    if let Some(item) = view.labelled(wanted) {
        return Some(Turn::Last(vec![item.click()]));
    }
    let next = view.all(&["menuitem"]).into_iter().find(|item| memory.note(&item.label))?;
    Some(Turn::Look(vec![next.hover(), wait(OPENING)]))
}

/// A path through menus: `Select A>B>C`.
fn path(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let parts: Vec<&str> = task.sentence.strip_prefix("Select ")?.split('>').collect();
    let item = view.named(&["menuitem"], parts.get(memory.looks)?)?;
    if memory.looks + 1 == parts.len() {
        return Some(Turn::Last(vec![item.click()]));
    }
    Some(Turn::Look(vec![item.hover(), wait(OPENING)]))
}

/// A person's phone number, e-mail or address, on the page that shows this person.
fn contact(task: &Task, view: &View) -> Option<Turn> {
    let name = task.between("Find ", " in the contact book")?;
    if view.named(&["heading"], name).is_some() {
        let what = task.lower.trim_end_matches('.').rsplit(' ').next()?;
        let what = if what == "number" { "phone" } else { what };
        let after = view.after(|item| item.label.to_lowercase().starts_with(&format!("{what}:")));
        let value = after.iter().find(|item| item.is_element())?;
        return Some(Turn::Last(vec![value.click()]));
    }
    Some(Turn::Look(vec![view.labelled(">")?.click()]))
}

/// A search, and the result of that number, on this page of results or a later one.
fn result(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if memory.looks == 0 {
        let search = view.submit()?;
        return Some(Turn::Look(vec![view.boxes().first()?.put(task.first()), search.click()]));
    }
    let wanted = task.ordinals().first()?.checked_sub(1)?;
    // A link to another page of results is a number or a bracket.
    let is_result = |item: &&Item| item.label.chars().any(char::is_alphabetic);
    let results: Vec<&Item> = view.all(&["link"]).into_iter().filter(is_result).collect();
    if let Some(found) = wanted.checked_sub(memory.count).and_then(|at| results.get(at)) {
        return Some(Turn::Last(vec![found.click()]));
    }
    memory.count += results.len();
    Some(Turn::Look(vec![view.labelled(">")?.click()]))
}

/// A piece of a round menu, behind its plus sign.
fn pie(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if memory.looks == 0 {
        return Some(Turn::Look(vec![view.labelled("+")?.click(), wait(2 * OPENING)]));
    }
    Some(Turn::Last(vec![view.labelled(task.first())?.click()]))
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};

    #[test]
    fn each_tab_is_opened_once_until_one_shows_the_link() {
        let sentence = "Switch between the tabs to find and click on the link \"vel\".";
        let page =
            "- tab [ref=e1]:\n  - link \"Tab #1\" [ref=e2]\n- tab [ref=e3]:\n  - link \"Tab #2\" [ref=e4]\n";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "click e2; wait 600 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e4; wait 600 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "");
        assert_eq!(done(sentence, &format!("{page}- generic [ref=e5]: vel\n")), "click e5");
    }

    #[test]
    fn a_folder_is_opened_where_the_name_is_not_there() {
        let sentence = "Navigate through the file tree. Find and click on the folder or file named \"Ann\".";
        let page = "- list [ref=e1]:\n  - listitem [ref=e2]: Joye\n  - listitem [ref=e3]:\n    - generic [ref=e4]\n    - generic [ref=e5]: Bob\n";
        assert_eq!(done(sentence, page), "click e5; wait 600 ...");
        assert_eq!(done(sentence, &format!("{page}    - listitem [ref=e6]: Ann\n")), "click e6");
    }

    #[test]
    fn a_path_leads_through_menus() {
        let page = "- menuitem \"A\" [ref=e1]\n- menuitem \"B\" [ref=e2]\n";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, "Select A>B", page), "hover e1; wait 600 ...");
        assert_eq!(done_with(&mut memory, "Select A>B", page), "click e2");
    }

    #[test]
    fn results_are_counted_over_pages() {
        let sentence = "Use the textbox to enter \"Ann\" and press \"Search\", then find and click the 3rd search result.";
        let page = "- textbox [ref=e1]\n- button \"Search\" [ref=e2]\n";
        let results = "- link \"Ann\" [ref=e3]\n- link \"Bob\" [ref=e4]\n- link \"2\" [ref=e5]\n- link \">\" [ref=e6]\n";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "type e1 Ann; click e2 ...");
        assert_eq!(done_with(&mut memory, sentence, results), "click e6 ...");
        assert_eq!(done_with(&mut memory, sentence, results), "click e3");
    }

    #[test]
    fn a_contact_is_found_on_its_own_page() {
        let sentence = "Find Ann in the contact book and click on their phone number.";
        let page = |name: &str| {
            format!(
                "- heading \"{name}\" [ref=e1]\n- text: \"Phone:\"\n- generic [ref=e2]: 373-1\n- link \">\" [ref=e3]\n"
            )
        };
        assert_eq!(done(sentence, &page("Bob")), "click e3 ...");
        assert_eq!(done(sentence, &page("Ann")), "click e2");
    }
}
