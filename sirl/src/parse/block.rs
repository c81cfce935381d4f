//! Whole blocks and plans, alone or within other text.

use std::ops::Range;

use super::reader::{BlockReader, is_empty};
use crate::error::ParseError;
use crate::form::BlockForm;
use crate::schema::BUILT_IN;
use crate::{Block, Plan, Request, Schema};

/// Parses a text that is one block, apart from empty lines.
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
    parse_block_with(&BUILT_IN, text)
}

/// Parses a block as [`parse_block`] does, with the kinds, fields and aliases that `schema` declares.
///
/// If the schema allows fewer fields of a kind than there are, a request that names none asks for the allowed ones,
/// which are then in its `fields`.
///
/// # Errors
/// The first place where the text leaves the grammar of `spec/sirl.md` or the schema.
///
/// ```
/// use sirl::{Field, Schema, parse_block_with};
///
/// let schema = Schema::parse("kind login { email }  alias mail for email")?;
/// let block = parse_block_with(&schema, "REQ.login\nREQ.login fields=[mail]\nREQ.end")?;
/// assert_eq!(block.requests[0], block.requests[1]);
/// let error = parse_block_with(&schema, "REQ.otp\nREQ.end").unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 5: the kind `otp` is not declared; use login");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_block_with(schema: &Schema, text: &str) -> Result<Block, ParseError> {
    alone(schema, text, BlockForm::Requests).map(|requests| Block { requests })
}

/// Parses a text that is one plan, apart from empty lines.
///
/// # Errors
/// The first place where the text leaves the grammar of `spec/sirl.md`.
pub fn parse_plan(text: &str) -> Result<Plan, ParseError> {
    parse_plan_with(&BUILT_IN, text)
}

/// Parses a plan as [`parse_plan`] does, with the kinds, fields and aliases that `schema` declares.
///
/// # Errors
/// The first place where the text leaves the grammar of `spec/sirl.md` or the schema.
pub fn parse_plan_with(schema: &Schema, text: &str) -> Result<Plan, ParseError> {
    alone(schema, text, BlockForm::Plan).map(Plan::of)
}

/// Finds the first block within a model's other text: from the first line that begins with `REQ.` to the line
/// `REQ.end`.
///
/// Returns the range of the block (without the last line ending) and the block, or the error, whose span counts
/// from the start of `text`. A block that is not closed takes all the rest of the text. Returns `None` if no line
/// begins with `REQ.`. To find a second block, search again after the first. A plan is other text here;
/// [`Scanner`](crate::Scanner) finds blocks and plans, also in text that is still being written.
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
    let form = BlockForm::Requests;
    let (start, _) = lines(text, 0).find(|(_, line)| line.starts_with(form.prefix()))?;
    match read(&BUILT_IN, text, start, form) {
        Ok((requests, end)) => Some((start..end, Ok(Block { requests }))),
        Err(error) => {
            let end = lines(text, start).find(|(_, line)| is_end(line, form));
            let end = end.map_or(text.len(), |(start, line)| start + line.len());
            Some((start..end, Err(error)))
        }
    }
}

/// Parses a text that is one block, apart from empty lines.
fn alone(schema: &Schema, text: &str, form: BlockForm) -> Result<Vec<Request>, ParseError> {
    let (requests, end) = read(schema, text, 0, form)?;
    match lines(text, end).find(|(_, line)| !is_empty(line)) {
        Some((start, line)) => Err(ParseError::new(text, start..start + line.len(), form.trailing_error())),
        None => Ok(requests),
    }
}

/// Parses a block from the line that starts at byte `from`. Returns its requests and the end of its last line.
fn read(
    schema: &Schema,
    text: &str,
    from: usize,
    form: BlockForm,
) -> Result<(Vec<Request>, usize), ParseError> {
    let mut reader = BlockReader::new(form);
    for (start, line) in lines(text, from) {
        match reader.take(schema, line) {
            Ok(Some(requests)) => return Ok((requests, start + line.len())),
            Ok(None) => {}
            Err(error) => return Err(error.locate(text, start)),
        }
    }
    Err(reader.at_end(text.len()).locate(text, 0))
}

/// The lines from byte `from` on, each with its start and without its line ending.
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

fn is_end(line: &str, form: BlockForm) -> bool {
    line.trim_end_matches([' ', '\t']) == form.end_line()
}
