//! Passports and identity cards: the machine-readable zone (MRZ), and numbers that the words before them announce.

use crate::detect::context::{announced, begins, ends};
use crate::detect::finding::{Finding, SensitiveKind};
use std::ops::Range;

/// Words that announce the number of a document.
pub(crate) const DOCUMENT: &str = r"(?i:passport|reisepass|passeport|pasaporte|passaporto|paspoort|paszport|passnummer|personalausweis|ausweisnummer|carta d'identit|carte d'identit|identity card|id card)";
/// The filler of the machine-readable zone, which hardly any other text contains.
pub(crate) const FILLER: &str = "<<";

/// The length and the number of the lines of a machine-readable zone (ICAO Doc 9303).
const LINES: [(usize, usize); 3] = [(44, 2), (36, 2), (30, 3)];

/// Returns the number of a document that the matched word announces.
pub(crate) fn find_announced(text: &str, word: Range<usize>) -> Option<Finding> {
    // The word may continue: "Reisepassnummer", "Ausweis-Nr.".
    let rest = text.get(word.end..)?;
    let length: usize =
        rest.chars().take(12).take_while(|c| c.is_alphabetic() || *c == '-').map(char::len_utf8).sum();
    let (start, _) = announced(text, word.end + length, 3)?;
    let rest = text.get(start..)?;
    let length = rest.bytes().take(11).take_while(u8::is_ascii_alphanumeric).count();
    let value = rest.get(..length)?;
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let shaped = (7..=10).contains(&length) && digits >= 4 && !value.bytes().any(|b| b.is_ascii_lowercase());
    if !shaped || !ends(text, start + length) {
        return None;
    }
    let name = text.get(word)?.to_lowercase();
    let card = ["ausweis", "identit", "id card"].iter().any(|part| name.contains(part));
    let kind = if card { SensitiveKind::NationalId } else { SensitiveKind::Passport };
    Some(Finding::new(start..start + length, kind, 85))
}

/// Returns the machine-readable zone with the fillers at `at`.
pub(crate) fn find_lines(text: &str, at: usize) -> Option<Finding> {
    let here = line_around(text, at)?;
    let (length, count) = LINES.iter().find(|(length, _)| *length == here.len())?;
    let mut lines = vec![here];
    while lines.len() < *count {
        let last = lines.last()?.clone();
        let Some(next) = line_behind(text, last.end, *length) else { break };
        lines.push(next);
    }
    let right = lines.iter().any(|line| text.get(line.clone()).is_some_and(|line| is_right(line, *length)));
    right.then(|| {
        Finding::new(
            lines.first().map_or(0, |l| l.start)..lines.last().map_or(0, |l| l.end),
            SensitiveKind::Passport,
            98,
        )
    })
}

fn belongs(byte: &u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'<'
}

fn line_around(text: &str, at: usize) -> Option<Range<usize>> {
    let (head, tail) = (text.get(..at)?, text.get(at..)?);
    let back = head.bytes().rev().take(45).take_while(belongs).count();
    let ahead = tail.bytes().take(45).take_while(belongs).count();
    let line = at - back..at + ahead;
    (line.len() <= 44 && begins(text, line.start) && ends(text, line.end)).then_some(line)
}

fn line_behind(text: &str, end: usize, length: usize) -> Option<Range<usize>> {
    let gap = text.get(end..)?.bytes().take(4).take_while(|byte| b"\r\n ".contains(byte)).count();
    let start = end + gap;
    let line = text.get(start..start + length)?;
    (gap > 0 && line.bytes().all(|byte| belongs(&byte)) && ends(text, start + length))
        .then_some(start..start + length)
}

/// Returns whether the check digits of a line are right. Only lines with check digits count.
fn is_right(line: &str, length: usize) -> bool {
    let fields: &[(Range<usize>, usize)] = match length {
        // Number, birth, expiry.
        44 | 36 => &[(0..9, 9), (13..19, 19), (21..27, 27)],
        // The first line of a card has only the number; the second has birth and expiry.
        _ if line.starts_with(['I', 'A', 'C']) => &[(5..14, 14)],
        _ => &[(0..6, 6), (8..14, 14)],
    };
    let digit =
        |at: usize| line.as_bytes().get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0');
    fields.iter().all(|(field, check)| {
        line.get(field.clone()).map(check_digit).is_some_and(|expected| digit(*check) == Some(expected))
    })
}

/// Returns the check digit of a field: weights 7, 3, 1 over digits, letters from 10 on, and fillers as 0.
fn check_digit(field: &str) -> u8 {
    let value = |byte: u8| match byte {
        b'0'..=b'9' => byte - b'0',
        b'A'..=b'Z' => byte - b'A' + 10,
        _ => 0,
    };
    let sum: u32 = field
        .bytes()
        .zip([7, 3, 1].into_iter().cycle())
        .map(|(byte, weight)| u32::from(value(byte)) * weight)
        .sum();
    (sum % 10) as u8
}
