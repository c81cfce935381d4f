//! Dates as people write them, and dates of birth, which the words before them announce.

use crate::detect::context::{after, begins};
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// The names of the months, from January on, in the languages of the detectors. A word that begins with one of them,
/// and has at most a few more letters, is that month.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän", "ene", "gen", "sty"],
    &["feb", "fév", "fev", "lut"],
    &["mar", "mär", "maa", "mrt"],
    &["apr", "avr", "abr", "kwi"],
    &["may", "mai", "mag", "mei", "maj", "may"],
    &["jun", "juin", "giu", "cze"],
    &["jul", "juil", "lug", "lip"],
    &["aug", "aoû", "aou", "ago", "sie"],
    &["sep", "set", "wrz"],
    &["oct", "okt", "ott", "out", "paź"],
    &["nov", "lis"],
    &["dec", "dez", "déc", "dic", "gru"],
];

/// Returns whether the month has this day.
pub(crate) fn is_day(month: u64, day: u64) -> bool {
    let longest = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=longest).contains(&day)
}

/// A date that a text begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    /// The length in bytes.
    pub(crate) length: usize,
    /// The year; two digits if no more are written.
    pub(crate) year: u64,
    /// The month and the day; `None` for a date such as 3/4/1980, in which they cannot be told apart.
    pub(crate) month_day: Option<(u64, u64)>,
}

/// One part of a date.
#[derive(Debug, Clone, Copy)]
enum DatePart {
    Number { value: u64, digits: usize },
    Month(u64),
}

/// Returns the date that `text` begins with.
pub(crate) fn parse(text: &str) -> Option<Date> {
    let (first, rest) = part(text)?;
    let first_sign = separator(rest)?;
    let (second, rest) = part(rest.get(first_sign.len()..)?)?;
    let second_sign = separator(rest)?;
    let (third, rest) = part(rest.get(second_sign.len()..)?)?;
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let even = first_sign.trim() == second_sign.trim();
    let length = text.len() - rest.len();
    let (year, month_day) = match (first, second, third) {
        (
            DatePart::Number { value: year, digits: 4 },
            DatePart::Number { value: month, .. },
            DatePart::Number { value: day, .. },
        ) if even && is_day(month, day) => (year, Some((month, day))),
        (
            DatePart::Number { value: a, digits: 1 | 2 },
            DatePart::Number { value: b, digits: 1 | 2 },
            DatePart::Number { value: year, digits: 2 | 4 },
        ) if even => {
            // With dots the day comes first everywhere; with slashes and dashes it depends on the country.
            let day_first = is_day(b, a).then_some((b, a));
            let month_first = (is_day(a, b) && first_sign.trim() != ".").then_some((a, b));
            let known = match (day_first, month_first) {
                (Some(one), Some(other)) if one != other => None,
                (one, other) => Some(one.or(other)?),
            };
            (year, known)
        }
        (
            DatePart::Number { value: day, digits: 1 | 2 },
            DatePart::Month(month),
            DatePart::Number { value: year, digits: 4 },
        )
        | (
            DatePart::Month(month),
            DatePart::Number { value: day, digits: 1 | 2 },
            DatePart::Number { value: year, digits: 4 },
        ) if is_day(month, day) => (year, Some((month, day))),
        _ => return None,
    };
    (year < 100 || (1850..=2099).contains(&year)).then_some(Date { length, year, month_day })
}

fn part(text: &str) -> Option<(DatePart, &str)> {
    let digits = text.bytes().take(5).take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let value = text.get(..digits)?.bytes().fold(0, |value, byte| value * 10 + u64::from(byte - b'0'));
        let rest = text.get(digits..)?;
        let ordinal = ["st", "nd", "rd", "th", "er", "º", "ª"].iter().find_map(|end| rest.strip_prefix(end));
        return (digits <= 4).then_some((DatePart::Number { value, digits }, ordinal.unwrap_or(rest)));
    }
    let length: usize = text.chars().take(11).take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    let word = text.get(..length)?.to_lowercase();
    let month = MONTHS.iter().position(|names| names.iter().any(|name| word.starts_with(name)))?;
    Some((DatePart::Month(month as u64 + 1), text.get(length..)?))
}

/// Returns the separator between two parts of a date.
fn separator(rest: &str) -> Option<&str> {
    let length = rest.bytes().take(4).take_while(|byte| b" .-/,".contains(byte)).count();
    let behind = rest.get(length..)?;
    let of = [("of ", 3), ("de ", 3), ("del ", 4)].iter().find(|(word, _)| behind.starts_with(word));
    let length = length + of.map_or(0, |(_, length)| *length);
    (length > 0).then(|| rest.get(..length)).flatten()
}

/// Words before a date of birth.
pub(crate) const BIRTH: &str = r"(?i:born|birth|d\.?o\.?b|geboren|geburt|geb\.|n[ée]e? le|naissance|naci|nacimiento|nat[oa] il|nascita|nasci|geboorte|urodz|f[öo]dd|f[öo]delse|født|fødsel)";

/// The largest distance in bytes from the word to the date.
const REACH: usize = 32;

/// Returns the date of birth that the matched word announces.
pub(crate) fn find_birth(text: &str, word: Range<usize>) -> Option<Finding> {
    if !begins(text, word.start) && !text.get(word.clone())?.eq_ignore_ascii_case("birth") {
        return None;
    }
    let window = after(text, word.end, REACH);
    if ["time", "place", "stone", "sort", "plaats"].iter().any(|rest| window.starts_with(rest)) {
        return None;
    }
    // The date is the first text with a digit, or the month before it: no other number or sentence is between.
    let digit = window.find(|c: char| c.is_ascii_digit())?;
    let lead = window.get(..digit)?;
    if lead.contains(". ") && !lead.ends_with(". ") || lead.contains(['!', '?']) {
        return None;
    }
    let month = lead.trim_end_matches(' ').rfind(' ').map(|at| at + 1);
    let starts = [Some(digit), month];
    starts.into_iter().flatten().find_map(|start| {
        let rest = text.get(word.end + start..)?;
        let end = text.floor_char_boundary(word.end + start + 40);
        let date = parse(text.get(word.end + start..end.max(word.end + start)).unwrap_or(rest))?;
        let span = word.end + start..word.end + start + date.length;
        Some(Finding::new(span, SensitiveKind::BirthDate, 85))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_several_languages() {
        for text in [
            "1980-03-12",
            "12.03.1980",
            "12/3/1980",
            "3/13/1980",
            "12. März 1980",
            "12 March 1980",
            "March 12, 1980",
            "12th of March 1980",
            "12 mars 1980",
            "12 de marzo de 1980",
            "12 marzo 1980",
            "12 maart 1980",
            "12 marca 1980",
            "12-03-80",
        ] {
            let date = parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(date.length, text.len(), "{text}");
            assert_eq!(date.year % 100, 80, "{text}");
            if let Some((month, day)) = date.month_day {
                assert!(month == 3 && (day == 12 || day == 13), "{text}");
            }
        }
        assert_eq!(parse("3/4/1980").unwrap().month_day, None);
        assert_eq!(parse("3.4.1980").unwrap().month_day, Some((4, 3)));
    }

    #[test]
    fn other_texts_are_not_dates() {
        for text in [
            "12.13.1980",
            "32.01.1980",
            "30/30/1980",
            "31 June 1980",
            "1980",
            "12.03.",
            "1.2.3",
            "12.03.19801",
            "10.15.7.1",
            "12 apples 1980",
            "",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
