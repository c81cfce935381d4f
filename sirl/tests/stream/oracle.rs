//! A slow reading of a whole stream, by lines and `parse_block`, independent of the scanner.

use sirl::error::ParseErrorKind;
use sirl::limits::MAX_LINE_BYTES;
use sirl::{Event, ParseError, parse_block, parse_plan};

/// An event without the private parts of an error, so that tests can build and compare it.
#[derive(Debug, PartialEq)]
pub enum Seen {
    Whole(std::ops::Range<usize>, String),
    Malformed { start: usize, span: std::ops::Range<usize>, kind: ParseErrorKind, line: usize, column: usize },
}

pub fn seen(event: &Event) -> Seen {
    match event {
        Event::Block { span, block } => Seen::Whole(span.clone(), block.to_string()),
        Event::Plan { span, plan } => Seen::Whole(span.clone(), plan.to_string()),
        Event::Malformed { start, error } => Seen::Malformed {
            start: *start,
            span: error.span.clone(),
            kind: error.kind.clone(),
            line: error.line(),
            column: error.column(),
        },
    }
}

/// The lines from byte `from` on: the start of each, and its text without the line ending.
fn lines(stream: &[u8], from: usize) -> Vec<(usize, &[u8])> {
    let mut start = from;
    let mut all = Vec::new();
    for line in stream[from..].split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").map_or(line, |text| text.strip_suffix(b"\r").unwrap_or(text));
        all.push((start, text));
        start += line.len();
    }
    all
}

fn is_end(line: &[u8], word: &str) -> bool {
    let blanks = line.strip_prefix(word.as_bytes());
    blanks.is_some_and(|blanks| blanks.iter().all(|byte| *byte == b' ' || *byte == b'\t'))
}

/// Finds every event in `stream`.
pub fn read(stream: &[u8]) -> Vec<Seen> {
    let mut found = Vec::new();
    let mut from = 0;
    loop {
        let begins = |(_, line): &&(usize, &[u8])| line.starts_with(b"REQ.") || line.starts_with(b"PLAN.");
        let all = lines(stream, from);
        let Some((start, first)) = all.iter().find(begins).copied() else { return found };
        let is_plan = first.starts_with(b"PLAN.");
        let all = lines(stream, start);
        let word = if is_plan { "PLAN.end" } else { "REQ.end" };
        let last = all.iter().position(|(_, line)| is_end(line, word));
        let end = last.map_or(stream.len(), |last| all[last].0 + all[last].1.len());
        found.push(block(&stream[..end], start, is_plan));
        match last.and_then(|last| all.get(last + 1)) {
            Some((next, _)) => from = *next,
            None => return found,
        }
    }
}

/// Reads the block in `stream` from byte `start` on.
fn block(stream: &[u8], start: usize, is_plan: bool) -> Seen {
    let bad = |line: &[u8]| line.len() > MAX_LINE_BYTES || std::str::from_utf8(line).is_err();
    let bad = lines(stream, start).into_iter().find(|(_, line)| bad(line));
    let readable = bad.map_or(stream.len(), |(bad, _)| bad);
    let text = std::str::from_utf8(&stream[start..readable]).unwrap();
    let parsed = if is_plan {
        parse_plan(text).map(|plan| plan.to_string())
    } else {
        parse_block(text).map(|block| block.to_string())
    };
    let number = |at: usize| stream[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    match (parsed, bad) {
        (Ok(print), _) => Seen::Whole(start..stream.len(), print),
        (Err(error), Some((at, line))) if at_end(&error, text) => {
            let (from, to, kind) = if line.len() > MAX_LINE_BYTES {
                let boundary = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
                let limit = MAX_LINE_BYTES + 4;
                let to = (MAX_LINE_BYTES + 1..limit).find(boundary).unwrap_or(limit);
                (0, to, ParseErrorKind::LineTooLong)
            } else {
                let chunk = line.utf8_chunks().next().unwrap();
                let good = chunk.valid().len();
                (good, good + chunk.invalid().len(), ParseErrorKind::NotUtf8)
            };
            let column = String::from_utf8_lossy(&line[..from]).chars().count() + 1;
            Seen::Malformed { start, span: at + from..at + to, kind, line: number(at), column }
        }
        (Err(error), _) => {
            let span = start + error.span.start..start + error.span.end;
            let line = number(start) + error.line() - 1;
            Seen::Malformed { start, span, kind: error.kind.clone(), line, column: error.column() }
        }
    }
}

/// Tells if the error is only that the text ends.
fn at_end(error: &ParseError, text: &str) -> bool {
    use ParseErrorKind::{EmptyBlock, EmptyPlan, MissingEnd, MissingPlanEnd};
    let ends = matches!(error.kind, EmptyBlock | EmptyPlan | MissingEnd | MissingPlanEnd);
    ends && error.span == (text.len()..text.len())
}
