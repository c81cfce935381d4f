//! Birth dates, whole and in parts.
//!
//! A birth date is stored as `1984-03-09`, or with its day first and points between, as `9.3.1984`. Other orders of three numbers mean
//! different days in different countries.

use browser_signals::Control;
use browser_signals::matching::Asked;

use super::choice::{equal, option};
use super::date::hint;
use super::{Shaped, Target, Underivable};

/// A day of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Day {
    year: u32,
    month: u32,
    day: u32,
}

/// The order of the parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    YearMonthDay,
    MonthDayYear,
    DayMonthYear,
}

impl Day {
    fn read(value: &str) -> Option<Day> {
        let parts = |separator: char| -> Option<[u32; 3]> {
            let numbers: Vec<u32> =
                value.trim().split(separator).map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
            numbers.try_into().ok()
        };
        let day = match (parts('-'), parts('.')) {
            (Some([year, month, day]), _) | (_, Some([day, month, year])) => Day { year, month, day },
            _ => return None,
        };
        let is_date =
            (1800..=2200).contains(&day.year) && (1..=12).contains(&day.month) && (1..=31).contains(&day.day);
        is_date.then_some(day)
    }

    fn written(self, order: Order, separator: &str) -> String {
        let Day { year, month, day } = self;
        match order {
            Order::YearMonthDay => format!("{year:04}{separator}{month:02}{separator}{day:02}"),
            Order::MonthDayYear => format!("{month:02}{separator}{day:02}{separator}{year:04}"),
            Order::DayMonthYear => format!("{day:02}{separator}{month:02}{separator}{year:04}"),
        }
    }
}

/// The order and the separator that a control shows, such as `DD/MM/YYYY` or `TT.MM.JJJJ`.
fn shown(control: &Control) -> Option<(Order, char)> {
    let hint = hint(control);
    let first = |marks: &[&str]| marks.iter().filter_map(|mark| hint.find(mark)).min();
    let year = first(&["yyyy", "jjjj", "aaaa", "åååå", "rrrr", "гггг"])?;
    let month = first(&["mm", "мм"])?;
    let day = first(&["dd", "tt", "jj/", "jj.", "jj-", "gg", "дд"])?;
    let order = match (year < month, month < day) {
        (true, true) => Order::YearMonthDay,
        (false, true) if day < year => Order::MonthDayYear,
        (false, false) if month < year => Order::DayMonthYear,
        _ => return None,
    };
    let from = year.min(month).min(day);
    let separator = hint.get(from..)?.chars().find(|c| !c.is_alphanumeric())?;
    matches!(separator, '/' | '.' | '-').then_some((order, separator))
}

/// A birth date in one control. Where nothing shows the order, the day is a guess, which is an error.
pub(super) fn whole(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let date = Day::read(value).ok_or(Underivable)?;
    if target.control.input_type == "date" {
        return Ok(Shaped::text(date.written(Order::YearMonthDay, "-")));
    }
    let (order, separator) = shown(target.control).ok_or(Underivable)?;
    Ok(Shaped::text(date.written(order, &separator.to_string())))
}

/// The day, the month or the year of a birth date.
pub(super) fn part(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let date = Day::read(value).ok_or(Underivable)?;
    let (number, digits) = match target.asked {
        Asked::BirthYear => (date.year, 4),
        Asked::BirthMonth => (date.month, 2),
        _ => (date.day, 2),
    };
    if !target.is_select() {
        return Ok(Shaped::text(format!("{number:0digits$}")));
    }
    let options = &target.control.words.options;
    // The months stand in their order behind a prompt, whatever their names and values are.
    if target.asked == Asked::BirthMonth && matches!(options.len(), 12 | 13) {
        let at = usize::try_from(number).map_err(|_| Underivable)? + options.len() - 13;
        return options.get(at).map(option).ok_or(Underivable);
    }
    Ok(equal(target.control, &[&format!("{number:0digits$}"), &number.to_string()]))
}

/// A birth date in the orders of several countries, by which it is searched for. Pages leave out the zeros, too.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let Some(date) = Day::read(value) else { return Vec::new() };
    let Day { year, month, day } = date;
    let orders = [
        (Order::YearMonthDay, "-"),
        (Order::MonthDayYear, "/"),
        (Order::DayMonthYear, "/"),
        (Order::DayMonthYear, "."),
    ];
    let mut spellings: Vec<String> =
        orders.into_iter().map(|(order, separator)| date.written(order, separator)).collect();
    spellings.extend([
        format!("{day}.{month}.{year}"),
        format!("{day}/{month}/{year}"),
        format!("{month}/{day}/{year}"),
        format!("{year}-{month}-{day}"),
    ]);
    spellings.sort_unstable();
    spellings.dedup();
    spellings.retain(|spelling| spelling != value);
    spellings
}
