//! The parser of the guard's answers.

use nom::Err;

use super::block::without_ending;
use super::claim::{Price, once};
use super::error::{Parse, SyntaxError, line_error};
use super::lexical::{Name, after_blank, end_of_line, string_value};
use super::reader::kind;
use super::sequence::{fields, object};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::MAX_LINE_BYTES;
use crate::reply::STATUS;
use crate::schema::BUILT_IN;
use crate::{Delivered, Kind, PurchaseMethod, Reply};

/// Parses one `GRANT.<kind>` or `DENY.<kind>` line, with or without its line ending.
///
/// It accepts only replies with names and handles, as this library prints them, with keys bare or in quotes. A
/// grant with values, as in the paper's approach A, is refused.
///
/// # Errors
/// The first place where the text leaves the grammar of `spec/sirl.md`.
///
/// ```
/// use sirl::{Kind, Reply, parse_reply};
///
/// let reply = parse_reply("DENY.address {\"reason\":\"invalid_container\"}")?;
/// assert_eq!(reply, Reply::Denied { kind: Kind::Address, reason: "invalid_container".to_owned() });
/// # Ok::<(), sirl::ParseError>(())
/// ```
pub fn parse_reply(text: &str) -> Result<Reply, ParseError> {
    let line = without_ending(text);
    if line.len() > MAX_LINE_BYTES {
        return Err(ParseError::new(text, 0..line.len(), ParseErrorKind::LineTooLong));
    }
    match reply(line) {
        Ok((_, reply)) => Ok(reply),
        Err(error) => Err(line_error(error, line.len()).locate(text, 0)),
    }
}

fn reply(line: &str) -> Parse<'_, Reply> {
    let (granted, input) = match (line.strip_prefix("GRANT."), line.strip_prefix("DENY.")) {
        (Some(input), _) => (true, input),
        (None, Some(input)) => (false, input),
        (None, None) => {
            let what = "`GRANT.<kind>` or `DENY.<kind>`";
            return Err(SyntaxError::between(line, "", ParseErrorKind::Expected(what)));
        }
    };
    let (rest, (kind, _)) = kind(input, &BUILT_IN)?;
    let Some(input) = after_blank(rest, "") else {
        return Err(SyntaxError::expected(rest, "a blank and `{`"));
    };
    let (rest, reply) = match (granted, kind) {
        (false, kind) => denied(input, kind)?,
        (true, Kind::Purchase) => purchased(input)?,
        (true, kind) => delivered(input, kind)?,
    };
    let (rest, ()) = end_of_line(rest, "the end of the line")?;
    Ok((rest, reply))
}

fn denied(input: &str, kind: Kind) -> Parse<'_, Reply> {
    let mut reason = None;
    let (rest, ()) = object(input, |at, input| match at.text.as_ref() {
        "reason" => once(&mut reason, at, input, "reason", |input| {
            let wants = "a reason code in quotes, such as \"invalid_container\"";
            string_value(input, "reason", wants, |text| is_reason(&text).then(|| text.into_owned()))
        }),
        _ => Err(unknown(at, "reason")),
    })?;
    let reason = needed(reason, "reason", input, rest)?;
    Ok((rest, Reply::Denied { kind, reason }))
}

fn delivered(input: &str, kind: Kind) -> Parse<'_, Reply> {
    let mut how = None;
    let mut names = None;
    let (rest, ()) = object(input, |at, input| match at.text.as_ref() {
        "delivered" => once(&mut how, at, input, "delivered", |input| {
            let wants = "\"filled\", \"wired\" or \"unconfirmed\"";
            string_value(input, "delivered", wants, |text| Delivered::from_name(&text))
        }),
        "fields" => once(&mut names, at, input, "fields", |input| {
            fields(input, kind, kind.allowed_fields(), &BUILT_IN)
        }),
        _ => Err(unknown(at, "delivered, fields")),
    })?;
    let delivered = needed(how, "delivered", input, rest)?;
    let fields = needed(names, "fields", input, rest)?;
    Ok((rest, Reply::Delivered { kind, delivered, fields }))
}

fn purchased(input: &str) -> Parse<'_, Reply> {
    let (mut status, mut method, mut card) = (None, None, None);
    let mut price = Price::default();
    let (rest, ()) = object(input, |at, input| match at.text.as_ref() {
        "status" => once(&mut status, at, input, "status", |input| {
            string_value(input, "status", "\"success\"", |text| (text == STATUS).then_some(()))
        }),
        "method" => once(&mut method, at, input, "method", |input| {
            let wants = "\"PaymentRequest\" or \"UCP\"";
            string_value(input, "method", wants, |text| PurchaseMethod::from_name(&text))
        }),
        "card" => once(&mut card, at, input, "card", |input| {
            string_value(input, "card", "the handle of a card in quotes", |text| Some(text.into_owned()))
        }),
        "amount" => price.number(at, input, "amount"),
        "currency" => price.currency(at, input),
        _ => Err(unknown(at, "status, method, card, amount, currency")),
    })?;
    needed(status, "status", input, rest)?;
    let method = needed(method, "method", input, rest)?;
    let card = needed(card, "card", input, rest)?;
    let amount = needed(price.finish("amount")?, "amount", input, rest)?;
    Ok((rest, Reply::Purchased { method, card, amount }))
}

fn unknown(at: &Name<'_>, known: &'static str) -> Err<SyntaxError> {
    at.error(ParseErrorKind::UnknownKey { name: at.excerpt(), known })
}

/// Returns the value of a key that is required in the object between `start` and `end`.
fn needed<T>(value: Option<T>, key: &'static str, start: &str, end: &str) -> Result<T, Err<SyntaxError>> {
    value.ok_or_else(|| SyntaxError::between(start, end, ParseErrorKind::MissingKey(key)))
}

/// Tells if `text` has the form of a reason code: a word in small letters, perhaps with a colon and a second one.
fn is_reason(text: &str) -> bool {
    let word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    match text.split_once(':') {
        Some((code, detail)) => word(code) && word(detail),
        None => word(text),
    }
}
