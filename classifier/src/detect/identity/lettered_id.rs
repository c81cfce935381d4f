//! National identification numbers with letters.

use crate::detect::context::{before, begins, contains_word, ends};
use crate::detect::digits::DigitRun;
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// The form of a national insurance number of the United Kingdom, without the letters that are never used.
pub(crate) const INSURANCE: &str =
    r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]";
/// The form of an Italian codice fiscale.
pub(crate) const FISCAL: &str = r"(?i:[a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z])";

/// How far back the words that announce a number are searched, in bytes.
const REACH: usize = 48;
/// The check letters of Spanish numbers, by the remainder by 23.
const SPANISH: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";

fn finding(span: Range<usize>, percent: u8) -> Finding {
    Finding::new(span, SensitiveKind::NationalId, percent)
}

/// Returns the national insurance number that matched.
pub(crate) fn find_insurance(text: &str, hit: Range<usize>) -> Option<Finding> {
    let value = text.get(hit.clone())?;
    let unused = ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"].contains(&value.get(..2)?);
    if unused || !begins(text, hit.start) || !ends(text, hit.end) {
        return None;
    }
    let named =
        contains_word(before(text, hit.start, REACH), &["national insurance", "ni number", "nino", "ni no"]);
    let percent = match (named, value.contains(' ')) {
        (true, _) => 95,
        (false, true) => 85,
        (false, false) => 60,
    };
    Some(finding(hit, percent))
}

/// Returns the codice fiscale that matched, if its last letter is right (decree of 23 December 1976).
pub(crate) fn find_fiscal(text: &str, hit: Range<usize>) -> Option<Finding> {
    // The value of a character in an odd position; a digit and the letter of the same index have the same value.
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let value = text.get(hit.clone())?.to_ascii_uppercase();
    let (check, body) = value.as_bytes().split_last()?;
    let sum: u32 = body
        .iter()
        .enumerate()
        .filter_map(|(index, byte)| {
            let value = if byte.is_ascii_digit() { byte - b'0' } else { byte.checked_sub(b'A')? };
            if index % 2 == 0 { ODD.get(usize::from(value)).copied() } else { Some(u32::from(value)) }
        })
        .sum();
    let right = u32::from(*check) == u32::from(b'A') + sum % 26;
    (right && begins(text, hit.start) && ends(text, hit.end)).then(|| finding(hit, 98))
}

/// Finds Spanish DNI and NIE numbers in a run of digits: eight digits and a letter, or a letter, seven digits and a
/// letter.
pub(crate) fn find_spanish(run: &DigitRun<'_>, found: &mut Vec<Finding>) {
    let text = run.text;
    for first in 0..run.groups.len() {
        for last in first..run.groups.len().min(first + 3) {
            let Some(groups) = run.groups.get(first..=last) else { break };
            let (Some(start), Some(end)) = (groups.first(), groups.last()) else { break };
            let Some(digits) = run.digits.get(start.digits.start..end.digits.end) else { break };
            let dotted = (first + 1..=last).all(|group| run.separator_before(group) == ".");
            let plain = start.digits.start == 0 || run.separator_before(first).contains(' ');
            if !dotted || !plain || !(7..=8).contains(&digits.len()) {
                continue;
            }
            if let Some(finding) = spanish(text, start.span.start..end.span.end, digits) {
                found.push(finding);
            }
        }
    }
}

fn spanish(text: &str, span: Range<usize>, digits: &[u8]) -> Option<Finding> {
    let rest = text.get(span.end..)?;
    let letter = rest.strip_prefix(['-', ' ']).unwrap_or(rest);
    let end = text.len() - letter.len() + 1;
    let letter = letter.bytes().next()?.to_ascii_uppercase();
    let (start, lead) = if digits.len() == 8 {
        (span.start, 0)
    } else {
        let head = text.get(..span.start)?;
        let head = head.strip_suffix('-').unwrap_or(head);
        let lead = b"XYZ".iter().position(|sign| head.as_bytes().last() == Some(sign))?;
        (head.len() - 1, lead as u64)
    };
    let value = digits.iter().fold(lead, |value, digit| value * 10 + u64::from(*digit));
    let right = SPANISH.get((value % 23) as usize) == Some(&letter);
    if !right || !begins(text, start) || !ends(text, end) {
        return None;
    }
    let window = before(text, start, REACH);
    let named = contains_word(window, &["dni", "nie", "nif", "documento nacional", "documento de identidad"]);
    let percent = match (named, digits.len()) {
        (true, _) => 95,
        (false, 7) => 80,
        (false, _) => 60,
    };
    Some(finding(start..end, percent))
}
