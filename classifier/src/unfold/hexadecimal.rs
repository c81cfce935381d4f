//! Hexadecimal digits.

use std::ops::Range;

use super::collector::{Collector, Disguise};
use super::plausible::{Text, texts};

/// The smallest number of bytes that are decoded.
const FEWEST: usize = 6;

/// The shortest text, in bytes, that is accepted if the decoded bytes are not text as a whole.
const ISLAND: usize = 16;

/// The possible prefixes of a pair of digits.
const PREFIXES: [&str; 6] = ["0x", "0X", "\\x", "\\u00", "\\U00", "#x"];

/// Finds bytes of two digits each: all in one word, or each by itself with the same short separator and prefix, as
/// `69 67`, `69:67`, `0x69, 0x67`, `\x69\x67`, `\u0069\u0067`. Without a prefix one of the digits must be a letter:
/// columns of two-digit numbers are common, and most texts contain one of `j` to `o` or `z`. Other candidates are
/// only searched for a further encoding.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut at = 0;
    while let Some(start) = next_digit(text, at) {
        let (bytes, ends) = pairs(text, start);
        let end = ends.last().copied().unwrap_or(start);
        // A short run may have begun a word too early (`see: 69 67`), so the next word is tried. The search continues
        // after every adjacent digit, so that no part of a word is read twice.
        let first = ends.first().copied().unwrap_or(start + 1);
        at = if bytes.len() < FEWEST { first } else { end };
        let tail = text.as_bytes().get(at..).unwrap_or_default();
        at += tail.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(tail.len());
        let lettered = text
            .as_bytes()
            .get(start..end)
            .unwrap_or_default()
            .iter()
            .any(|byte| matches!(byte, b'a'..=b'f' | b'A'..=b'F'));
        if bytes.len() < FEWEST {
            continue;
        }
        let reported = lettered || !prefix_at(text, start).is_empty();
        for Text { at: place, decoded, plausible } in texts(&bytes, ISLAND) {
            let from = if place.start == 0 { Some(start) } else { ends.get(place.start - 1).copied() };
            let to = place.end.checked_sub(1).and_then(|last| ends.get(last).copied());
            let (Some(from), Some(to)) = (from, to) else { continue };
            let span: Range<usize> = from..to;
            let folded = collector.fold(&decoded, &span);
            collector.whole(Disguise::Hexadecimal, span, &folded, plausible && reported);
        }
    }
}

/// Returns the next position from `at` on where digits or a prefix may begin: the beginning of a word.
fn next_digit(text: &str, at: usize) -> Option<usize> {
    let mut before =
        at.checked_sub(1).and_then(|before| text.as_bytes().get(before)).copied().unwrap_or(b' ');
    let rest = text.as_bytes().get(at..)?;
    let next = rest.iter().position(|byte| {
        let begins =
            (byte.is_ascii_hexdigit() && !before.is_ascii_alphanumeric()) || matches!(byte, b'\\' | b'#');
        before = *byte;
        begins
    })?;
    Some(at + next)
}

/// Returns the bytes from `start` on, and the end of each.
fn pairs(text: &str, start: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let prefix = prefix_at(text, start);
    if pair(text, start + prefix.len()).is_none() {
        return (bytes, ends);
    }
    let mut separator: Option<&str> = None;
    let mut at = start;
    loop {
        let digits = at + prefix.len();
        let Some(byte) = pair(text, digits) else { break };
        bytes.push(byte);
        ends.push(digits + 2);
        at = digits + 2;
        let gap = text.get(at..).map_or("", gap_at);
        match separator {
            None => separator = Some(gap),
            Some(usual) if usual == gap => {}
            // Dumps have groups of digits.
            Some("") if matches!(gap, " " | "\n") => {}
            Some(_) => break,
        }
        at += gap.len();
        if !text.get(at..).is_some_and(|rest| rest.starts_with(prefix)) {
            break;
        }
    }
    (bytes, ends)
}

fn prefix_at(text: &str, at: usize) -> &'static str {
    let rest = text.get(at..).unwrap_or_default();
    PREFIXES.into_iter().find(|prefix| rest.starts_with(prefix)).unwrap_or_default()
}

/// Returns the separator of two pairs at the beginning of a text.
fn gap_at(text: &str) -> &str {
    let length = text
        .bytes()
        .take(3)
        .take_while(|byte| matches!(byte, b' ' | b':' | b'-' | b',' | b'.' | b'\n' | b';'))
        .count();
    text.get(..length).unwrap_or_default()
}

fn pair(text: &str, at: usize) -> Option<u8> {
    let digit = |at: usize| {
        let byte = *text.as_bytes().get(at)?;
        char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok())
    };
    Some(digit(at)? * 16 + digit(at + 1)?)
}
