//! Dates and flights.

use super::reckoning::best_offer;
use super::task::{Memory, Task, Turn};
use super::view::{Item, View, wait};
use crate::agent::Action;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The time in which a page opens a calendar or a list of completions, in milliseconds.
const OPENING: u32 = 600;

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Day {
    year: i64,
    /// From 1 on.
    month: i64,
    day: i64,
}

pub(super) fn turn(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    if task.starts("enter ") && task.has(" as the date") {
        let Day { year, month, day } = day_in(&task.sentence)?;
        return sent(view, &format!("{year:04}-{month:02}-{day:02}"));
    }
    if task.starts("enter ") && task.has(" as the time") {
        return sent(view, &time(task.between("Enter ", " as the time")?)?);
    }
    if task.starts("select ") && task.has(" as the date") {
        let day = day_in(&task.sentence)?;
        return match memory.count {
            0 => opened(view.boxes().first().copied()?, memory),
            1 => picked(day, view, memory),
            _ => Some(Turn::Last(vec![view.submit()?.click()])),
        };
    }
    if task.starts("book the ") && task.has("flight from:") {
        return flight(task, view, memory);
    }
    None
}

fn sent(view: &View, text: &str) -> Option<Turn> {
    Some(Turn::Last(vec![view.boxes().first()?.put(text), view.submit()?.click()]))
}

/// The day of a text such as `on 09/10/2012`.
fn day_in(text: &str) -> Option<Day> {
    let word = text.split_whitespace().find(|word| word.matches('/').count() == 2)?;
    let mut parts = word.trim_end_matches('.').split('/').map(|part| part.parse::<i64>().ok());
    let (month, day, year) = (parts.next()??, parts.next()??, parts.next()??);
    Some(Day { year, month, day })
}

/// `8:22 AM` as a control for times wants it.
fn time(text: &str) -> Option<String> {
    let (clock, half) = text.split_once(char::is_whitespace)?;
    let (hours, minutes) = clock.split_once(':')?;
    let hours = hours.parse::<u32>().ok()? % 12 + if half.trim() == "PM" { 12 } else { 0 };
    Some(format!("{hours:02}:{minutes}"))
}

/// Opens a calendar.
fn opened(field: &Item, memory: &mut Memory) -> Option<Turn> {
    memory.count += 1;
    Some(Turn::Look(vec![field.click(), wait(OPENING)]))
}

/// Turns the calendar's pages, or takes the day.
fn picked(day: Day, view: &View, memory: &mut Memory) -> Option<Turn> {
    let (year, month) = shown_month(view)?;
    let wanted = (day.year, day.month);
    let step = if (year, month) == wanted {
        memory.count += 1;
        view.named(&["link", "cell", "gridcell", "button", "generic"], &day.day.to_string())?
    } else {
        view.labelled(if (year, month) > wanted { "prev" } else { "next" })?
    };
    Some(Turn::Look(vec![step.click(), wait(OPENING / 2)]))
}

/// The year and month that a calendar shows.
fn shown_month(view: &View) -> Option<(i64, i64)> {
    let said: Vec<&str> = view.items.iter().flat_map(|item| item.label.split_whitespace()).collect();
    let month = |word: &str| MONTHS.iter().position(|month| *month == word);
    said.windows(2).find_map(|pair| match pair {
        [word, year] => Some((year.parse().ok()?, i64::try_from(month(word)?).ok()? + 1)),
        _ => None,
    })
}

/// A flight: from, to, the day, and the best of the offers.
fn flight(task: &Task, view: &View, memory: &mut Memory) -> Option<Turn> {
    let from = task.between("from: ", " to: ")?;
    let to = task.between(" to: ", " on ")?;
    let boxes = view.boxes();
    match memory.looks {
        0 => return Some(Turn::Look(vec![boxes.first()?.put_by_keys(from), wait(2 * OPENING)])),
        1 => return completion(view, from),
        2 => return Some(Turn::Look(vec![boxes.get(1)?.put_by_keys(to), wait(2 * OPENING)])),
        3 => return completion(view, to),
        _ => {}
    }
    match memory.count {
        0 => opened(boxes.get(2)?, memory),
        1 => picked(day_in(&task.sentence)?, view, memory),
        2 => {
            memory.count += 1;
            Some(Turn::Look(vec![view.submit()?.click()]))
        }
        _ => Some(Turn::Last(vec![best_offer(task, view)?.click()])),
    }
}

/// The place of a list of completions that has this city, or this code in brackets.
fn completion(view: &View, place: &str) -> Option<Turn> {
    let fits = |item: &&Item| {
        let said = item.label.as_str();
        let rest = said.strip_prefix(place).map(str::trim_start);
        item.is_element()
            && !item.is_box()
            && (said.contains(&format!("({place})"))
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('(')))
    };
    let found: Action = view.items.iter().find(fits)?.click();
    Some(Turn::Look(vec![found]))
}

#[cfg(test)]
mod tests {
    use super::super::task::Memory;
    use super::super::testing::{done, done_with};
    use super::*;

    #[test]
    fn controls_for_dates_and_times_get_their_form() {
        let page = "- textbox [ref=e1]\n- button \"Submit\" [ref=e2]\n";
        assert_eq!(
            done("Enter 09/10/2012 as the date and hit submit.", page),
            "type e1 2012-09-10; click e2"
        );
        assert_eq!(done("Enter 6:09 PM as the time and press submit.", page), "type e1 18:09; click e2");
        assert_eq!(
            [time("12:05 AM"), time("12:05 PM")],
            [Some("00:05".to_owned()), Some("12:05".to_owned())]
        );
    }

    #[test]
    fn a_calendar_is_turned_to_the_month() {
        let sentence = "Select 11/05/2016 as the date and hit submit.";
        let page = "- textbox [ref=e1]\n- button \"Submit\" [ref=e2]\n";
        let calendar = |month: &str| {
            format!("{page}- generic [ref=e3]: Prev\n- text: {month} 2016\n- link \"5\" [ref=e4]\n")
        };
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "click e1; wait 600 ...");
        assert_eq!(done_with(&mut memory, sentence, &calendar("December")), "click e3; wait 300 ...");
        assert_eq!(done_with(&mut memory, sentence, &calendar("November")), "click e4; wait 300 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e2");
    }

    #[test]
    fn a_flight_is_booked_step_by_step() {
        let sentence = "Book the cheapest one-way flight from: SHV to: Elko, NV on 12/27/2016.";
        let page = "- textbox \"From:\" [ref=e1]\n- textbox \"To:\" [ref=e2]\n- textbox [ref=e3]\n- button \"Search\" [ref=e4]\n";
        let mut memory = Memory::default();
        assert_eq!(done_with(&mut memory, sentence, page), "type e1 SHV; wait 1200 ...");
        let list =
            format!("{page}- generic [ref=e5]: Shreveport, LA (SHV)\n- generic [ref=e6]: Elko, NV (EKO)\n");
        assert_eq!(done_with(&mut memory, sentence, &list), "click e5 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "type e2 Elko, NV; wait 1200 ...");
        assert_eq!(done_with(&mut memory, sentence, &list), "click e6 ...");
        assert_eq!(done_with(&mut memory, sentence, page), "click e3; wait 600 ...");
    }
}
