//! Guesses, prices that change, a terminal.

use super::task::{Memory, Task, Turn, numbers};
use super::view::{Item, View, press};
use crate::agent::Action;

/// A price moves between the look and the click; one that is lower by this is low enough.
const MARGIN: f64 = 1.0;
/// After so many looks at the same price it moves no more.
const STILL: usize = 3;

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if task.starts("guess the number") {
        return guess(view, memory);
    }
    if task.starts("generate a") {
        return generate(task, view);
    }
    if task.starts("buy ") && task.has("when the price is less than") {
        return stock(task, view, memory);
    }
    if task.starts("use the terminal") {
        return terminal(task, view, memory);
    }
    None
}

/// The middle of what is left after the page's answers.
fn guess(view: &View, memory: &mut Memory) -> Option<Turn> {
    for item in &view.items {
        if item.label.contains("lower than") || item.label.contains("higher than") {
            memory.note(&item.label);
        }
    }
    let bound = |words: &str| {
        let said = memory.notes.iter().filter(|note| note.contains(words));
        said.filter_map(|note| numbers(note).first().copied()).collect::<Vec<i64>>()
    };
    let most = bound("lower than").into_iter().map(|number| number - 1).min().unwrap_or(9);
    let least = bound("higher than").into_iter().map(|number| number + 1).max().unwrap_or(0);
    let middle = (least + most) / 2;
    Some(Turn::Look(vec![view.boxes().first()?.put(&middle.to_string()), view.submit()?.click()]))
}

/// A new number until one fits.
fn generate(task: &Task, view: &View) -> Option<Turn> {
    let shown = view.items.iter().find_map(|item| item.label.trim().parse::<i64>().ok());
    let bound = task.numbers().first().copied();
    let fits = |number: i64| match bound {
        Some(bound) if task.has("less than") => number < bound,
        Some(bound) => number > bound,
        None if task.has("odd") => number % 2 != 0,
        None => number % 2 == 0,
    };
    if shown.is_some_and(fits) {
        return Some(Turn::Last(vec![view.submit()?.click()]));
    }
    Some(Turn::Look(vec![view.named(&["button"], "generate")?.click()]))
}

fn dollars(text: &str) -> Option<f64> {
    let (_, amount) = text.split_once('$')?;
    amount.trim().trim_end_matches('.').parse().ok()
}

/// Waits until a price is low enough.
fn stock(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let limit = dollars(&task.sentence)?;
    let price = view.items.iter().find_map(|item| dollars(&item.label))?;
    let same = memory.notes.last().is_some_and(|last| *last == price.to_string());
    memory.count = if same { memory.count + 1 } else { 0 };
    memory.notes.push(price.to_string());
    if price <= limit - MARGIN || price <= limit && memory.count >= STILL {
        return Some(Turn::Last(vec![view.named(&["button"], "buy")?.click()]));
    }
    Some(Turn::Look(Vec::new()))
}

/// Lists the files and removes the one that the sentence describes.
fn terminal(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let field = view.boxes().first().copied()?;
    let entered = |command: &str| vec![field.put_by_keys(command), press("Enter")];
    if memory.looks == 0 {
        return Some(Turn::Look(entered("ls")));
    }
    let said: Vec<&str> = view.items.iter().flat_map(|item: &Item| item.label.split_whitespace()).collect();
    let listed = said.iter().skip_while(|word| **word != "ls").skip(1).take_while(|word| **word != "user$");
    let ending = task.sentence.split_whitespace().last().filter(|word| word.starts_with('.'));
    let file = listed.copied().find(|file| match ending {
        Some(ending) => file.ends_with(ending),
        None => !file.contains('.'),
    })?;
    let steps: Vec<Action> = entered(&format!("rm {file}"));
    Some(Turn::Last(steps))
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};

    #[test]
    fn a_guess_halves_what_is_left() {
        let sentence =
            "Guess the number between 0-9 and press Submit. Use the feedback below to find the right number.";
        let page =
            |said: &str| format!("- text: {said}\n- spinbutton [ref=e1]\n- button \"Submit\" [ref=e2]\n");
        let mut memory = Memory::default();
        let mut told = |said: &str| done_with(&mut memory, sentence, &page(said));
        assert_eq!(told("Waiting for your guess..."), "type e1 4; click e2 ...");
        assert_eq!(told("The number is higher than 4."), "type e1 7; click e2 ...");
        assert_eq!(told("The number is lower than 7."), "type e1 5; click e2 ...");
    }

    #[test]
    fn numbers_are_generated_until_one_fits() {
        let page = |number: &str| {
            format!(
                "- generic [ref=e1]: \"{number}\"\n- button \"Generate\" [ref=e2]\n- button \"Submit\" [ref=e3]\n"
            )
        };
        let sentence = "Generate a number greater than 3, then press submit.";
        assert_eq!(done(sentence, &page("-")), "click e2 ...");
        assert_eq!(done(sentence, &page("2")), "click e2 ...");
        assert_eq!(done(sentence, &page("4")), "click e3");
        assert_eq!(done("Generate an odd number, then press submit.", &page("5")), "click e3");
    }

    #[test]
    fn a_stock_is_bought_when_its_price_is_low() {
        let sentence = "Buy HLW stock when the price is less than $47.10.";
        let page = |price: &str| format!("- text: \"Stock price: ${price}\"\n- button \"Buy\" [ref=e2]\n");
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, &page("48.00")), " ...");
        assert_eq!(done_with(&mut memory, sentence, &page("47.00")), " ...");
        assert_eq!(done_with(&mut memory, sentence, &page("46.00")), "click e2");
    }

    #[test]
    fn a_file_is_removed_by_its_ending() {
        let sentence = "Use the terminal below to delete a file ending with the extension .gif";
        let page = "- text: user$ ls\n- text: cats.png dog.gif\n- text: user$\n- textbox [ref=e1]\n";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, "- textbox [ref=e1]\n"), "type e1 ls; press Enter ...");
        assert_eq!(done_with(&mut memory, sentence, page), "type e1 rm dog.gif; press Enter");
        let sentence = "Use the terminal below to delete a file that has no file extension.";
        let page = page.replace("cats.png", "cats");
        memory.looks = 1;
        assert_eq!(done_with(&mut memory, sentence, &page), "type e1 rm cats; press Enter");
    }
}
