//! SIRL text: parsing, finding and printing blocks and replies, and their errors.

use sirl::limits::{MAX_EXCERPT_CHARS, MAX_LINE_BYTES, MAX_REQUESTS};
use sirl::{Block, ParseError, ParseErrorKind, find_block, parse_block, parse_reply};

use crate::input;

/// Parses a text as a block, as a text with a block in it, and as a reply.
///
/// # Panics
/// Printing and parsing disagree, the parsers contradict each other, a limit is exceeded, or an error is outside of
/// its text or repeats more than it may.
pub fn run(input: &[u8]) {
    let text = input::text(input);
    whole(&text);
    found(&text);
    reply(&text);
}

fn whole(text: &str) {
    match parse_block(text) {
        Ok(block) => {
            canonical(&block);
            match find_block(text) {
                Some((_, Ok(found))) => assert_eq!(found, block, "another block is found in the block"),
                other => panic!("a block is read whole, but found as {other:?}"),
            }
        }
        Err(error) => check_error(text, &error),
    }
}

fn found(text: &str) {
    let Some((range, outcome)) = find_block(text) else {
        assert!(!text.split('\n').any(|line| line.starts_with("REQ.")), "a block is overlooked");
        return;
    };
    let Some(part) = text.get(range.clone()) else { panic!("{range:?} is no part of the text") };
    assert!(part.starts_with("REQ."), "a block begins with {:?}", part.get(..4));
    let before = text.get(..range.start).unwrap_or("");
    assert!(before.is_empty() || before.ends_with('\n'), "a block begins within a line");
    match outcome {
        Ok(block) => assert_eq!(parse_block(part), Ok(block), "found and read whole differ"),
        Err(error) => {
            check_error(text, &error);
            assert!(parse_block(part).is_err(), "what is found malformed can be read whole");
        }
    }
}

/// Checks that the canonical form is parsed back, is within the limits, and is found within other text.
fn canonical(block: &Block) {
    let printed = block.to_string();
    assert_eq!(parse_block(&printed).as_ref(), Ok(block), "{printed:?}");
    assert!(block.requests.len() <= MAX_REQUESTS, "{} requests", block.requests.len());
    assert!(printed.lines().all(|line| line.len() <= MAX_LINE_BYTES), "a canonical line is too long");
    let amid = format!("Before it.\n{printed}\nBehind it.");
    match find_block(&amid) {
        Some((range, Ok(found))) => {
            assert_eq!(amid.get(range), Some(printed.as_str()), "found elsewhere");
            assert_eq!(found, *block);
        }
        other => panic!("not found amid other text: {other:?}"),
    }
}

fn reply(text: &str) {
    match parse_reply(text) {
        Ok(reply) => {
            let printed = reply.to_string();
            assert!(printed.len() <= MAX_LINE_BYTES && !printed.contains('\n'), "{printed:?}");
            assert_eq!(parse_reply(&printed), Ok(reply), "{printed:?}");
        }
        Err(error) => check_error(text, &error),
    }
}

/// Checks the guarantees of `spec/sirl.md` on errors.
fn check_error(text: &str, error: &ParseError) {
    assert!(text.get(error.span.clone()).is_some(), "{:?} is no part of the text: {error}", error.span);
    let before = text.get(..error.span.start).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    assert_eq!((error.line(), error.column()), (line, column), "{error}");
    let excerpt = match &error.kind {
        ParseErrorKind::UnknownKind(name)
        | ParseErrorKind::DuplicateItem(name)
        | ParseErrorKind::UnknownField { name, .. }
        | ParseErrorKind::UnknownKey { name, .. } => name.as_str(),
        _ => None,
    };
    let Some(excerpt) = excerpt else { return };
    // The mark of a cut name is one character more.
    assert!(excerpt.chars().count() <= MAX_EXCERPT_CHARS + 1, "repeats too much: {excerpt}");
    assert!(excerpt.chars().filter(char::is_ascii_digit).count() <= 3, "repeats digits: {excerpt}");
    let kept = excerpt.trim_end_matches('…');
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    assert!(kept.chars().all(plain), "repeats what is no name: {excerpt}");
    let part = text.get(error.span.clone()).unwrap_or("");
    assert!(part.contains('\\') || part.contains(kept), "{excerpt} is not there");
}
