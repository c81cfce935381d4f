//! Expiries, whole and in parts.

use browser_signals::Control;

use super::choice::{equal, option};
use super::{Shaped, Target, Underivable};

/// A month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Month {
    year: u32,
    month: u32,
}

impl Month {
    /// Reads `05/31`, `5/2031`, `0531` and `2031-05`.
    fn read(value: &str) -> Option<Month> {
        let groups: Vec<&str> =
            value.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
        let (month, year) = match groups.as_slice() {
            [year, month] if year.len() == 4 => (*month, *year),
            [month, year] => (*month, *year),
            [both] if both.len() == 4 || both.len() == 6 => both.split_at_checked(2)?,
            _ => return None,
        };
        let (month, short) = (month.parse().ok()?, year.len() == 2);
        let year: u32 = year.parse().ok()?;
        (1..=12).contains(&month).then_some(Month { year: if short { 2000 + year } else { year }, month })
    }
}

/// An expiry with a year of four digits.
pub(super) fn long(value: &str) -> Option<String> {
    Month::read(value).map(|Month { year, month }| format!("{month:02}/{year}"))
}

/// Returns the texts by which the page shows the format of a date, in small letters.
pub(super) fn hint(control: &Control) -> String {
    let it = &control.words;
    [&it.placeholder, &it.labels, &it.aria_label, &it.title, &it.near]
        .map(|text| text.to_lowercase())
        .join(" ")
}

/// Whether a hint names a year of four digits, in several languages.
fn has_long_year(hint: &str) -> bool {
    ["yyyy", "jjjj", "aaaa", "åååå", "rrrr", "гггг"].iter().any(|year| hint.contains(year))
}

/// An expiry in one control.
pub(super) fn expiry(value: &str, target: &Target<'_>) -> Shaped {
    let Some(Month { year, month }) = Month::read(value) else { return Shaped::AsStored };
    let short = year % 100;
    if target.control.input_type == "month" {
        return Shaped::text(format!("{year:04}-{month:02}"));
    }
    if target.is_select() {
        let spellings =
            [format!("{month:02}/{short:02}"), format!("{month:02}/{year}"), format!("{month}/{year}")];
        return equal(target.control, &spellings.each_ref().map(String::as_str));
    }
    let hint = hint(target.control);
    let separator = if hint.contains("mm-") || hint.contains("mm -") { '-' } else { '/' };
    let most = target.control.words.max_length;
    if most == Some(4) {
        Shaped::text(format!("{month:02}{short:02}"))
    } else if has_long_year(&hint) && target.takes(7) {
        Shaped::text(format!("{month:02}{separator}{year}"))
    } else if separator == '-' || !target.takes(value.chars().count()) {
        Shaped::text(format!("{month:02}{separator}{short:02}"))
    } else {
        Shaped::AsStored
    }
}

/// The month of an expiry.
pub(super) fn expiry_month(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let Month { month, .. } = Month::read(value).ok_or(Underivable)?;
    if !target.is_select() {
        return Ok(Shaped::text(format!("{month:02}")));
    }
    // The months stand in their order behind a prompt, whatever their names and values are.
    let options = &target.control.words.options;
    let first = match options.len() {
        12 => 0,
        13 => 1,
        _ => return Ok(equal(target.control, &[&format!("{month:02}"), &month.to_string()])),
    };
    let at =
        usize::try_from(month).ok().and_then(|month| options.get(first + month - 1)).ok_or(Underivable)?;
    let number = at.1.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse::<u32>().ok());
    if number.is_some_and(|number| number != month) { Err(Underivable) } else { Ok(option(at)) }
}

/// The year of an expiry.
pub(super) fn expiry_year(value: &str, target: &Target<'_>) -> Result<Shaped, Underivable> {
    let Month { year, .. } = Month::read(value).ok_or(Underivable)?;
    let (long, short) = (year.to_string(), format!("{:02}", year % 100));
    if target.is_select() {
        return Ok(equal(target.control, &[&long, &short]));
    }
    let hint = hint(target.control);
    let is_short = !target.takes(4) || (hint.contains("yy") && !has_long_year(&hint));
    Ok(Shaped::text(if is_short { short } else { long }))
}
