//! Blocks, alone or amid other text.

use std::ops::Range;

use super::fault::Fault;
use super::line::{LEAD, Line, line};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::{MAX_LINE_BYTES, MAX_REQUESTS};
use crate::{Block, Request};

/// Reads a text that is one block and nothing else but empty lines.
///
/// # Errors
/// The first place where the text leaves the grammar of `spec/sirl.md`.
///
/// ```
/// use sirl::{Kind, parse_block};
///
/// let block = parse_block("REQ.purchase ctx={origin_request:\"website\", total:64.15, currency:\"USD\"}\nREQ.end")?;
/// assert_eq!(block.requests[0].kind, Kind::Purchase);
/// assert_eq!(block.requests[0].claim.total.unwrap().minor, 6415);
/// assert_eq!(
///     block.to_string(),
///     "REQ.purchase ctx={\"origin_request\":\"website\",\"total\":64.15,\"currency\":\"USD\"}\nREQ.end",
/// );
/// # Ok::<(), sirl::ParseError>(())
/// ```
pub fn parse_block(text: &str) -> Result<Block, ParseError> {
    let (block, end) = read(text, 0)?;
    match lines(text, end).find(|(_, line)| !is_empty(line)) {
        Some((start, line)) => {
            Err(ParseError::new(text, start..start + line.len(), ParseErrorKind::TrailingText))
        }
        None => Ok(block),
    }
}

/// Finds the first block amid a model's other text: from the first line that begins with `REQ.` to the line
/// `REQ.end`.
///
/// Returns the bytes that the block takes (without the last line ending) and the block, or the error, whose
/// span counts from the start of `text`. A block that is not closed takes all the rest of the text. Returns
/// nothing if no line begins with `REQ.`. To find a second block, search on behind the first.
///
/// ```
/// let text = "I need the address.\nREQ.address fields=[\"city\"]\nREQ.end\nWaiting.";
/// let (range, block) = sirl::find_block(text).unwrap();
/// assert_eq!(&text[range], "REQ.address fields=[\"city\"]\nREQ.end");
/// assert_eq!(block?.requests.len(), 1);
/// # Ok::<(), sirl::ParseError>(())
/// ```
#[must_use]
pub fn find_block(text: &str) -> Option<(Range<usize>, Result<Block, ParseError>)> {
    let (start, _) = lines(text, 0).find(|(_, line)| line.starts_with(LEAD))?;
    match read(text, start) {
        Ok((block, end)) => Some((start..end, Ok(block))),
        Err(error) => {
            let end = lines(text, start).find(|(_, line)| is_end(line));
            let end = end.map_or(text.len(), |(start, line)| start + line.len());
            Some((start..end, Err(error)))
        }
    }
}

/// Reads a block from the line that starts at byte `from`. Returns it and where its last line ends.
fn read(text: &str, from: usize) -> Result<(Block, usize), ParseError> {
    let mut requests: Vec<Request> = Vec::new();
    for (start, written) in lines(text, from) {
        let end = start + written.len();
        let fault = |kind| Err(ParseError::new(text, start..end, kind));
        if written.len() > MAX_LINE_BYTES {
            return fault(ParseErrorKind::LineTooLong);
        }
        if is_empty(written) {
            continue;
        }
        match line(written) {
            Ok((_, Line::End)) if requests.is_empty() => return fault(ParseErrorKind::EmptyBlock),
            Ok((_, Line::End)) => return Ok((Block { requests }, end)),
            Ok((_, Line::Request(_))) if requests.len() == MAX_REQUESTS => {
                return fault(ParseErrorKind::TooManyRequests);
            }
            Ok((_, Line::Request(request))) => requests.push(request),
            Err(error) => return Err(Fault::locate(error, text, end)),
        }
    }
    let kind = if requests.is_empty() { ParseErrorKind::EmptyBlock } else { ParseErrorKind::MissingEnd };
    Err(ParseError::new(text, text.len()..text.len(), kind))
}

/// The lines from byte `from` on, each with where it starts and without its line ending.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    text.get(from..).unwrap_or("").split_inclusive('\n').scan(from, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, without_ending(line)))
    })
}

/// `line` without its line ending, `\n` or `\r\n`, if it has one.
pub(super) fn without_ending(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    }
}

fn is_empty(line: &str) -> bool {
    trim(line).is_empty()
}

fn is_end(line: &str) -> bool {
    trim(line).strip_prefix(LEAD) == Some("end")
}

fn trim(line: &str) -> &str {
    line.trim_end_matches([' ', '\t'])
}
