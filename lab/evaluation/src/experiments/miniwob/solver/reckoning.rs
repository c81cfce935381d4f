//! Numbers, tables, prices.

use super::task::{Memory, Task, Turn, numbers};
use super::view::{Item, View};
use crate::agent::Action;

pub(super) fn turn(task: &Task, view: &View, _memory: &mut Memory) -> Option<Turn> {
    let steps = if task.starts("solve for x") {
        answer(view, equation)
    } else if task.starts("solve the math problem") {
        answer(view, sum)
    } else if task.starts("enter the value of ") {
        let label = task.between("value of ", " into")?;
        let value = beside(view, label)?;
        Some(vec![view.boxes().first()?.put(value), view.submit()?.click()])
    } else if task.starts("enter the value that corresponds") {
        table(view)
    } else if task.starts("buy the ticket") {
        Some(vec![best_offer(task, view)?.click()])
    } else {
        None
    };
    steps.map(Turn::Last)
}

/// The answer to the first line that is a problem.
fn answer(view: &View, solve: fn(&str) -> Option<i64>) -> Option<Vec<Action>> {
    let answer = view.items.iter().find_map(|item| solve(&item.label))?;
    Some(vec![view.boxes().first()?.put(&answer.to_string()), view.submit()?.click()])
}

/// `2 x 4 =`
fn sum(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [first, sign, second, "="] = parts.as_slice() else { return None };
    let (first, second): (i64, i64) = (first.parse().ok()?, second.parse().ok()?);
    match *sign {
        "+" => first.checked_add(second),
        "-" => first.checked_sub(second),
        "x" => first.checked_mul(second),
        _ => None,
    }
}

/// `x + 2 = 43` or `2 - x = 43`
fn equation(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [first, sign, second, "=", result] = parts.as_slice() else { return None };
    let result: i64 = result.parse().ok()?;
    match (*first, *sign, *second) {
        ("x", "+", other) | (other, "+", "x") => result.checked_sub(other.parse().ok()?),
        ("x", "-", other) => result.checked_add(other.parse().ok()?),
        (other, "-", "x") => other.parse::<i64>().ok()?.checked_sub(result),
        _ => None,
    }
}

/// The value in the cell beside a label of a table.
fn beside<'a>(view: &'a View, label: &str) -> Option<&'a str> {
    let is_label = |item: &Item| item.is_one_of(&["cell", "rowheader", "gridcell"]) && item.says(label);
    view.after(is_label).first().map(|item| item.label.as_str())
}

/// Fills each box with what stands beside its label in the table.
fn table(view: &View) -> Option<Vec<Action>> {
    let (mut steps, mut label) = (Vec::new(), "");
    for item in &view.items {
        if item.is_box() {
            steps.push(item.put(beside(view, label)?));
        } else {
            label = item.label.trim_end_matches(':');
        }
    }
    steps.push(view.submit()?.click());
    Some(steps)
}

/// The button of the offer that the sentence wants: the cheapest, the shortest, ...
pub(super) fn best_offer<'a>(task: &Task, view: &'a View) -> Option<&'a Item> {
    let offers = offers(view);
    let best = if task.has("cheapest") {
        offers.iter().min_by_key(|offer| offer.price)
    } else if task.has("most expensive") {
        offers.iter().max_by_key(|offer| offer.price)
    } else if task.has("shortest") {
        offers.iter().min_by_key(|offer| offer.minutes)
    } else {
        offers.iter().max_by_key(|offer| offer.minutes)
    };
    best.map(|offer| offer.button)
}

/// A flight for sale.
struct Offer<'a> {
    minutes: i64,
    price: i64,
    button: &'a Item,
}

/// A duration such as `3h 43m`, in minutes.
fn duration(text: &str) -> Option<i64> {
    let (hours, minutes) = text.trim().split_once("h ")?;
    let minutes: i64 = minutes.strip_suffix('m')?.parse().ok()?;
    hours.parse::<i64>().ok()?.checked_mul(60)?.checked_add(minutes)
}

fn offers(view: &View) -> Vec<Offer<'_>> {
    let (mut offers, mut minutes) = (Vec::new(), None);
    for item in &view.items {
        minutes = duration(item.label.trim_start_matches("Duration:")).or(minutes);
        let price = item.label.split_once('$').and_then(|(_, price)| numbers(price).first().copied());
        if item.role == "button"
            && let (Some(minutes), Some(price)) = (minutes, price)
        {
            offers.push(Offer { minutes, price, button: item });
        }
    }
    offers
}

#[cfg(test)]
mod tests {
    use super::super::testing::done;
    use super::*;

    #[test]
    fn problems_are_solved() {
        assert_eq!(
            [sum("2 x 4 ="), sum("3 - 7 ="), sum("1 + 1 ="), sum("x =")],
            [Some(8), Some(-4), Some(2), None]
        );
        for (problem, x) in [("x + 2 = 43", 41), ("5 + x = 3", -2), ("x - 4 = 9", 13), ("3 - x = 60", -57)] {
            assert_eq!(equation(problem), Some(x), "{problem}");
        }
        let page = "- text: \"x + 2 = 43\"\n- text: \"x =\"\n- textbox [ref=e1]: empty\n- button \"Submit\" [ref=e2]\n";
        let sentence = "Solve for x and type your answer into the textbox. Press Submit when done.";
        assert_eq!(done(sentence, page), "type e1 41; click e2");
    }

    #[test]
    fn a_table_is_read() {
        let page = "- cell \"Color\" [ref=e1]\n- cell \"aqua\" [ref=e2]\n- cell \"Gender\" [ref=e3]\n- cell \"Male\" [ref=e4]\n\
            - text: \"Gender:\"\n- textbox [ref=e5]: empty\n- text: \"Color:\"\n- textbox [ref=e6]: empty\n- button \"Submit\" [ref=e7]\n";
        let sentence = "Enter the value that corresponds with each label into the form and submit when done.";
        assert_eq!(done(sentence, page), "type e5 Male; type e6 aqua; click e7");
        let sentence = "Enter the value of Gender into the text field and press Submit.";
        assert_eq!(done(sentence, page), "type e5 Male; click e7");
    }

    #[test]
    fn the_best_offer_is_taken() {
        let page = "- text: \"Duration:\"\n- text: 3h 43m\n- button \"Book for $1117\" [ref=e1]\n- text: \"Duration:\"\n\
            - text: 0h 7m\n- button \"Book for $280\" [ref=e2]\n- text: 17h 3m\n- button \"Book for $459\" [ref=e3]\n";
        for (wanted, found) in [
            ("shortest duration", "e2"),
            ("longest duration", "e3"),
            ("cheapest cost", "e2"),
            ("most expensive cost", "e1"),
        ] {
            assert_eq!(done(&format!("Buy the ticket with the {wanted}."), page), format!("click {found}"));
        }
    }
}
