//! Errors in a schema, with their place.

use std::ops::Range;

use crate::error::{Excerpt, list};
use crate::limits::{MAX_ALIAS_BYTES, MAX_ALIASES, MAX_SCHEMA_BYTES};
use crate::{Field, Kind};

/// An error in a schema.
///
/// ```
/// let error = sirl::Schema::parse("kind login { emial }").unwrap_err();
/// assert_eq!(error.span, 13..18);
/// assert_eq!(error.to_string(), "line 1, column 14: unknown field `emial`; did you mean `email`?");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct SchemaError {
    /// The wrong bytes of the text, on character boundaries.
    pub span: Range<usize>,
    /// The kind of error.
    pub kind: SchemaErrorKind,
    line: usize,
    column: usize,
}

impl SchemaError {
    pub(super) fn new(text: &str, span: Range<usize>, kind: SchemaErrorKind) -> SchemaError {
        let (line, column) = crate::error::line_and_column(text, span.start);
        SchemaError { span, kind, line, column }
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

/// The kind of an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// Another text is expected here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// No statement begins with this word.
    #[error("unknown word {name}; {}", meant(*near, "begin with `kind` or `alias`"))]
    UnknownWord {
        /// The word.
        name: Excerpt,
        /// The word that was probably meant.
        near: Option<&'static str>,
    },
    /// There is no such kind.
    #[error("unknown kind {name}; {}", meant(*near, "the kinds are those of `spec/sirl.md`"))]
    UnknownKind {
        /// The word.
        name: Excerpt,
        /// The word that was probably meant.
        near: Option<&'static str>,
    },
    /// There is no such field. An alias does not count.
    #[error("unknown field {name}; {}", meant(*near, "a schema cannot add a field, for its tier would be unknown"))]
    UnknownField {
        /// The word.
        name: Excerpt,
        /// The field that was probably meant, or that of the alias.
        near: Option<&'static str>,
    },
    /// The field exists, but no request of this kind can ask for it.
    #[error("{} cannot ask for `{}`; it may ask for {}", kind.as_str(), field.as_str(), list(kind.allowed_fields()))]
    FieldNotOfKind {
        /// The field.
        field: Field,
        /// The kind.
        kind: Kind,
    },
    /// The kind was declared before.
    #[error("`{}` is declared twice; declare each kind once", .0.as_str())]
    DuplicateKind(Kind),
    /// The field was named before.
    #[error("`{}` is named twice; name each field once", .0.as_str())]
    DuplicateField(Field),
    /// The alias was declared before.
    #[error("this alias is declared twice; declare each once")]
    DuplicateAlias,
    /// A kind that takes fields has none.
    #[error("`{}` has no fields; name in braces those it may ask for, or leave the kind out", .0.as_str())]
    NoFields(Kind),
    /// The word cannot be an alias.
    #[error(
        "an alias is a small letter and then small letters, digits, `_` or `-`, at most {MAX_ALIAS_BYTES} of them all"
    )]
    BadAlias,
    /// The alias is the name of a field.
    #[error("`{}` is a field's own name; choose another word", .0.as_str())]
    AliasIsField(Field),
    /// The alias is built in, for another field.
    #[error("this alias always stands for `{}`; choose another word", .0.as_str())]
    AliasIsTaken(Field),
    /// No declared kind may ask for the field of an alias.
    #[error("no kind here may ask for `{}`; remove the alias, or declare the field for a kind", .0.as_str())]
    IdleAlias(Field),
    /// No kind is declared.
    #[error("the schema declares no kind; declare one, such as `kind purchase`")]
    NoKinds,
    /// More aliases than [`MAX_ALIASES`].
    #[error("too many aliases; keep within {MAX_ALIASES} of them")]
    TooManyAliases,
    /// The text is longer than [`MAX_SCHEMA_BYTES`].
    #[error("the schema is too long; keep it within {MAX_SCHEMA_BYTES} bytes")]
    TooLong,
    /// A comment holds a control or a direction mark.
    #[error("a comment may not hold control characters or direction marks; remove this one")]
    ForbiddenCharacter,
}

fn meant(near: Option<&str>, otherwise: &str) -> String {
    near.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}
