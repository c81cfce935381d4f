//! Errors in a text, with their place.

use std::fmt;
use std::ops::Range;

use crate::items::{MAX_ITEM_ID_BYTES, MAX_ITEMS};
use crate::limits::{MAX_EXCERPT_CHARS, MAX_LINE_BYTES, MAX_REQUESTS, MAX_STRING_BYTES};
use crate::{Field, FieldSet, Kind};

/// An error in a block, a plan or a reply.
///
/// The message says what to write instead. It may repeat a name (see [`Excerpt`]), but never the value of a string
/// or a number.
///
/// ```
/// let error = sirl::parse_block("REQ.adress\nREQ.end").unwrap_err();
/// assert_eq!(error.span, 4..10);
/// assert_eq!((error.line(), error.column()), (1, 5));
/// assert!(error.to_string().starts_with("line 1, column 5: unknown kind `adress`; use address"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct ParseError {
    /// The wrong bytes, counted from the start of the text or the stream. They are on character boundaries, unless
    /// the bytes are not UTF-8.
    pub span: Range<usize>,
    /// The kind of error.
    pub kind: ParseErrorKind,
    line: usize,
    column: usize,
}

impl ParseError {
    /// Makes an error of this kind at `span` of `text`.
    pub(crate) fn new(text: &str, span: Range<usize>, kind: ParseErrorKind) -> ParseError {
        let (line, column) = line_and_column(text, span.start);
        ParseError { span, kind, line, column }
    }

    /// Locates `error` in a stream, in the line of bytes with this number (from 1) that begins at byte `start`.
    pub(crate) fn in_stream(line: &[u8], start: usize, number: usize, error: LineError) -> ParseError {
        let LineError { span, kind } = error;
        let before = line.get(..span.start).unwrap_or(line);
        let column = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1;
        let place = |at: usize| start.saturating_add(at);
        ParseError { span: place(span.start)..place(span.end), kind, line: number, column }
    }

    /// The line of the first wrong byte, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the first wrong byte, in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

/// An error and its place in its line, in bytes.
#[derive(Debug)]
pub(crate) struct LineError {
    pub(crate) span: Range<usize>,
    pub(crate) kind: ParseErrorKind,
}

impl LineError {
    /// The error in the text in which the line begins at byte `start`.
    pub(crate) fn locate(self, text: &str, start: usize) -> ParseError {
        ParseError::new(text, start + self.span.start..start + self.span.end, self.kind)
    }
}

/// The kind of an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Another text is expected here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The word after the dot names no kind.
    #[error("unknown kind {0}; use {kinds}", kinds = names(Kind::ALL.map(Kind::as_str)))]
    UnknownKind(Excerpt),
    /// The name in the list names no field.
    #[error("unknown field {name}; {kind} takes {fields}", kind = kind.as_str(), fields = list(*takes))]
    UnknownField {
        /// The name.
        name: Excerpt,
        /// The kind of the request.
        kind: Kind,
        /// The fields that the kind takes.
        takes: FieldSet,
    },
    /// The field exists, but a request of this kind cannot ask for it.
    #[error("{} does not take `{}`; it takes {}", kind.as_str(), field.as_str(), list(kind.allowed_fields()))]
    FieldNotOfKind {
        /// The field.
        field: Field,
        /// The kind of the request.
        kind: Kind,
    },
    /// The schema in use does not declare this kind.
    #[error("the kind {name} is not declared; use {kinds}", kinds = names(declared.iter().map(|kind| kind.as_str())))]
    UndeclaredKind {
        /// The word after the dot.
        name: Excerpt,
        /// The kinds that are declared.
        declared: Vec<Kind>,
    },
    /// The schema in use does not declare this field for this kind.
    #[error("`{}` is not declared for {}; it takes {}", field.as_str(), kind.as_str(), list(*takes))]
    UndeclaredField {
        /// The field.
        field: Field,
        /// The kind of the request.
        kind: Kind,
        /// The fields that are declared for it.
        takes: FieldSet,
    },
    /// The field was named before, perhaps by its other name.
    #[error("`{}` is named twice; name each field once", .0.as_str())]
    DuplicateField(Field),
    /// The list of fields is empty.
    #[error("the list of fields is empty; name a field, or leave `fields` out of a request")]
    NoFields,
    /// The object with the controls is empty.
    #[error("`at` is empty; point at a control, as in at={{\"street\":\"e12\"}}, or leave `at` out")]
    NoPointers,
    /// The request names items, and is no purchase.
    #[error("{} does not take `items`; only purchase does, so leave `items` out", .0.as_str())]
    ItemsNotOfKind(Kind),
    /// The object with the items is empty.
    #[error("`items` is empty; name an item, as in items={{\"kettle\":1}}, or leave `items` out")]
    NoItems,
    /// The name cannot be the id of an item.
    #[error(
        "this cannot be the id of an item; write the shop's id: letters, digits and `_ - . : /`, at most {MAX_ITEM_ID_BYTES} of them"
    )]
    BadItemId,
    /// The item was named before.
    #[error("the item {0} is named twice; name each item once, with the number of all its pieces")]
    DuplicateItem(Excerpt),
    /// A purchase names more than [`MAX_ITEMS`] items.
    #[error("too many items; keep a purchase within {MAX_ITEMS} of them")]
    TooManyItems,
    /// The name is no key of this object.
    #[error("unknown key {name}; use {known}")]
    UnknownKey {
        /// The name.
        name: Excerpt,
        /// The keys of the object.
        known: &'static str,
    },
    /// The key was given before.
    #[error("`{0}` is given twice; give each key once")]
    DuplicateKey(&'static str),
    /// This key is required with the given ones: `currency` with `total`, every key of a reply.
    #[error("`{0}` is missing; add it")]
    MissingKey(&'static str),
    /// The value has another type than the key takes.
    #[error("`{key}` takes {wants}")]
    WrongValue {
        /// The key.
        key: &'static str,
        /// The values that it takes.
        wants: &'static str,
    },
    /// A list or an object is in place of a single value.
    #[error("nested too deep; write a single value here")]
    TooDeep,
    /// A line is longer than [`MAX_LINE_BYTES`], as written or in its canonical form.
    #[error("the line is too long; keep it within {MAX_LINE_BYTES} bytes")]
    LineTooLong,
    /// A block has more than [`MAX_REQUESTS`] requests.
    #[error("too many requests; keep a block within {MAX_REQUESTS} of them")]
    TooManyRequests,
    /// A string is longer than [`MAX_STRING_BYTES`].
    #[error("the string is too long; keep it within {MAX_STRING_BYTES} bytes")]
    StringTooLong,
    /// A string has no closing quote on its line.
    #[error("the string is not closed; end it with `\"` on the same line")]
    UnclosedString,
    /// The escape does not exist in JSON, or is half of a surrogate pair.
    #[error("unknown escape; use \\\", \\\\, \\/ or \\u with four hexadecimal digits")]
    BadEscape,
    /// A string holds a control, a line separator or a direction mark, escaped or not.
    #[error("a string may not hold control characters or direction marks; remove this one")]
    ForbiddenCharacter,
    /// A block has no request.
    #[error("the block is empty; write a `REQ.<kind>` line before `REQ.end`")]
    EmptyBlock,
    /// A block is not closed.
    #[error("the block is not closed; end it with a line `REQ.end`")]
    MissingEnd,
    /// A plan has no request.
    #[error("the plan is empty; write a `PLAN.<kind>` line before `PLAN.end`")]
    EmptyPlan,
    /// A plan is not closed.
    #[error("the plan is not closed; end it with a line `PLAN.end`")]
    MissingPlanEnd,
    /// Text follows the plan.
    #[error("text after the plan; end the text with `PLAN.end`")]
    TextAfterPlan,
    /// A line of a block in a stream of bytes is not UTF-8.
    #[error("the line is not UTF-8; write it in UTF-8")]
    NotUtf8,
    /// Text follows the block.
    #[error("text after the block; end the text with `REQ.end`")]
    TrailingText,
}

fn names(names: impl IntoIterator<Item = &'static str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Finds the line and the column in characters, both from 1, of byte `at` of `text`.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    (line, before.get(line_start..).unwrap_or("").chars().count() + 1)
}

pub(crate) fn list(fields: FieldSet) -> String {
    if fields.is_empty() { "no fields".to_owned() } else { names(fields.iter().map(Field::as_str)) }
}

/// A wrong name, as far as it is safe to repeat.
///
/// A name of letters, digits, `_` and `-` with at most three digits is kept up to [`MAX_EXCERPT_CHARS`]
/// characters. Any other name, and a longer one in quotes, might be a user's data in the wrong place. It is
/// dropped when the error is made, so that no form of the error can show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(Option<String>);

impl Excerpt {
    pub(crate) fn new(name: &str, quoted: bool) -> Excerpt {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        let long = name.len() > MAX_EXCERPT_CHARS;
        if name.is_empty() || !plain || digits > 3 || (quoted && long) {
            return Excerpt(None);
        }
        let mut kept: String = name.chars().take(MAX_EXCERPT_CHARS).collect();
        if long {
            kept.push('…');
        }
        Excerpt(Some(kept))
    }

    /// The name, cut with `…` if it was longer; `None` if it is not safe to repeat.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "`{name}`"),
            None => f.write_str("(not shown)"),
        }
    }
}
