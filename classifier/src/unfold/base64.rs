//! Base64.

use std::ops::Range;

use super::collector::{Collector, Disguise};
use super::plausible::{Text, texts};

/// The shortest word that may be one of several lines, in characters.
const LINE: usize = 8;

/// The shortest whole that is decoded, in characters.
const SHORTEST: usize = 12;

/// The smallest number of capitals in an encoded text: words, hashes and most identifiers have fewer, and encoded
/// text has one in about four characters.
const FEWEST_CAPITALS: usize = 2;

/// The shortest text, in bytes, that is accepted if the decoded bytes are not text as a whole: the bytes of pictures
/// contain short texts by chance.
const ISLAND: usize = 16;

/// Finds base64 in either alphabet, with or without padding, in one word or in lines of one length. Other characters
/// may be glued before it, such as a folder of an address, so each of the four alignments is tried if the first
/// yields no text.
pub(super) fn find(collector: &mut Collector<'_>) {
    let text = collector.text();
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(word) = next_word(text, at) {
        at = word.end;
        if continues(text, &lines, &word) {
            lines.push(word);
            continue;
        }
        close(collector, &mut lines);
        lines.push(word);
    }
    close(collector, &mut lines);
}

/// Decodes lines that belong together or, if that yields nothing, each by itself, since prose may follow a word.
fn close(collector: &mut Collector<'_>, lines: &mut Vec<Range<usize>>) {
    if lines.len() > 1 {
        lines.extend(rest_of(collector.text(), lines));
    }
    if !decode(collector, lines) && lines.len() > 1 {
        for line in lines.iter() {
            decode(collector, std::slice::from_ref(line));
        }
    }
    lines.clear();
}

/// Returns the last line after others, if it is too short to be found by itself.
fn rest_of(text: &str, lines: &[Range<usize>]) -> Option<Range<usize>> {
    let last = lines.last()?;
    let rest = text.get(last.end..)?;
    let gap = rest.bytes().take(16).take_while(u8::is_ascii_whitespace).count();
    let start = last.end + gap;
    let length =
        text.as_bytes().get(start..)?.iter().take(LINE).take_while(|byte| value(**byte).is_some()).count();
    let line = start..start + length;
    ((1..LINE).contains(&length) && continues(text, lines, &line)).then_some(line)
}

/// Returns the value of a character in either alphabet.
fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Returns the next run of the alphabet from `at` on that is long enough for a line.
fn next_word(text: &str, mut at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    loop {
        let rest = bytes.get(at..)?;
        let start = at + rest.iter().position(|byte| value(*byte).is_some())?;
        let run = bytes.get(start..)?;
        let length = run.iter().position(|byte| value(*byte).is_none()).unwrap_or(run.len());
        if length >= LINE {
            return Some(start..start + length);
        }
        at = start + length;
    }
}

/// Returns whether a word is the next line: it follows after one line break or a space or two, and is not longer than
/// the lines before, which are all of one length.
fn continues(text: &str, lines: &[Range<usize>], word: &Range<usize>) -> bool {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
    let gap = text.get(last.end..word.start).unwrap_or("=");
    gap.len() <= 16
        && gap.bytes().all(|byte| byte.is_ascii_whitespace())
        && gap.bytes().filter(|byte| *byte == b'\n').count() <= 1
        && last.len() == first.len()
        && word.len() <= first.len()
}

/// Adds the texts that lines encode, and returns whether there are any.
fn decode(collector: &mut Collector<'_>, lines: &[Range<usize>]) -> bool {
    let text = collector.text();
    let written = || lines.iter().filter_map(|line| text.as_bytes().get(line.clone())).flatten();
    let length = lines.iter().map(Range::len).sum::<usize>();
    if length < SHORTEST
        || written().filter(|byte| byte.is_ascii_uppercase()).nth(FEWEST_CAPITALS - 1).is_none()
    {
        return false;
    }
    let mut any = false;
    for skip in 0..4 {
        let values = written().skip(skip).filter_map(|byte| value(*byte));
        let bytes = bytes(values, length - skip);
        let found = texts(&bytes, ISLAND);
        if found.is_empty() {
            continue;
        }
        any = true;
        let whole = found.iter().map(|text| text.at.len()).sum::<usize>() * 2 >= bytes.len();
        for Text { at, decoded, plausible } in found {
            let first = skip + at.start / 3 * 4;
            let end = if at.end == bytes.len() { length } else { skip + at.end.div_ceil(3) * 4 };
            let (Some(start), Some(last)) = (place(lines, first), place(lines, end.min(length) - 1)) else {
                continue;
            };
            let padding =
                text.get(last + 1..).unwrap_or_default().bytes().take(2).take_while(|byte| *byte == b'=');
            let span = start..last + 1 + if end >= length { padding.count() } else { 0 };
            let folded = collector.fold(&decoded, &span);
            collector.whole(Disguise::Base64, span, &folded, plausible);
        }
        if whole {
            break;
        }
    }
    any
}

/// Returns the position of the character of this number.
fn place(lines: &[Range<usize>], mut number: usize) -> Option<usize> {
    lines.iter().find_map(|line| {
        let here = (number < line.len()).then_some(line.start + number);
        number = number.saturating_sub(line.len());
        here
    })
}

/// Returns the bytes of values of six bits; bits that are too few for a byte are dropped.
fn bytes(values: impl Iterator<Item = u8>, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count / 4 * 3 + 3);
    let (mut held, mut bits) = (0_u32, 0);
    for value in values {
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(((held >> bits) & 0xFF) as u8);
        }
        held &= 0xFFFF;
    }
    bytes
}
