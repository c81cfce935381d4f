//! Schemas, which declare the kinds, fields and aliases of a deployment.

mod error;
mod parse;
mod suggest;

use std::borrow::Cow;
use std::fmt::{Display, Formatter};

use crate::{Field, FieldSet, Kind};

pub use error::{SchemaError, SchemaErrorKind};

/// The kinds that may be requested, the fields that each may ask for, and the aliases of fields.
///
/// A schema is closed: a request for a kind or a field that it does not declare is an error. It can only narrow the
/// built-in language. It cannot add a field, because the tier of a field is fixed here, where a policy can raise
/// it and nothing can lower it; and it cannot give a built-in name another meaning.
///
/// The default schema declares everything that is built in; `schemas/default.schema` is its text form.
///
/// ```
/// use sirl::{Field, Kind, Schema};
///
/// let schema = Schema::parse("kind address { city postal_code }\nkind purchase\nalias plz for postal_code")?;
/// assert!(schema.takes(Kind::Address).unwrap().contains(Field::PostalCode));
/// assert_eq!(schema.takes(Kind::Otp), None);
/// assert_eq!(schema.field("plz"), Some(Field::PostalCode));
/// assert_eq!(schema.field("zip"), None, "this schema does not declare it");
/// assert_eq!(Schema::parse(&schema.to_string())?, schema);
/// # Ok::<(), sirl::SchemaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The fields of each kind, in the order of [`Kind::ALL`].
    takes: [Option<FieldSet>; Kind::ALL.len()],
    /// The aliases, in the order of their fields, then of their names.
    aliases: Cow<'static, [Alias]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Alias {
    name: Cow<'static, str>,
    field: Field,
}

/// The default schema.
pub(crate) static BUILT_IN: Schema = Schema {
    takes: [
        Some(Kind::Address.allowed_fields()),
        Some(Kind::Payment.allowed_fields()),
        Some(Kind::Purchase.allowed_fields()),
        Some(Kind::Contact.allowed_fields()),
        Some(Kind::Identity.allowed_fields()),
        Some(Kind::Login.allowed_fields()),
        Some(Kind::Otp.allowed_fields()),
    ],
    aliases: Cow::Borrowed(&[
        Alias { name: Cow::Borrowed("zip"), field: Field::PostalCode },
        Alias { name: Cow::Borrowed("number"), field: Field::CardNumber },
        Alias { name: Cow::Borrowed("exp"), field: Field::CardExpiry },
        Alias { name: Cow::Borrowed("cvv"), field: Field::CardCode },
    ]),
};

impl Schema {
    /// The fields that a request of this kind may ask for; `None` if the kind is not declared. The set is empty for
    /// a purchase, which releases no field.
    #[must_use]
    pub fn takes(&self, kind: Kind) -> Option<FieldSet> {
        self.takes.get(kind as usize).copied().flatten()
    }

    /// The kinds that are declared, in the order of [`Kind::ALL`].
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| self.takes(*kind).is_some())
    }

    /// The field with this name or declared alias. It need not be one that a kind may ask for: see
    /// [`Schema::takes`].
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        let own = Field::ALL.into_iter().find(|field| field.as_str() == name);
        own.or_else(|| self.aliases().find(|(alias, _)| *alias == name).map(|(_, field)| field))
    }

    /// The declared aliases and their fields, in the order of their fields, then of their names.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, Field)> {
        self.aliases.iter().map(|alias| (alias.name.as_ref(), alias.field))
    }
}

impl Default for Schema {
    fn default() -> Schema {
        BUILT_IN.clone()
    }
}

/// The text form: one line for each kind and alias, the last without a line ending.
impl Display for Schema {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut ending = "";
        for kind in self.kinds() {
            write!(f, "{ending}kind {}", kind.as_str())?;
            ending = "\n";
            let fields = self.takes(kind).unwrap_or_default();
            if !fields.is_empty() {
                f.write_str(" {")?;
                fields.iter().try_for_each(|field| write!(f, " {}", field.as_str()))?;
                f.write_str(" }")?;
            }
        }
        self.aliases().try_for_each(|(name, field)| write!(f, "{ending}alias {name} for {}", field.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_what_is_built_in() {
        for kind in Kind::ALL {
            assert_eq!(BUILT_IN.takes(kind), Some(kind.allowed_fields()), "{}", kind.as_str());
        }
        for name in Field::ALL.map(Field::as_str).into_iter().chain(["zip", "number", "exp", "cvv", "card"]) {
            assert_eq!(BUILT_IN.field(name), Field::from_name(name), "{name}");
        }
    }
}
