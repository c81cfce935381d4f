//! Dates that the words before them call somebody's date of birth.

use crate::context::{after, begins};
use crate::date;
use crate::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// Words before a date of birth.
pub(crate) const BIRTH: &str = r"(?i:born|birth|d\.?o\.?b|geboren|geburt|geb\.|n[ée]e? le|naissance|naci|nacimiento|nat[oa] il|nascita|nasci|geboorte|urodz|f[öo]dd|f[öo]delse|født|fødsel)";

/// How far behind the word the date begins at most, in bytes.
const REACH: usize = 32;

/// The date that the matched word announces.
pub(crate) fn find(text: &str, word: Range<usize>) -> Option<Finding> {
    if !begins(text, word.start) && !text.get(word.clone())?.eq_ignore_ascii_case("birth") {
        return None;
    }
    let window = after(text, word.end, REACH);
    if ["time", "place", "stone", "sort", "plaats"].iter().any(|rest| window.starts_with(rest)) {
        return None;
    }
    // The date is the first thing with a digit, or a month before it: no other number or sentence comes between.
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
        let date = date::parse(text.get(word.end + start..end.max(word.end + start)).unwrap_or(rest))?;
        let span = word.end + start..word.end + start + date.length;
        Some(Finding::new(span, SensitiveKind::BirthDate, 85))
    })
}
